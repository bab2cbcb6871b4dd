"""Other packages bring what CONTRIBUTING says they can, and use it like ours."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

from babelquake.cli.app import COMMANDS
from babelquake.engine.executor import EXECUTORS
from babelquake.registry import Registry
from babelquake.report.pages import PAGES
from babelquake.studies.card import STUDIES
from babelquake.systems import SYSTEMS

from .test_docs import ROOT, blocks, mentioned

GUIDE = ROOT / "CONTRIBUTING.md"

PACKAGE = '''
"""A toy study, a toy scorer with an encoder, and a toy system, as another package would bring them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import babelquake as bq
from babelquake.models.base import SentenceEncoder
from babelquake.report.pages import Page
from babelquake.report.table import Table
from babelquake.runs.findings import Finding
from babelquake.runs.measures import Kind, Measure
from babelquake.scorers.base import Questions, VectorScorer, Wanted
from babelquake.spec import Spec
from babelquake.studies.card import Study
from babelquake.studies.options import SCORER, StudyOptions, option, takes
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import scorers_of

LIKENESS = Kind("likeness", unit="of 1", better="up")
CARD = {"inputs": ("source", "references"), "measures": (LIKENESS,), "gated": ("likeness",)}
@dataclass(frozen=True, kw_only=True)
class ToyOptions(StudyOptions):
    scorers: Sequence[str] = option(("vowels",), SCORER)


QUESTION = "How alike are sources and references?"
TOY = Study("toy", ToyOptions, question=QUESTION, findings=lambda run: counted(run), **CARD)


@takes(ToyOptions)
def toy(options: ToyOptions) -> bq.Run:
    material = options.dataset()
    with TOY.session(Plan("toy", options, material, scorers_of(options.scorers))) as session:
        session.attach(1)
        if session.finished:
            return session.run
        segments = session.once("segments", lambda: material.segments.with_row_index("row"))
        measures = []
        for scorer in session.scorers:
            questions = Questions(segments["source"].to_list(), segments["references"].to_list())
            scores = scorer.score_rows(session.engine.judge(scorer, questions))
            measures.append(Measure(LIKENESS, scores.mean(), scorer=scorer.name, sd=scores.std(), n=len(scores)))
        return session.finish(measures)


def command(data: str, out: str) -> None:
    """How alike are sources and references?"""
    print(toy(data=data, out=out, resamples=100).summary())


class Vowels(SentenceEncoder):
    """A vector of five numbers: how often each vowel occurs."""

    spec = Spec("vowels")
    signature = "vowels|v1"

    def sentences(self, texts):
        return np.array([[text.lower().count(vowel) for vowel in "aeiou"] for text in texts], np.float32)


class VowelMetric(VectorScorer):
    """One minus the share of vowels that differ."""

    signature = "vowel-metric|v1"
    ratio_scale = True

    def encoders(self):
        return (Wanted(Vowels()),)

    def compare(self, questions, vectors):
        def row(text):
            return vectors[0][text].layers[0][0]

        pairs = [(row(text), row(some[0])) for text, some in zip(questions.translations, questions.references)]
        return np.array([1 - abs(a - b).sum() / max(1, (a + b).sum()) for a, b in pairs])


class Shout:
    """A system: a class with translate and signature."""

    signature = "shout|v1"

    def translate(self, texts):
        return [text.upper() for text in texts]


def tables(run):
    rows = tuple((row["scorer"], f"{row['value']:.3f}") for row in run.measures.iter_rows(named=True))
    return [Table("Likeness", ("scorer", "value"), rows)]


def counted(run):
    return [Finding(what="counted", facts={"scorers": run.measures.height})]


