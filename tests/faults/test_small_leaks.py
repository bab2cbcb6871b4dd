"""Small ways in which what others say could reach a terminal, a table or a cache."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from babelquake.cli.app import app
from babelquake.http import duration, masked, retry_after
from babelquake.runs.run import Run

KEY = "sk-Abc123+/="


@pytest.mark.parametrize(
    "body",
    [
        {"translatedText": [f"you sent Bearer {KEY}"]},
        [{"translations": [{"text": KEY, "to": "en"}]}],
        {"data": {KEY: 1}},
        {"choices": [{"message": {"content": f"sk-Abc123%2B%2F%3D and {KEY}"}}]},
    ],
)
def test_a_server_that_echoes_the_key_does_not_get_it_into_a_cache(body: object) -> None:
    assert KEY not in str(masked(body, KEY)) and "sk-Abc123" not in str(masked(body, KEY))


@pytest.mark.parametrize("key", ["test", "EMPTY", "x", "password", None])
def test_a_word_that_serves_as_a_key_is_left_in_translations(key: str | None) -> None:
    assert masked({"translatedText": f"a {key} of words"}, key) == {"translatedText": f"a {key} of words"}


@pytest.mark.parametrize("header", ["1e308", "99999999999999999999", "86400000"])
def test_a_wait_without_end_is_said_in_a_few_letters(header: str) -> None:
    seconds = retry_after(header)
    assert seconds is not None and len(duration(seconds)) < 20


@pytest.fixture
def run(tmp_path: Path) -> Path:
    lines = "".join(f"Satz {n}.\tText {n}.\tText {n}!\tsys\x1b[31mtem\n" for n in range(12))
    (tmp_path / "d.de-en.tsv").write_text(f"source\treference\ttranslation\tsystem\n{lines}")
    words = ["metric", "-m", "chrf", "-d", str(tmp_path / "d.de-en.tsv"), "-p", "case", "-q", "--resamples", "100"]
    done = CliRunner().invoke(app, [*words, "--cache", "none", "-o", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    return tmp_path / "run"


def test_no_control_character_of_a_name_reaches_the_csv(run: Path) -> None:
    frame = Run.open(run).table("measures")
    named = frame.with_columns(system=pl.lit("sys\x1b[31mtem"))
    opened = Run.open(run)
    opened._write_csv(named)
    assert b"\x1b" not in (run / "measures.csv").read_bytes() and "␛" in (run / "measures.csv").read_text()


def test_an_edited_csv_is_noticed_and_written_again(run: Path, caplog: pytest.LogCaptureFixture) -> None:
    sound = (run / "measures.csv").read_bytes()
    (run / "measures.csv").write_bytes(sound.replace(b"chrf", b"best"))
    edited = Run.open(run)
    assert edited.table("measures").equals(edited.table("measures"), null_equal=True)
    assert caplog.text.count("measures.csv is not what the run wrote") == 1
    opened = Run.open(run)
    opened.mend()
    assert (run / "measures.csv").read_bytes() == sound
    assert any("measures.csv" in note for note in opened.info.notes)


def test_a_system_that_says_nothing_is_not_a_result(tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\n" + "".join(f"Satz {n}.\tText {n}.\n" for n in range(9)))
    words = ["mt", "-s", "command[cmd=sed s/.*//]", "-d", str(tmp_path / "d.de-en.tsv"), "-p", "case", "-m", "chrf"]
    done = CliRunner().invoke(app, [*words, "-q", "--resamples", "100", "--cache", "none", "-o", str(tmp_path / "run")])
    assert done.exit_code == 2 and "every translation is empty" in done.stderr, done.output
