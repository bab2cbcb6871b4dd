"""Enumerators: what perturbations draw from, walked through one change at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.languages import Language
from babelquake.perturb import Perturbation
from babelquake.perturb.enumerators import ENUMERATORS

EN = Language("en")


@pytest.mark.parametrize(
    ("name", "word", "among"),
    [
        ("keyboard", "cat", {"xat", "cst", "car"}),
        ("visual", "cat", {"cát", "Cat"}),
        ("homoglyph", "cat", {"cаt"}),
        ("phonetic", "phone", {"phohne"}),
        ("natural-typo", "Receive", {"Recieve"}),
        ("synonym", "big", {"large"}),
        ("antonym", "Increased", {"Decreased"}),
    ],
)
def test_what_one_change_makes_of_a_word(name: str, word: str, among: set[str]) -> None:
    assert among <= set(ENUMERATORS[name](word, EN))


@pytest.mark.parametrize("name", ENUMERATORS)
@given(word=st.text(max_size=12), lang=st.sampled_from([EN, Language("de"), Language("ja"), None]))
def test_they_never_yield_the_word_itself_and_always_in_one_order(name: str, word: str, lang: Language | None) -> None:
    found = list(ENUMERATORS[name](word, lang))
    assert word not in found and found == list(ENUMERATORS[name](word, lang))


def test_perturbations_draw_from_them() -> None:
    for name, spec in (("keyboard", "keyboard-typo"), ("natural-typo", "natural-typo[level=1]")):
        word = "receive"
        drawn = {Perturbation(spec).apply(word, lang="en", seed=seed) for seed in range(60)}
        assert drawn <= {*ENUMERATORS[name](word, EN)}


def test_a_language_without_the_resource_has_nothing() -> None:
    for name in ("phonetic", "natural-typo", "synonym", "antonym"):
        assert list(ENUMERATORS[name]("tŷ", Language("cy"))) == []