PAGE = Page(tables, words={"counted": lambda finding, names: f"{finding.facts['scorers']:g} scorer was measured."})
'''
ENTRY_POINTS = """
[babelquake.studies]
toy = toyquake:TOY
[babelquake.pages]
toy = toyquake:PAGE
[babelquake.commands]
toy = toyquake:command
[babelquake.encoders]
vowels = toyquake:Vowels
[babelquake.scorers]
vowels = toyquake:VowelMetric
[babelquake.systems]
shout = toyquake:Shout
"""


def install(folder: Path, name: str, code: str, entry_points: str) -> None:
    """What pip leaves behind of a package of one file."""
    (folder / f"{name}.py").write_text(code, "utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


COMMANDS_IN_TURN = """
import json, sys
from typer.testing import CliRunner
from babelquake.cli.app import app
said = []
for words in json.load(sys.stdin):
    done = CliRunner().invoke(app, words)
    if done.exit_code:
        sys.exit(f"{words}: {done.output} {done.exception!r}")
    said.append(done.output)
json.dump(said, sys.stdout)
"""


def babelquake(folder: Path, *commands: Sequence[str]) -> list[str]:
    """What commands say, one after the other, in one new process that finds the folder's packages."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS_IN_TURN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "BABELQUAKE_CACHE": str(folder / "cache.sqlite")},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: list[str] = json.loads(done.stdout)
    return said


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    install(tmp_path, "toyquake", PACKAGE, ENTRY_POINTS)
    rows = [(f"Der Zug {row} kommt spät.", f"Train {row} is late.") for row in range(30)]
    lines = ["source\treference", *("\t".join(row) for row in rows)]
    (tmp_path / "news.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_study_a_scorer_with_an_encoder_and_a_system_from_outside(outside: Path) -> None:
    options = ("--data", "news.de-en.tsv", "--suite", "case[level=1]", "--resamples", "100", "--cache", "none")
    judges = ("--scorer", "vowels", "--scorer", "embedding-similarity[model=vowels]")
    help_, made, _, compared, told, listed = babelquake(
        outside,
        ["--help"],
        ["toy", "news.de-en.tsv", "likeness"],
        ["report", "likeness", "--html", "likeness.html"],
        ["compare", "likeness", "likeness", "--fail-on", "regression"],
        ["mt", "--system", "shout", *judges, *options, "--out", "shouted"],
        ["list", "scorers"],
    )
    assert "toy" in help_ and "1 scorer was measured." in made
    assert "How alike are sources and references?" in (outside / "likeness.html").read_text("utf-8")
    assert "1 measure" in compared
    assert "vowels" in told and "embedding-similarity[model=vowels]" in told
    assert "shout" in (outside / "shouted" / "report.html").read_text("utf-8")
    assert "vowels" in listed


def groups() -> dict[str, str]:
    """The groups of entry points that CONTRIBUTING names → the row of its table."""
    rows = [
        line for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| a") or line.startswith("| its")
    ]
    return {group: row for row in rows for group in re.findall(r"`([a-z.]+)`", row.split("|")[3])}


def test_the_names_that_a_package_stands_on_are_there() -> None:
    for row in groups().values():
        for module, names in re.findall(r"`(babelquake[a-z.]+)`: ([^;|]+)", row.split("|")[2]):
            for name in re.findall(r"`(\w+)`", names):
                assert hasattr(import_module(module), name), f"{module} has no {name}"


def test_every_group_that_is_read_is_named() -> None:
    for room in ("failures", "runs.display", "studies.attack.measures"):
        import_module(f"babelquake.{room}")
    rooms = [module for name, module in sys.modules.items() if name.startswith("babelquake.")]
    read = {found.group for room in rooms for found in vars(room).values() if isinstance(found, Registry)}
    assert groups().keys() == read | {COMMANDS}
    assert read >= {SYSTEMS.group, EXECUTORS.group, PAGES.group, STUDIES.group}


@pytest.mark.slow
def test_the_package_of_the_guide_works(tmp_path: Path) -> None:
    points = tomllib.loads(blocks(GUIDE, "toml")[0])["project"]["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in some.items())
        for group, some in points.items()
    ]
    install(tmp_path, "noisy", "\n\n".join(blocks(GUIDE, "python")), "".join(lines))
    (command,) = [words for words in mentioned(GUIDE) if words[0] == "mt"]
    brought = {"perturbations": "double-space", "scorers": "length-ratio", "systems": "shout"}
    lists = [["list", kind, "--json"] for kind in brought]
    *listed, _ = babelquake(tmp_path, *lists, [*command, "--resamples", "100", "--limit", "20"])
    for said, name in zip(listed, brought.values(), strict=True):
        assert {row["name"]: row for row in json.loads(said)}[name]["description"]
    run = tmp_path / command[command.index("--out") + 1]
    assert "shout|v1|mark:?|double-space[level=0.5]×1|length-ratio|v1" in (run / "measures.csv").read_text("utf-8")
