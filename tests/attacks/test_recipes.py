"""Recipes, goals and constraints by name with options."""

from collections.abc import Callable

import pytest

from babelquake.attacks.constraints import constraint
from babelquake.attacks.goal import goal
from babelquake.attacks.recipes import RECIPES, Tools, recipe
from babelquake.errors import UserError
from babelquake.spec import parse
from babelquake.studies.attack.models import PAPER, SHIPPED

TOOLS = Tools({}, lambda sentence: ())


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (recipe, "clare[width=0]"),
        (recipe, "clare[iterations=-1]"),
        (recipe, "clare[candidates=129]"),
        (recipe, "clare[merge_floor=nan]"),
        (recipe, "faster-genetic[population=-1]"),
        (recipe, "faster-genetic[neighbours=0]"),
        (recipe, "deepwordbug[distance=0]"),
        (recipe, "input-reduction[lookahead=0]"),
        (goal, "overpenalise[by=nan]"),
        (goal, "inflate[by=-1]"),
        (goal, "inconsistent[within=-0.1]"),
        (goal, "collapse[below=101]"),
        (constraint, "perplexity[rise=-1]"),
        (constraint, "levenshtein[most=-3]"),
        (constraint, "words[share=-1]"),
        (constraint, "similarity[least=1.5]"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(make: Callable[..., object], text: str) -> None:
    with pytest.raises(UserError, match="is outside"):
        make(text, TOOLS) if make is recipe else make(text)


def test_letters_must_be_named() -> None:
    with pytest.raises(UserError, match="at least one letter"):
        recipe("deepwordbug[letters=]", TOOLS)


@pytest.mark.parametrize("name", ["clare", "faster-genetic", "input-reduction", "deepwordbug"])
def test_a_recipe_of_the_paper_says_where_it_follows_whom(name: str) -> None:
    said = RECIPES[name].__doc__ or ""
    assert "Paper" in said and "TextAttack" in said


def test_clare_is_what_the_authors_ran_unless_told_otherwise() -> None:
    """TextAttack hides the marks at both ends from the model, and takes pieces of words for words."""
    assert [getattr(move, "clipped", None) for move in recipe("clare", TOOLS).moves] == [False, True, True]
    assert not recipe("clare[context=whole]", TOOLS).moves[1].clipped  # type: ignore[attr-defined]
    assert all(dict(parse(names["masked_lm"]).options) == {"words": "any"} for names in (PAPER, SHIPPED))
