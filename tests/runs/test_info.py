"""The printed command is the one that was given."""

from pathlib import Path

from babelquake.runs.info import command_line, command_lines
from babelquake.runs.run import Run


def test_what_was_asked_for_is_printed_and_repeated_options_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "mt", {"seed": 5})
    run.note_options(
        {
            "data": ["in/a.tsv", "in/b b.tsv"],
            "system": ["command[cmd=cat]"],
            "columns": "source=src,reference=ref",
            "deduplicate": True,
            "threshold": 60.5,
        }
    )
    assert command_lines(run) == [
        "babelquake mt",
        "--data in/a.tsv --data 'in/b b.tsv'",
        "--system 'command[cmd=cat]' --columns source=src,reference=ref --deduplicate --threshold 60.5 --out r",
    ]


def test_what_was_asked_for_later_is_added(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "attack", {})
    run.note_options({"recipe": ["clare"], "ratings": "a.tsv"})
    run.note_options({"recipe": ["clare"]})
    assert command_line(Run.open(tmp_path / "r")) == "babelquake attack --recipe clare --ratings a.tsv --out r"
