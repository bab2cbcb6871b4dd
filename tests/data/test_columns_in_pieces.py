"""A table is read into columns a piece at a time; where the pieces end changes nothing."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelquake.data import delimited, read
from babelquake.errors import UserError

CELL = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=25), at_once=st.integers(1, 7), quoted=st.booleans())
def test_pieces_change_nothing(rows: list[tuple[str, str]], at_once: int, quoted: bool, tmp_path: Path) -> None:
    mark = '"' if quoted else ""
    lines = [[f"{mark}{cell.replace(mark, mark * 2) if quoted else cell}{mark}" for cell in row] for row in rows]
    header = [f"{mark}{name}{mark}" for name in ("source", "reference")]
    path = tmp_path / "d.de-en.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *lines]), "utf-8", newline="")
    whole = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "ROWS_AT_ONCE", at_once)
        again = read(path)
    assert again.segments.equals(whole.segments, null_equal=True)
    assert (again.hash, again.notes) == (whole.hash, whole.notes)
    if quoted:
        assert whole.segments["source"].to_list() == [source for source, _ in rows]


def test_repeated_sources_keep_their_lines_and_systems_share_them(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    rows = ["same\ta", "same\tb", "other\ta", "same\ta", "same\tb"]
    path.write_text("source\tsystem\n" + "\n".join(rows) + "\n")
    assert read(path).segments["id"].to_list() == ["d:2", "d:2", "d:4", "d:5", "d:5"]


def test_an_empty_line_inside_is_an_error_and_at_the_end_a_note(tmp_path: Path) -> None:
    path = tmp_path / "d.de-en.tsv"
    path.write_text("source\treference\na\tb\n\n\n")
    assert "2 empty lines at the end were left out" in " ".join(read(path).notes)
    path.write_text("source\treference\na\tb\n\nc\td\n")
    with pytest.raises(UserError, match=r"line 3: 1 column where the header has 2"):
        read(path)
