"""The command a report prints makes the run again."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from babelquake.runs.info import command_line
from babelquake.runs.run import Run

BOTH = "-d in/a.tsv -d in/b.tsv --columns source=german,reference=english --resamples 100"
COMMANDS = (
    f"mt -s 'command[cmd=\"sed s/e/i/\"]' {BOTH} -p misspell,case -m chrf --seed 3",
    f"metric -m chrf -m bleu {BOTH} --side source -l de-en -p 'misspell[level=0.1|0.2]' --replicates 2",
    "qe -m chrf -d in/rated.de-en.tsv -p punct-remove,negation-remove --threshold 60 --resamples 100",
)


@pytest.fixture
def files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    header = "german\tenglish\tlp\n"
    (folder / "a.tsv").write_text(header + "Das Haus ist alt.\tThe house is old.\tde-en\n" * 2)
    (folder / "b.tsv").write_text(header + "Het huis is oud.\tThe house is old.\tnl-en\nDe kat.\tThe cat.\tde-en\n")
    rated = "Das ist nicht alt.\tThis is not old.\tThis is not old.\t{}\n"
    (folder / "rated.de-en.tsv").write_text(
        "source\treference\ttranslation\tscore\n" + "".join(rated.format(score) for score in (50, 70, 80))
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_printed_command_makes_the_same_run(
    cli: Callable[..., Result], files: None, tmp_path: Path, command: str
) -> None:
    cli(*shlex.split(command), "--out", "RUN")
    made = (tmp_path / "RUN" / "measures.csv").read_bytes()
    line = command_line(Run.open(tmp_path / "RUN"))
    assert str(tmp_path) not in line
    (tmp_path / "RUN").rename(tmp_path / "BEFORE")
    cli(*shlex.split(line)[1:])
    assert (tmp_path / "RUN" / "measures.csv").read_bytes() == made
    assert command_line(Run.open(tmp_path / "RUN")) == line
    assert str(tmp_path) not in (tmp_path / "RUN" / "report.html").read_text("utf-8")
