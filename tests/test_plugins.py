"""Another package brings a study, a scorer with an encoder and a system, and uses each like one of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = '''
"""A toy study, a toy scorer with an encoder, and a toy system, as another package would bring them."""

import numpy as np

import babelquake as bq
from babelquake.models.base import SentenceEncoder
from babelquake.report.page import Page
from babelquake.report.table import Table
from babelquake.runs.measures import Kind, Measure
from babelquake.scorers.base import Questions, VectorScorer, Wanted
from babelquake.spec import Spec
from babelquake.studies.card import Study
from babelquake.studies.asked import scorers_of

LIKENESS = Kind("likeness", unit="of 1", better="up")
CARD = {"inputs": ("source", "references"), "measures": (LIKENESS,), "gated": ("likeness",)}
TOY = Study("toy", question="How alike are sources and references?", **CARD)


def toy(scorers, data, *, out):
    material = bq.dataset(data)
    with TOY.session(out, data=material, scorers=scorers_of(scorers), resamples=100) as session:
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
    print(toy(["vowels"], data, out=out).summary())


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


PAGE = Page(tables, lambda run: [f"{run.measures.height} scorer was measured."])
'''
ENTRY_POINTS = """
[babelquake.studies]
toy = toyquake:TOY
[babelquake.pages]
toy = toyquake:PAGE
[babelquake.commands]
toy = toyquake:command
[babelquake.scorers]
vowels = toyquake:VowelMetric
[babelquake.systems]
shout = toyquake:Shout
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "toyquake.py").write_text(PACKAGE)
    info = tmp_path / "toyquake-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toyquake\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    rows = [(f"Der Zug {row} kommt spät.", f"Train {row} is late.") for row in range(30)]
    lines = ["source\treference", *("\t".join(row) for row in rows)]
    (tmp_path / "news.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_study_a_scorer_with_an_encoder_and_a_system_from_outside(outside: Path) -> None:
    def babelquake(*words: str) -> str:
        path = os.pathsep.join([str(outside), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "babelquake", *words],
            cwd=outside,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "toy" in babelquake("--help")
    assert "1 scorer was measured." in babelquake("toy", "news.de-en.tsv", "likeness")
    babelquake("report", "likeness", "--html", "likeness.html")
    assert "How alike are sources and references?" in (outside / "likeness.html").read_text("utf-8")
    assert "likeness" in babelquake("compare", "likeness", "likeness", "--fail-on", "regression")
    options = ("--data", "news.de-en.tsv", "--suite", "case[level=1]", "--resamples", "100", "--cache", "none")
    told = babelquake("mt", "--system", "shout", "--scorer", "vowels", *options, "--out", "shouted")
    assert "vowels" in told
    babelquake("report", "shouted", "--html", "shouted.html")
    assert "consis" in babelquake("compare", "shouted", "shouted", "--fail-on", "regression")
    for kind, name in (("scorers", "vowels"), ("systems", "shout")):
        assert name in babelquake("list", kind)
