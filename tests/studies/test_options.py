"""What a study can be told is written once: the terminal, Python, run.json and the same command again agree on it."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import babelquake as bq
from babelquake.cli.app import app
from babelquake.errors import UserError, read_at_terminal, setting
from babelquake.runs.info import command_line
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES, function_of
from babelquake.studies.mt import MtOptions
from babelquake.studies.options import StudyOptions, entries

PAIRS = [("Das Haus ist alt.", "The house is old."), ("Der Zug kommt.", "The train comes.")]
AT_TERMINAL = [name for name, card in STUDIES.items() if issubclass(card.options, StudyOptions)]


@pytest.mark.parametrize("study", AT_TERMINAL)
def test_the_terminal_and_python_take_the_same_options(study: str) -> None:
    command: Any = typer.main.get_command(app).commands[study]  # type: ignore[attr-defined]
    command = getattr(command, "commands", {}).get("score", command)  # `challenge` is a group: its study is `score`
    flags = {parameter.name: parameter.opts for parameter in command.params}
    python = inspect.signature(function_of(study)).parameters
    assert next(iter(python)) == "data" and {"out", "language_pair", "quiet", "progress", "engine"} <= set(python)
    for entry in entries(STUDIES.get(study).options):
        assert entry.name in python and entry.option.help
        if entry.kind is not None:
            assert set(flags[entry.name]) <= {flag for some in entry.flags for flag in some.split("/")}


def test_help_in_python_names_every_option_and_its_default() -> None:
    told = inspect.getdoc(bq.mt) or ""
    assert "threshold: Sentence chrF" in told
    assert inspect.signature(bq.mt).parameters["threshold"].default == 75.0


def test_a_number_outside_its_limits_and_a_word_that_is_none_of_the_choices_are_refused() -> None:
    for wrong, said in (
        ({"threshold": 300}, "threshold=300"),
        ({"threshold": "much"}, "threshold"),
        ({"reset": "maybe"}, "auto, paper, always or never"),
        ({"limit": 0}, "limit=0"),
        ({"seed": 1.5}, "whole number"),
    ):
        with pytest.raises(UserError, match=said):
            MtOptions(data=PAIRS, **wrong)  # type: ignore[arg-type]


def test_a_misspelt_argument_gets_a_hint_and_positions_are_refused() -> None:
    with pytest.raises(TypeError, match="'systems'"):
        bq.mt(data=PAIRS, sytems="command[cmd=cat]")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="data="):
        bq.mt(PAIRS)  # type: ignore[call-arg, misc]
    with pytest.raises(TypeError, match="data="):
        bq.mt(systems="command[cmd=cat]")  # type: ignore[call-arg]


def test_a_run_from_python_prints_the_command_that_makes_it_again(tmp_path: Path) -> None:
    data = tmp_path / "news.de-en.tsv"
    data.write_text("source\treference\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS))
    run = bq.mt(
        data=str(data), systems="command[cmd=cat]", suite="case", scorers="chrf", resamples=100, out=tmp_path / "r"
    )
    expected = "babelquake mt --data {} --scorer chrf --suite case --system 'command[cmd=cat]' --resamples 100 --out r"
    assert sorted(command_line(Run.open(run.folder)).split()) == sorted(expected.format(data).split())
    assert run.info.config["seed"] == 0 and "budget" not in run.info.config


def test_what_cannot_change_a_number_may_change_and_what_can_may_not(tmp_path: Path) -> None:
    given: dict[str, Any] = {"data": PAIRS, "systems": "command[cmd=cat]", "suite": "case", "scorers": "chrf"}
    given |= {"resamples": 100, "out": tmp_path / "r", "language_pair": "de-en"}
    first = bq.mt(**given)
    assert bq.mt(**given, budget=10_000, quiet=True, memory=2.0).measures.equals(first.measures, null_equal=True)
    with pytest.raises(UserError, match="seed=1") as refused:
        bq.mt(**given, seed=1)
    assert "--" not in str(refused.value) and "restart=True" in str(refused.value)


def test_without_a_folder_the_run_is_a_passing_one() -> None:
    run = bq.mt(data=PAIRS, systems="command[cmd=cat]", suite="case", scorers="chrf", resamples=100)
    assert run.measures.height and run.info.finished


@pytest.mark.parametrize(
    ("said", "terminal", "python"),
    [
        (("max_queries", 5), "--max-queries 5", "max_queries=5"),
        (("side", "reference"), "--side reference", "side='reference'"),
        (("systems",), "--system", "systems"),
        (("restart", True), "--restart", "restart=True"),
        (("targets", "both"), "--as both", "targets='both'"),
        (
            ("columns", {"source": "a", "score": "b"}),
            "--columns source=a,score=b",
            "columns={'source': 'a', 'score': 'b'}",
        ),
    ],
)
def test_a_message_names_an_option_as_its_reader_writes_it(said: Any, terminal: str, python: str) -> None:
    assert setting(*said) == python
    with read_at_terminal():
        assert setting(*said) == terminal


def test_what_is_up_to_the_reader_is_a_gap() -> None:
    assert setting("data", metavar="FILE") == "data=…"
    with read_at_terminal():
        assert setting("data", metavar="FILE") == "--data FILE"


def test_every_option_of_every_study_has_its_flag_in_messages() -> None:
    for name in STUDIES.names():
        for entry in entries(STUDIES.get(name).options):
            with read_at_terminal():
                assert setting(entry.name) == entry.flags[0].partition("/")[0]


@pytest.mark.slow
def test_no_error_below_the_command_line_writes_a_flag_out() -> None:
    root = Path(bq.__file__).parent
    for file in sorted(root.rglob("*.py")):
        if file.relative_to(root).parts[0] == "cli":
            continue
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("Error"):
                words = [part.value for part in ast.walk(call) if isinstance(part, ast.Constant)]
                flags = [word for word in words if isinstance(word, str) and re.search(r"(^|[\s(])--[a-z]", word)]
                commands = [word for word in flags if "train qe --architecture" in word]
                assert flags == commands, f"{file} line {call.lineno}: name the option with errors.setting"
