"""Whatever the command line can do, Python can do: every option of every command has its place in a signature."""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
import typer

import babelquake as bq
from babelquake.cli.app import app
from babelquake.cli.shared import Shared
from babelquake.engine.memory import BOUND

TERMINAL = {"config", "brief", "as_json", "quiet", "open_report", "keep"}
"""What is about the terminal alone: a file of options, and how much is printed in which form."""
HOMES: dict[str, tuple[str, ...]] = {
    "demo": ("studies.demonstration:demonstrate",),
    "perturb": ("perturb.table:perturb_table", "perturb.table:write_perturb_table"),
    "mt": ("studies.mt.study:mt",),
    "metric": ("studies.metric.study:metric",),
    "qe": ("studies.qe.study:qe",),
    "attack": ("studies.attack.study:attack",),
    "correlate": ("studies.correlate.study:correlate",),
    "compare": ("studies.compare:compare",),
    "reproduce": ("papers.reproducing:reproduce", "studies.attack.study:attack"),
    "annotate analyse": ("annotate.analyse:analyse", "studies.human.study:keep"),
    "annotate prepare": ("annotate.prepare:prepare", "annotate.hits:Recipe"),
    "annotate serve": ("annotate.serving:serve",),
    "similarities": ("studies.similarities:similarities",),
    "train nmt": ("train.nmt:train", "train.config:Config"),
    "train qe": ("train.qe:train_qe", "train.predictor_estimator:train_predictor_estimator"),
    "train mlm": ("train.mlm:train", "train.recipes:MaskedRecipe"),
    "train clm": ("train.clm:train", "train.recipes:CausalRecipe"),
    "train metric": ("train.metric:train", "train.recipes:MetricRecipe"),
    "neighbours build": ("train.neighbours:build",),
}
"""The functions that a command calls, which take its options by their own names, or in the plural."""
ELSEWHERE: dict[str, str] = {
    "data": "data:read what",
    "source": "data:read what",
    "reference": "data:read reference",
    "columns": "data:read columns",
    "targets": "data:read targets",
    "language_pair": "data:read language_pair",
    "limit": "data:Dataset.first segments",
    "cache": "engine:Cache path",
    "executor": "engine:workers what",
    "on_error": "engine:Engine on_error",
    "budget": "engine:Engine budget",
    "memory": "engine:Engine memory_bytes",
    "device": "models.settings:configure device",
    "offline": "models.settings:configure offline",
    "examples": "report.examples:example_table most",
    "sort": "report.examples:example_table sort",
    "mt dry_run": "studies.mt.forecast:forecast systems",
    "mt export": "studies.mt.exchange:export_sources folder",
    "mt import_": "studies.mt.exchange:imported_systems folder",
    "metric export": "studies.metric.exchange:export_metric_texts folder",
    "metric import_": "studies.exchange:imported_scorers folder",
    "qe dry_run": "studies.qe.selection:size data",
    "qe export": "studies.qe.exchange:export_qe_texts folder",
    "qe import_": "studies.exchange:imported_scorers folder",
    "attack similarity": "studies.attack.study:attack similarity_encoder",
    "perturb name": "perturb:perturb name",
    "perturb file": "data:lines path",
    "perturb level": "perturb.base:Perturbation options",
    "perturb column": "data.one_column:read_column name",
    "perturb source": "perturb.table:perturb_table sources",
    "list kind": "registry:Registry.items self",
    "list folder": "runs.run:runs_below folder",
    "report runs": "runs.run:Run.open folder",
    "report html": "report.html:write_html path",
    "report markdown": "report.markdown:to_markdown runs",
    "report latex": "report.latex:to_latex runs",
    "report png": "report.plots:write_images folder",
    "report model_card": "report.model_card:to_model_card runs",
    "compare fail_on": "studies.compare:Change regression",
    "compare allow_untested": "studies.compare:Change testable",
    "compare markdown": "report.comparing:comparison_markdown changes",
    "reproduce paper": "papers.reproducing:reproduce name",
    "reproduce data": "papers.reproducing:reproduce data",
    "rerun run": "studies.rerun:differences old",
    "rerun out": "studies.rerun:differences new",
    "rerun fresh": "engine:Engine cache",
    "cache action": "engine:Cache.verify self",
    "cache file": "engine:Cache path",
    "annotate analyse sources": "annotate.analyse:analyse source",
    "annotate analyse export": "studies.human.export:export path",
    "annotate analyse score": "studies.human.export:export score",
    "annotate analyse for_attack": "studies.human.export:for_attack segments",
    "annotate prepare source": "annotate.prepare:prepare what",
    "annotate prepare training": "annotate.prepare:prepare practice",
    "annotate prepare invite": "annotate.people:add_annotator name",
    "annotate prepare url": "annotate.people:new_admin_token project",
    "annotate serve project": "annotate.serving:serve path",
    "annotate status project": "annotate.project:Project path",
    "annotate status add": "annotate.people:add_annotator name",
    "annotate status link": "annotate.people:new_token name",
    "annotate status revoke": "annotate.people:revoke name",
    "annotate status admin": "annotate.people:new_admin_token project",
    "annotate status url": "annotate.people:new_token project",
    "similarities out": "report.similarities:write_similarities path",
    "train qe architecture": "train.predictor_estimator:train_predictor_estimator data",
}
"""`option` or `command option` → `module:function parameter`: under another name in Python, or in a step of its own."""


def thing(path: str) -> Any:
    module, _, names = path.partition(":")
    found = import_module(f"babelquake.{module}")
    for name in names.split("."):
        found = getattr(found, name)
    return found


def takes(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def options() -> Iterator[tuple[str, Any]]:
    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for name in command.list_commands(None) if hasattr(command, "commands") else ():
            yield from walk(command.get_command(None, name), (*path, name))
        if not hasattr(command, "commands"):
            yield from ((" ".join(path), option) for option in command.params)

    yield from walk(typer.main.get_command(app), ())


EVERY = [pytest.param(command, option, id=f"{command} {option.name}") for command, option in options()]


@pytest.mark.parametrize(("command", "option"), EVERY)
def test_python_takes_what_the_command_line_takes(command: str, option: Any) -> None:
    if option.name in TERMINAL:
        return
    said = ELSEWHERE.get(f"{command} {option.name}")
    for home in HOMES.get(command, ()) if said is None else ():
        known = takes(thing(home))
        for name in (option.name, f"{option.name}s", f"{option.name}s".replace("ys", "ies")):
            if name in known:
                same_default(option, known[name])
                return
    said = said or ELSEWHERE.get(option.name)
    assert said is not None, f"babelquake {command} has {option.name}; say what does it in Python, or let Python do it"
    place, parameter = said.split()
    assert parameter in takes(thing(place)), f"{place} has no {parameter}"


def same_default(option: Any, python: Any) -> None:
    """Where both sides have a number, a word or a switch as default, it is the same."""
    ours = option.default
    if isinstance(ours, bool | int | float | str) and isinstance(python, bool | int | float | str):
        assert ours == python, f"{option.name}: {ours} on the command line, {python} in Python"


def test_what_is_said_to_be_elsewhere_belongs_to_an_option() -> None:
    names = {name for command, option in options() for name in (option.name, f"{command} {option.name}")}
    assert set(ELSEWHERE) | TERMINAL <= names


def test_the_front_door_leads_to_what_it_names() -> None:
    for name in bq.__all__:
        assert getattr(bq, name) is not None


def test_the_room_for_vectors_reaches_the_engine() -> None:
    assert Shared(cache="none", memory=2.5).engine().memory.bound == 5 * 2**29
    assert Shared(cache="none").engine().memory.bound == BOUND
