"""Perturbations have labels for people; their typed names stay in the data."""

import pytest

from babelquake.perturb.card import PERTURBATIONS
from babelquake.perturb.labels import label_of


@pytest.mark.parametrize(
    ("perturbation", "level", "label"),
    [
        ("misspell", 0.1, "typos (10 % of words)"),
        ("homoglyph", 0.1, "look-alike letters (10 %)"),
        ("case[to=upper]", 1.0, "ALL CAPS"),
        ("case", 0.5, "odd capitals (50 % of sentences)"),
        ("final-delete[mark=stop]", None, "final full stop missing"),
        ("final-delete[mark=?]", None, "final question mark missing"),
        ("final-insert[mark=random]", None, "random character added at the end"),
        ("upper-words", 0.5, "some words in CAPITALS (50 %)"),
        ("number", 2.0, "numbers changed (2)"),
        ("natural-typo", 0.2, "common misspellings (20 %)"),
        ("natural-typo", None, "common misspellings"),
        ("raw comment", None, "raw comment"),
        ("somebody's own", 0.3, "somebody's own (level 0.3)"),
    ],
)
def test_labels(perturbation: str, level: float | None, label: str) -> None:
    assert label_of(perturbation, level) == label


def test_options_are_told_where_they_tell_two_apart() -> None:
    both = ["misspell", "misspell[keyboard=qwerty]", "final-delete[mark=stop]", "final-delete[mark=question]"]
    assert label_of(both[0], 0.1, both) == "typos (10 % of words, as usual)"
    assert label_of(both[1], 0.1, both) == "typos (10 % of words, keyboard qwerty)"
    assert label_of(both[1], 0.1, both[1:]) == "typos (10 % of words)"
    assert label_of(both[2], None, both) == "final full stop missing"


def test_every_perturbation_has_a_label_that_is_not_its_name() -> None:
    labels = [label_of(name, card.level) for name, card in PERTURBATIONS.items()]
    assert len(set(labels)) == len(labels)
    assert not set(labels) & set(PERTURBATIONS.names())
    assert not any("[" in label or "{" in label for label in labels)
