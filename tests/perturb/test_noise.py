"""Noise for training: a share of the texts, the same for the same seed, whatever the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.perturb.noise import STEPS, Noise
from babelquake.perturb.suite import suite

TEXTS = [f"Der {number}. Satz handelt von schönen Häusern, nicht von Bäumen." for number in range(400)]


def noise(**options: object) -> Noise:
    settings: dict[str, object] = {"share": 0.3, "lang": "de", "seed": 5} | options
    return Noise(suite("everyday"), **settings)  # type: ignore[arg-type]


def test_about_the_asked_share_is_changed() -> None:
    changed = [made for place, text in enumerate(TEXTS) if (made := noise().of(text, place)).perturbation]
    assert 0.22 < len(changed) / len(TEXTS) < 0.38
    assert len({made.perturbation.name for made in changed if made.perturbation}) > 6


@given(st.text(max_size=60), st.integers(0, 99))
def test_what_is_called_changed_differs_and_what_is_not_does_not(text: str, place: int) -> None:
    made = noise(share=0.5).of(text, place)
    assert (made.text != text) == (made.perturbation is not None)


def test_order_changes_nothing_and_the_seed_does() -> None:
    forwards = {place: noise().of(text, place).text for place, text in enumerate(TEXTS[:60])}
    backwards = {place: noise().of(TEXTS[place], place).text for place in reversed(range(60))}
    assert forwards == backwards
    assert forwards != {place: noise(seed=6).of(text, place).text for place, text in enumerate(TEXTS[:60])}


def test_the_same_text_in_another_place_draws_anew() -> None:
    assert len({noise(share=1).of(TEXTS[0], place).text for place in range(30)}) > 10


def test_no_share_no_change_and_all_of_it_where_something_applies() -> None:
    assert all(noise(share=0).of(text, place).perturbation is None for place, text in enumerate(TEXTS[:50]))
    assert all(noise(share=1).of(text, place).perturbation for place, text in enumerate(TEXTS[:50]))


def test_levels_are_drawn_from_the_range_and_stay_within_what_a_perturbation_allows() -> None:
    ways = {way[0].name: [each.level for each in way] for way in noise(weakest=0.5, strongest=20.0).ways}
    assert len(ways["misspell"]) <= STEPS
    assert ways["misspell"][0] == pytest.approx(0.05)
    assert max(level for levels in ways.values() for level in levels if level is not None) <= 1


@pytest.mark.parametrize("wrong", [{"share": 1.2}, {"share": -0.1}, {"weakest": 2.0}, {"weakest": 0.0}])
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError):
        noise(**wrong)


def test_noise_that_needs_a_language_model_is_refused() -> None:
    with pytest.raises(UserError, match="language model"):
        Noise(suite("mask-replace[model=x]"), lang="en")
