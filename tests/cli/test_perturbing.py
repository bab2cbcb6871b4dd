"""The filter: line n of the output belongs to line n of the input."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

LINES = ["Guten Tag 👩🏽‍💻.", "", "  ", "Es ist 5 Uhr.", "東京タワー。", "Der e\u0301te\u0301 ist schön 🇩🇪"]
TEXT = "".join(line + "\n" for line in LINES)


def test_the_line_as_written(cli: Callable[..., Result]) -> None:
    words = ("perturb", "misspell", "--level", "0.1", "--lang", "de", "--seed", "7")
    one, other = cli(*words, input=TEXT).stdout, cli(*words, input=TEXT).stdout
    assert one == other and one.count("\n") == len(LINES)


@pytest.mark.parametrize(
    "name", ["misspell", "case", "punct-remove", "word-drop", "visual", "final-delete", "word-replace"]
)
def test_every_line_has_its_line(cli: Callable[..., Result], name: str) -> None:
    found = cli("perturb", name, "--lang", "de", input=TEXT)
    assert len(found.stdout.split("\n")) == len(LINES) + 1
    assert found.stdout.split("\n")[1] == ""


def test_a_line_is_changed_alike_wherever_it_stands(cli: Callable[..., Result]) -> None:
    words = ("perturb", "misspell", "--level", "1", "--lang", "de")
    forwards = cli(*words, input=TEXT).stdout.splitlines()
    backwards = cli(*words, input="".join(line + "\n" for line in reversed(LINES))).stdout.splitlines()
    assert forwards == backwards[::-1] and forwards != LINES


def test_where_it_does_not_apply_lines_stay_or_go_blank_and_are_counted(cli: Callable[..., Result]) -> None:
    kept = cli("perturb", "final-delete", input="Ja.\nNein\n")
    assert kept.stdout == "Ja\nNein\n"
    assert "final-delete does not apply to 1 of 2 lines; they were left unchanged." in kept.stderr
    assert cli("perturb", "final-delete", "--blank", input="Ja.\nNein\n").stdout == "Ja\n\n"


def test_windows_line_ends_and_marks_are_dropped_and_told(cli: Callable[..., Result]) -> None:
    found = cli("perturb", "final-delete", input=b"\xef\xbb\xbfJa.\r\nNein.\r\n")
    assert found.stdout == "Ja\nNein\n"
    assert "CR LF" in found.stderr and "byte-order mark" in found.stderr


def test_a_last_line_without_an_end_and_no_lines_at_all(cli: Callable[..., Result]) -> None:
    assert cli("perturb", "final-delete", input="Ja.\nNein.").stdout == "Ja\nNein\n"
    assert cli("perturb", "final-delete", input="").stdout == ""


def test_languages_may_be_written_in_several_ways(cli: Callable[..., Result]) -> None:
    words = ("perturb", "negation-remove", "--lang")
    assert {cli(*words, lang, input="Er kommt nicht.\n").stdout for lang in ("de", "DE", "de_DE", "deu", "de-AT")} == {
        "Er kommt.\n"
    }


@pytest.mark.parametrize(
    ("words", "input", "message"),
    [
        (["mispell"], "", "no perturbation is called 'mispell'. Did you mean 'misspell'?"),
        (["misspell", "nowhere.txt"], "", "nowhere.txt does not exist"),
        (["misspell", "."], "", ". is a folder where a file is expected."),
        (["misspell", "--level", "2"], "", "misspell[level=2.0]: 2 is outside 0 to 1."),
        (["punct-remove", "--level", "0.5"], "", "perturbation 'punct-remove' has no level."),
        (["misspell[levle=1]"], "", "Did you mean 'level'?"),
        (["misspell[level=0.1|0.2]"], "", "several values with '|'"),
        (["niu2020"], "", "niu2020 is a suite. Use --table FILE"),
        (["mine.yaml"], "", "mine.yaml is a suite. Use --table FILE"),
        (["misspell", "--replicates", "99999999999", "--table", "x.tsv"], "a\n", "from 1 to 10,000"),
        (["misspell", "--replicates", "2"], "", "--table FILE"),
        (["misspell"], b"a\0b\n", "standard input line 1: a NUL byte"),
        (["source-copy", "--source", "one.txt"], "a\nb\n", "one.txt ends before line 2"),
        (["misspell", "--table", "x.xlsx"], "a\n", "x.xlsx: cannot tell the format"),
        (["misspell", "--table", "x.tsv", "one.txt", "--level", "3"], "", "outside 0 to 1"),
        (["niu2020", "--table", "x.tsv", "--level", "0.3"], "a\n", "--level works with a single perturbation"),
        (["niu2020", "--table", "x.tsv", "empty.txt"], "", "empty.txt is empty"),
    ],
)
def test_wrong_input_is_named(
    cli: Callable[..., Result], tmp_path: Path, words: list[str], input: str | bytes, message: str
) -> None:
    (tmp_path / "one.txt").write_text("eins\n")
    (tmp_path / "empty.txt").write_text("")
    found = cli("perturb", *words, input=input, status=2)
    assert message in found.stderr
    assert found.stderr.startswith("babelquake: ") and "Traceback" not in found.stderr


def test_a_table_of_a_suite(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("It is not the best day.\n\nDogs bark!\n")
    cli("perturb", "kanojia2021", "--lang", "en", "--seed", "7", "--table", "out.parquet", "in.txt")
    table = pl.read_parquet(tmp_path / "out.parquet")
    counts = dict(table.group_by("perturbation").len().iter_rows())
    assert counts["punct-remove"] == 3 and counts["word-drop"] == 3 * 20
    assert table["line"].is_sorted() and set(table["line"]) == {1, 2, 3}
    assert table.filter(line=1, perturbation="negation-remove")["text"].item() == "It is the best day."
    assert set(table.filter(line=3)["original"]) == {"Dogs bark!"}


def test_a_tab_that_a_perturbation_makes_is_too_much_for_tsv(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Es ist ein schöner Tag heute.\n" * 20)
    said = cli("perturb", "whitespace[level=1]", "--table", "out.tsv", "in.txt", "--replicates", "9", status=2).stderr
    assert said.startswith("babelquake: out.tsv cannot contain a tab") and "Write .csv, .jsonl or .parquet" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_where_no_table_can_be_written_it_is_named(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Es ist Tag.\n")
    for name in ("in.txt/out.csv", "in.txt/out.parquet"):
        said = cli("perturb", "case", "--table", name, "in.txt", status=2).stderr
        assert said == f"babelquake: {name} cannot be written: Not a directory.\n"


def test_the_table_says_what_the_filter_says(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    words = ("--level", "0.5", "--lang", "de", "--seed", "3", "in.txt")
    cli("perturb", "misspell", *words, "--table", "out.jsonl")
    assert (
        pl.read_ndjson(tmp_path / "out.jsonl")["text"].to_list()
        == cli("perturb", "misspell", *words).stdout.split("\n")[:-1]
    )


TABLES = {
    "t.tsv": "id\tsrc\tn\n007\tGuten Tag.\t1.50\n2\t\t3\n3\tJa 😀.\t\n",
    "t.csv": 'id,src,n\n007,Guten Tag.,1.50\n2,,3\n"3, b",Ja 😀.,\n',
    "t[1].jsonl": '{"src": "Guten Tag.", "n": [1, {"a": null}]}\n{"n": 2}\n{"src": "Ja 😀.", "x": 0.10}\n',
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("column", ["src", "source"])
def test_one_column_of_a_table_changes_and_nothing_else(
    cli: Callable[..., Result], tmp_path: Path, name: str, column: str
) -> None:
    (tmp_path / name).write_text(TABLES[name], "utf-8")
    found = cli("perturb", "final-delete", "--column", column, name)
    assert found.stdout == TABLES[name].replace("Tag.", "Tag").replace("😀.", "😀").replace("0.10", "0.1")


def test_a_column_of_parquet_and_of_a_table_without_header(cli: Callable[..., Result], tmp_path: Path) -> None:
    table = pl.DataFrame({"source": ["Ja.", None], "n": [1, 2], "more": [["a"], []]})
    table.write_parquet(tmp_path / "t.parquet")
    found = cli("perturb", "final-delete", "--column", "source", "t.parquet")
    (tmp_path / "out.parquet").write_bytes(found.stdout_bytes)
    changed = pl.read_parquet(tmp_path / "out.parquet")
    assert changed["source"].to_list() == ["Ja", None] and changed.drop("source").equals(table.drop("source"))
    (tmp_path / "n.tsv").write_text("Ja.\tYes.\nNein.\tNo.\n")
    assert cli("perturb", "final-delete", "--column", "2", "n.tsv").stdout == "Ja.\tYes\nNein.\tNo\n"


def test_the_source_beside_a_column_is_known(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("source\ttranslation\nJa.\tYes.\n")
    assert cli("perturb", "source-copy", "--column", "translation", "t.tsv").stdout.endswith("Ja.\tJa.\n")
    cli("perturb", "kanojia2021", "--column", "translation", "--lang", "en", "--table", "out.parquet", "t.tsv")
    assert set(pl.read_parquet(tmp_path / "out.parquet")["original"]) == {"Yes."}


def test_a_column_that_is_not_there(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("source\ttranslation\nJa.\tYes.\n")
    assert (
        "no column 'sourc'. Did you mean 'source'?"
        in cli("perturb", "misspell", "--column", "sourc", "t.tsv", status=2).stderr
    )
    assert "needs a table" in cli("perturb", "misspell", "--column", "a", input="x\n", status=2).stderr


def test_windows_1252_is_read_as_such_and_told(cli: Callable[..., Result]) -> None:
    found = cli("perturb", "final-delete", input=b"gut.\nsch\xf6n.\n")
    assert found.stdout == "gut\nschön\n"
    assert "standard input is not UTF-8 (line 2); it was read as Windows-1252" in found.stderr


def test_a_table_of_a_probe_that_lacks_its_model_is_refused(cli: Callable[..., Result], tmp_path: Path) -> None:
    told = cli("perturb", "mask-replace", "--table", "made.tsv", input="One two three.\n", status=2).stderr
    assert "mask-replace[model=" in told and not (tmp_path / "made.tsv").exists()


def test_natural_typos_want_the_language_and_name_those_there_are(cli: Callable[..., Result]) -> None:
    said = cli("perturb", "natural-typo", input="Das ist ganz geboren.\n", status=2).stderr
    assert "natural-typo" in said and "cs, de, en, es, fr" in said
    assert cli("perturb", "natural-typo", "--lang", "de", "--level", "1", input="vielleicht\n").stdout != "vielleicht\n"
