"""Errors that judges mark, against those that people marked."""

import json
from pathlib import Path
from typing import Any

import pytest

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.models.base import Span
from babelquake.runs.run import Run
from babelquake.scorers.base import Array, MeanScorer, Questions
from babelquake.studies.correlate.study import correlate

GOLD = [
    ("a", [{"start": 0, "end": 4, "severity": "major"}]),
    ("b", []),
    ("c", [{"start": "missing", "end": "missing", "severity": "major"}, {"start": 2, "end": 4, "severity": "minor"}]),
]
MARKED = [
    ("a", [{"start_i": 0, "end_i": 4, "severity": "critical"}]),
    ("b", [{"start_i": 0, "end_i": 2, "severity": "minor"}]),
    ("c", [{"start_i": 2, "end_i": 4, "severity": "major"}]),
]


def written(path: Path, rows: list[tuple[str, list[dict[str, Any]]]], **further: Any) -> Path:
    lines = [
        {
            "id": name,
            "system": "S",
            "source": f"source {name}",
            "translation": f"text {name}",
            "spans": spans,
            **further,
        }
        for name, spans in rows
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def value(run: Run, measure: str, scorer: str) -> float:
    found = run.measures.filter(measure=measure, scorer=scorer)
    return float(found["value"].item())


def measured(tmp_path: Path, **options: Any) -> Run:
    return correlate(out=tmp_path / "run", resamples=100, engine=Engine(quiet=True), **options)


def test_a_file_of_marked_errors_against_peoples(tmp_path: Path) -> None:
    gold, marked = written(tmp_path / "gold.jsonl", GOLD), written(tmp_path / "marked.jsonl", MARKED)
    run = measured(tmp_path, data=str(gold), spans=f"mine={marked}")
    assert value(run, "span_precision", "mine") == pytest.approx((4 + 1) / 8)
    assert value(run, "span_recall", "mine") == pytest.approx((4 + 1) / 6)
    assert run.measures["n"].unique().to_list() == [3]
    assert run.table("marked_errors").height == 3


def test_texts_find_each_other_where_ids_differ(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", GOLD)
    lines = [json.loads(line) for line in written(tmp_path / "marked.jsonl", MARKED).read_text().splitlines()]
    (tmp_path / "marked.jsonl").write_text("\n".join(json.dumps({**line, "id": f"x{line['id']}"}) for line in lines))
    run = measured(tmp_path, data=str(gold), spans=[str(tmp_path / "marked.jsonl")], statistics="span-f1")
    assert value(run, "span_f1", "marked") == pytest.approx(2 * 5 / 14)


def test_the_columns_of_the_wmt25_task(tmp_path: Path) -> None:
    file = tmp_path / "gold.de-en.tsv"
    file.write_text(
        "source_segment\thypothesis_segment\tsystem_id\tstart_indices\tend_indices\terror_types\n"
        "x\ttext a\tS\t0\t4\tmajor\nx2\ttext b\tS\t-1\t-1\tno-error\nx3\ttext c\tS\tmissing 2\tmissing 4\tmajor minor\n"
    )
    run = measured(tmp_path, data=str(file), spans=[f"mine={written(tmp_path / 'marked.jsonl', MARKED)}"])
    assert value(run, "span_f1", "mine") == pytest.approx(2 * 5 / 14)


class Marker(MeanScorer):
    """Holds the first two characters of every translation to be a minor error."""

    name = "marker"
    needs = frozenset()
    signature = "marker|v1"

    @property
    def marks_errors(self) -> bool:
        return True

    def judge(self, questions: Questions) -> Array:
        import numpy as np

        return np.array([-float(len(text)) for text in questions.translations])

    def spans(self, questions: Questions) -> list[list[Span]]:
        return [[Span(text[:2], "minor", 0, 2, 1.0)] for text in questions.translations]


def test_a_scorer_that_marks_errors_and_a_file_are_compared(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", GOLD * 1, score=50)
    marked = written(tmp_path / "marked.jsonl", MARKED)
    run = measured(tmp_path, data=str(gold), scorers=[Marker()], spans=f"mine={marked}", statistics=["span_f1"])
    assert value(run, "span_f1", "marker") == pytest.approx(2 * (1 / 6 * 1 / 6) / (1 / 3))
    difference = run.measures.filter(measure="span_f1_difference")
    assert difference.select("scorer", "other").rows() == [("mine", "marker")]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    gold, marked = written(tmp_path / "gold.jsonl", GOLD), written(tmp_path / "marked.jsonl", MARKED)
    with pytest.raises(UserError, match=r"severity 'awful'.*minor, major, critical"):
        wrong = [("a", [{"start": 0, "end": 1, "severity": "awful"}])]
        measured(tmp_path, data=str(gold), spans=str(written(tmp_path / "w.jsonl", wrong)))
    with pytest.raises(UserError, match="spans=…"):
        measured(tmp_path, data=str(gold), scorers=["chrf"], statistics=["span-f1"])
    with pytest.raises(UserError, match="no translation of gold"):
        other = tmp_path / "other.jsonl"
        other.write_text(marked.read_text().replace("text", "word").replace('"id": "', '"id": "y'))
        measured(tmp_path, data=str(gold), spans=str(other))


def test_two_campaigns_of_wmt23_en_de(shared_data: Path, tmp_path: Path) -> None:
    """Precision, recall and F₁ as the task's own script gives them for the two campaigns."""
    folder = shared_data / "esa-ratings"
    data = read(str(folder / "240315rc5ESA.scores.csv"))
    run = measured(tmp_path, data=data, spans=f"second={folder / '240520rc6ESA.scores.csv'}")
    found = [value(run, measure, "second") for measure in ("span_precision", "span_recall", "span_f1")]
    assert found == pytest.approx([0.1173734, 0.2760614, 0.1647148], abs=1e-6)
    assert run.measures["n"].unique().to_list() == [2691]
