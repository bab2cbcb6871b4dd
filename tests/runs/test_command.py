"""The printed command is the one that was given."""

from pathlib import Path

from babelquake.runs.command import command_line, command_lines
from babelquake.runs.info import Said
from babelquake.runs.run import Run

CONFIG = {
    "system": ["command[cmd=cat]"],
    "data": "a+b#0123",
    "language_pair": ["de-en", "nl-en"],
    "suite": ["misspell[level=0.1]", "case"],
    "replicates": [10, 1],
    "scorer": ["chrf"],
    "seed": 5,
}


def test_what_the_user_said_is_printed(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "mt", CONFIG)
    run.info.facts.command = Said(
        data=["in/a.tsv", "in/b b.tsv"], columns={"source": "src", "reference": "ref"}, suite=["niu2020"]
    )
    assert command_lines(run) == [
        "babelquake mt",
        "--data in/a.tsv --data 'in/b b.tsv'",
        "--system 'command[cmd=cat]' --suite niu2020 --scorer chrf --seed 5 --columns source=src,reference=ref --out r",
    ]


def test_a_challenge_set_needs_no_suite(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "metric", {"scorer": ["chrf"], "data": "demetr#1", "suite": []})
    run.info.facts.command = Said(data=["demetr"], suite=["jwalapuram2023"])
    assert command_line(run) == "babelquake metric --scorer chrf --data demetr --out r"


def test_a_run_from_python_prints_its_configuration(tmp_path: Path) -> None:
    mixed = command_line(Run.resume(tmp_path / "r", "mt", CONFIG))
    assert "--replicates" not in mixed and "--language-pair" not in mixed and "--data a+b " in mixed
    same = command_line(Run.resume(tmp_path / "s", "mt", CONFIG | {"replicates": [3, 3], "language_pair": ["de-en"]}))
    assert "--replicates 3" in same and "--language-pair de-en" in same
