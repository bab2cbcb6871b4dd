"""One model at a time: whoever judges with several scorers gives each one's model back before the next is asked."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from babelquake.data import Dataset, read
from babelquake.engine import Engine, in_turn
from babelquake.scorers.base import MeanScorer, Questions
from babelquake.spec import Spec
from babelquake.studies.attack.study import attack
from babelquake.studies.correlate.study import correlate
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe

STUDIES: dict[str, Any] = {
    "mt": lambda data, scorers, **how: mt(
        systems=["command[cmd=cat]"], data=data, suite="case", scorers=scorers, **how
    ),
    "metric": lambda data, scorers, **how: metric(scorers=scorers, data=data, suite="case", **how),
    "qe": lambda data, scorers, **how: qe(scorers=scorers, data=data, suite="lower-words,word-drop", **how),
    "correlate": lambda data, scorers, **how: correlate(scorers=scorers, data=data, **how),
    "attack": lambda data, scorers, **how: attack(
        recipes=["input-reduction"], victims=scorers, data=data, constraints=[], **how
    ),
}


class Heavy(MeanScorer):
    """Counts letters with a model that takes a lot of memory."""

    costly = True
    needs = frozenset()
    loaded: ClassVar[set[str]] = set()
    most: ClassVar[int] = 0

    def __init__(self, name: str) -> None:
        self.spec = Spec(name)

    @property
    def signature(self) -> str:
        return f"heavy|{self.spec}"

    def judge(self, questions: Questions) -> Any:
        Heavy.loaded.add(str(self.spec))
        Heavy.most = max(Heavy.most, len(Heavy.loaded))
        return np.array([float(len(text)) for text in questions.translations])

    def close(self) -> None:
        Heavy.loaded.discard(str(self.spec))


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    rows = [f"Das Haus {row}.\tThe House {row}.\tThe old House {row}.\t{70 + row}" for row in range(12)]
    (tmp_path / "d.tsv").write_text("source\treference\ttranslation\tscore\n" + "\n".join(rows) + "\n", "utf-8")
    return read(str(tmp_path / "d.tsv"))


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_has_one_model_in_memory(study: str, data: Dataset, tmp_path: Path) -> None:
    Heavy.loaded, Heavy.most = set(), 0
    scorers = [Heavy("one"), Heavy("two"), Heavy("three")]
    run = STUDIES[study](data, scorers, out=tmp_path / "run", resamples=100, engine=Engine(quiet=True))
    assert (Heavy.most, Heavy.loaded) == (1, set())
    assert run.scores["scorer"].unique(maintain_order=True).to_list() == ["one", "two", "three"]


def test_each_is_closed_before_the_next_comes() -> None:
    Heavy.loaded, Heavy.most = set(), 0
    for scorer in in_turn([Heavy("one"), Heavy("two")]):
        scorer.judge(Questions(["a"]))
    assert (Heavy.most, Heavy.loaded) == (1, set())


def test_one_alone_is_not_loaded_twice() -> None:
    Heavy.loaded, Heavy.most = set(), 0
    for scorer in in_turn([Heavy("one")]):
        scorer.judge(Questions(["a"]))
    assert Heavy.loaded == {"one"}
