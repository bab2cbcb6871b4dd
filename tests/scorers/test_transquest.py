"""TransQuest equals its package on small checkpoints of both architectures."""

import pytest
from tests.scorers.parity import CLOSE, Made, off_by, official, questions

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer


@pytest.mark.parametrize("name", ["monotransquest", "siamesetransquest"])
def test_scores_are_transquests(name: str, small: Made) -> None:
    made = scorer("transquest", model=small("transquest", name))
    assert off_by(made, official("transquest")["scores"][name]) < CLOSE
    assert name.startswith(made.architecture)


def test_the_engine_gives_the_same_scores(small: Made) -> None:
    for name in ("monotransquest", "siamesetransquest"):
        made = scorer("transquest", model=small("transquest", name))
        few = questions().rows(30, 60)
        assert Engine().judge(made, few) == pytest.approx(made.statistics(few), abs=1e-6)


@pytest.mark.parametrize("name", ["monotransquest", "siamesetransquest"])
def test_company_changes_nothing(name: str, small: Made) -> None:
    made = scorer("transquest", model=small("transquest", name))
    whole = made.statistics(questions())
    assert (made.statistics(questions().rows(40, 47)) == whole[40:47]).all()


def test_other_models_are_refused(small: Made) -> None:
    with pytest.raises(UserError, match="TransQuest checkpoint"):
        scorer("transquest", model=small("metricx", "metricx"))
