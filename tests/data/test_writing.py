"""What is written reads back the same."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.data import SCHEMA, Dataset, read, write
from babelquake.errors import UserError

ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r"), max_size=30)
SCORES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


def tables(texts: st.SearchStrategy[str]) -> st.SearchStrategy[pl.DataFrame]:
    """Data sets with two references and unique ids."""
    row = st.tuples(texts, texts, texts.filter(bool), texts, SCORES)

    def build(rows: list[tuple[str, str, str, str, float | None]]) -> pl.DataFrame:
        records = [
            (f"s:{number}", source, [first, second], translation, "X", score, "de-en")
            for number, (source, first, second, translation, score) in enumerate(rows)
        ]
        return pl.DataFrame(records, schema=SCHEMA, orient="row")

    return st.lists(row, min_size=1, max_size=5).map(build)


def again(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(Dataset("d", frame), path)
        return read(path).segments


@given(tables(ONE_LINE))
def test_tsv(frame: pl.DataFrame) -> None:
    assert again(frame, "d.tsv").equals(frame)


@given(tables(ANY))
def test_csv(frame: pl.DataFrame) -> None:
    assert again(frame, "d.csv").equals(frame)


@given(tables(ANY))
def test_json_lines(frame: pl.DataFrame) -> None:
    assert again(frame, "d.jsonl.gz").equals(frame)


@given(tables(ANY))
def test_parquet(frame: pl.DataFrame) -> None:
    assert again(frame, "d.parquet").equals(frame)


@given(st.lists(ONE_LINE, min_size=1))
def test_plain_text(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.txt"
        path.write_bytes("".join(f"{text}\n" for text in texts).encode())
        expected = [texts[0].removeprefix("\ufeff"), *texts[1:]]
        assert read(path).segments["source"].to_list() == expected


@pytest.mark.parametrize(("text", "what"), [("a\tb", "a tab"), ("a\nb", "a line end"), ("a\r", "a carriage return")])
def test_tsv_refuses_what_it_cannot_hold(tmp_path: Path, text: str, what: str) -> None:
    frame = pl.DataFrame({"source": ["fine", text]})
    with pytest.raises(UserError, match=rf"d\.tsv cannot contain {what} \(row 2, column source\)\. Write \.csv"):
        write(frame, tmp_path / "d.tsv")
    assert not (tmp_path / "d.tsv").exists()


def test_an_ending_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"End its name in \.tsv"):
        write(pl.DataFrame({"source": ["a"]}), tmp_path / "d.xlsx")
