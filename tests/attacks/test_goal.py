"""Goals and their thresholds (Huang & Baldwin 2023 §2.2)."""

import numpy as np
import pytest

from babelquake.attacks.goal import Collapse, Inconsistent, Inflate, Overpenalise, goal
from babelquake.attacks.victim import Scale
from babelquake.errors import UserError


def test_more_than_one_standard_deviation() -> None:
    assert not Overpenalise().met(Overpenalise().gain(2.0, 1.0))
    assert Overpenalise().met(Overpenalise().gain(2.0, 0.999))
    assert Inflate().met(Inflate().gain(0.0, 1.001))
    assert not Inflate().met(Inflate().gain(0.0, -5.0))


def test_inconsistency_falls_by_more_than_point_four() -> None:
    assert Inconsistent().met(0.41) and not Inconsistent().met(0.4)
    assert (Inconsistent().within, Inconsistent().strict, Inconsistent().fluent) == (0.3, True, False)


def test_a_translation_collapses_below_75_chrf() -> None:
    assert Collapse().met(Collapse().gain(100.0, 74.9))
    assert not Collapse().met(Collapse().gain(100.0, 75.0))


def test_goals_have_names_and_options() -> None:
    assert goal("overpenalise[by=0.5]") == Overpenalise(by=0.5)
    assert goal("inconsistent[similarity=symmetric]").signature == (
        "inconsistent[by=0.4,within=0.3,similarity=symmetric]"
    )
    with pytest.raises(UserError, match="Did you mean 'inflate'"):
        goal("inflat")
    with pytest.raises(UserError, match="expected auto or plain or symmetric"):
        goal("inconsistent[similarity=both]")


def test_scores_are_normalised_over_the_data_with_better_up() -> None:
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    up, down = Scale.over(scores, True, "m"), Scale.over(scores, False, "m")
    assert up.normalised(4.0) == pytest.approx(1.5 / np.sqrt(1.25))
    assert down.normalised(4.0) == pytest.approx(-1.5 / np.sqrt(1.25))
    with pytest.raises(UserError, match="the same score"):
        Scale.over(np.ones(3), True, "m")
