"""TSV and CSV files, right and wrong."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelquake.data import read, tsv_csv_xlsx
from babelquake.errors import UserError


def file(folder: Path, content: str | bytes, name: str = "news.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_stray_quote_is_text_in_tsv(tmp_path: Path) -> None:
    data = read(file(tmp_path, 'source\treference\n"Ja\tYes"\n" a\tb "\n'))
    assert data.segments["source"].to_list() == ['"Ja', '" a']
    assert data.segments["references"].to_list() == [['Yes"'], ['b "']]


def test_quotes_commas_and_line_ends_inside_csv_cells(tmp_path: Path) -> None:
    data = read(file(tmp_path, 'source,mt,score\n"Ja, ""so""","a\nb",50\nNein,No,\n', "news.csv"))
    assert data.segments["source"].to_list() == ['Ja, "so"', "Nein"]
    assert data.segments["translation"].to_list() == ["a\nb", "No"]
    assert data.segments["score"].to_list() == [50.0, None]
    assert data.segments["id"].to_list() == ["news:2", "news:4"]


def test_columns_by_their_usual_names(tmp_path: Path) -> None:
    data = read(file(tmp_path, "SRC\tref0\tRef1\thyp\tsys\tDA\tlp\ttopic\na\tb\tc\td\tX\t1.5\tdeu-eng\tlaw\n"))
    assert data.segments.row(0) == ("news:2", "a", ["b", "c"], "d", "X", 1.5, "de-en", "law")


def test_target_is_a_reference_alone_and_a_translation_beside_systems(tmp_path: Path) -> None:
    assert read(file(tmp_path, "source\ttarget\na\tb\n")).segments["references"].to_list() == [["b"]]
    assert read(file(tmp_path, "source\ttarget\tsystem\na\tb\tX\n")).segments["translation"].to_list() == ["b"]


def test_columns_as_the_user_says(tmp_path: Path) -> None:
    path = file(tmp_path, "german\tenglish\tother\na\tb\tc\n")
    data = read(path, columns={"source": "german", "reference": "english+other"})
    assert data.segments["references"].to_list() == [["b", "c"]]
    with pytest.raises(UserError, match=r"no column 'germann' .*german, english, other\. Did you mean 'german'"):
        read(path, columns={"source": "germann"})
    with pytest.raises(UserError, match=r"no field is called 'sauce'.*Did you mean 'source'"):
        read(path, columns={"sauce": "german"})


def test_numbers_name_columns_of_a_file_without_header(tmp_path: Path) -> None:
    data = read(file(tmp_path, "1\tHallo\tHello\n2\tJa\tYes\n"), columns={"source": "2", "reference": "3"})
    assert data.segments["source"].to_list() == ["Hallo", "Ja"]


def test_two_columns_without_known_names_are_source_and_reference(tmp_path: Path) -> None:
    data = read(file(tmp_path, "Hallo\tHello\nJa\tYes\n"))
    assert data.segments["references"].to_list() == [["Hello"], ["Yes"]]
    assert "read without a header as source and reference" in data.notes[0]
    with pytest.raises(UserError, match=r"line 1 has no known column name \(it has: a, b, c\)"):
        read(file(tmp_path, "a\tb\tc\n"))
    with pytest.raises(UserError, match="c10, c11, and 888 more"):
        read(file(tmp_path, "\t".join(f"c{place}" for place in range(900)) + "\n"))


def test_a_near_miss_in_the_header_is_noted(tmp_path: Path) -> None:
    assert "columns source=sorce" in read(file(tmp_path, "sorce\treference\na\tb\n")).notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "news.tsv is empty"),
        ("\n", "news.tsv is empty"),
        ("source\treference\n", r"column names \(source, reference\) but no rows"),
        (
            "source\treference\tsystem\na\tb\tX\na\tb\n",
            r"line 3: 2 columns where the header has 3 \(source, reference, system\)",
        ),
        ("a\tb\n\nc\td\n", "line 2: 1 column where the first line has 2"),
        ("source\tscore\na\t7\nb\tgood\n", "line 3: score is 'good'. Expected a number"),
        ("source\tscore\na\tinf\n", "line 2: score is 'inf'"),
        ("source\tsource\na\tb\n", "'source' occurs twice"),
        (b"source\treference\n\xc3\xa4\tb\nc\xe4\td\n", "line 3: byte 2 .0xe4. is not UTF-8"),
        (b"source\treference\na\tb\0\n", "line 2: a NUL byte"),
    ],
)
def test_wrong_files_are_told_where(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(file(tmp_path, content))


def test_an_unbalanced_quote_in_csv_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"news\.csv line 2: .*Expected CSV"):
        read(file(tmp_path, 'source,reference\n"a,b\n', "news.csv"))


def test_blank_segments_are_kept_and_counted(tmp_path: Path) -> None:
    data = read(file(tmp_path, "source\treference\na\tb\n\tb\n  \tb\nd\t\n"))
    assert len(data) == 4
    assert [note.split(": ")[1] for note in data.notes] == ["2 of 4 sources are blank", "1 of 4 references is blank"]


def test_empty_last_lines_are_left_out_and_said(tmp_path: Path) -> None:
    data = read(file(tmp_path, "source\treference\r\na\tb\r\n\r\n"))
    assert data.segments["references"].to_list() == [["b"]]
    assert any("1 empty line at the end was left out" in note for note in data.notes)


def test_systems_share_the_id_of_a_source_and_repeated_sources_stay_apart(tmp_path: Path) -> None:
    rows = ["a\t1\tX", "a\t2\tX", "b\t3\tX", "a\t4\tY", "a\t5\tY", "b\t6\tY"]
    data = read(file(tmp_path, "source\tmt\tsystem\n" + "\n".join(rows)))
    assert data.segments["id"].to_list() == ["news:2", "news:3", "news:4", "news:2", "news:3", "news:4"]


def test_ids_that_do_not_name_segments_are_not_used(tmp_path: Path) -> None:
    data = read(file(tmp_path, "segment\tsource\n7\ta\n7\tb\n"))
    assert data.segments["id"].to_list() == ["news:2", "news:3"]
    assert "does not name segments uniquely" in data.notes[0]


def test_the_language_pair_column_is_read_and_selected_from(tmp_path: Path) -> None:
    path = file(tmp_path, "lp\tsource\nde-en\ta\nfr-en\tb\n")
    assert read(path).language_pairs == ["de-en", "fr-en"]
    assert read(path, language_pair="fra-eng").segments["source"].to_list() == ["b"]
    with pytest.raises(UserError, match=r"no rows of ja-en\. It has: de-en, fr-en"):
        read(path, language_pair="ja-en")


@pytest.mark.parametrize("rows", ["Ein Satz\t\t\nNoch einer\t \t\n", "Ein Satz\t\t \n"])
def test_references_that_are_all_blank_are_none(tmp_path: Path, rows: str) -> None:
    (tmp_path / "none.tsv").write_text(f"source\treference\treference2\n{rows}", "utf-8")
    data = read(tmp_path / "none.tsv")
    assert not data.has("references") and data.segments["references"].null_count() == data.segments.height
    assert data.notes == ("none: every reference is blank; the data count as having none",)


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
        patch.setattr(tsv_csv_xlsx, "ROWS_AT_ONCE", at_once)
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
