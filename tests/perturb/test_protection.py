"""Placeholders, tags, addresses and code are left alone unless a paper's suite, or the user, says otherwise."""

import pytest

import babelquake as bq
from babelquake.machinery import machinery
from babelquake.perturb import PERTURBATIONS, Perturbation
from babelquake.perturb.suite import suite, suite_names

TEXT = (
    "Hello {user_name}, please press <b>Save</b> twice, open https://example.org/a?b=Cc or write to me@example.org; "
    "{count, plural, one {# file} other {# files}} and `rm -rf Build` are not 25 things that Peter would touch."
)
WORDS = ["house", "water"]
PIECES = [item.text for item in machinery(TEXT)]
DOES = [
    name for name in PERTURBATIONS.names() if not PERTURBATIONS.get(name).asks and not PERTURBATIONS.get(name).rewrites
]
"""What rewrites a segment brings another text instead of changing this one."""
PAPERS = [name for name in suite_names() if suite(name).paper]


@pytest.mark.parametrize("name", DOES)
def test_no_perturbation_touches_machinery(name: str) -> None:
    card = PERTURBATIONS.get(name)
    options = {} if card.level is None else {"level": card.high}
    for seed in range(3):
        made = Perturbation(name, **options).apply(TEXT, lang="en", seed=seed, source="Quelle", vocabulary=WORDS)
        if made is not None:
            assert all(made.count(piece) >= 1 for piece in PIECES)


def test_it_can_be_switched_off_and_says_so() -> None:
    (left,) = bq.perturb("misspell", ["{user_name}"], lang="en", level=1)
    (changed,) = bq.perturb("misspell", ["{user_name}"], lang="en", level=1, protect="none")
    assert left in (None, "{user_name}") and changed not in (None, "{user_name}")
    open_ = Perturbation("misspell[protect=none]")
    assert "protect=none" in open_.signature("en") and open_.label == Perturbation("misspell").label
    with pytest.raises(bq.UserError, match="protect=some"):
        Perturbation("misspell[protect=some]")


@pytest.mark.parametrize("name", PAPERS)
def test_papers_suites_protect_nothing(name: str) -> None:
    """But for numbers and negation in what `kanojia2021` calls harmless; `kanojia2021-authors` is as it was run."""
    protecting = {perturbation.name for perturbation in suite(name).perturbations if perturbation.protect}
    assert protecting == ({"punct-remove", "det-remove", "det-replace"} if name == "kanojia2021" else set())


def test_texts_without_machinery_change_as_they_did() -> None:
    plain = ["The committee met on Tuesday and approved all proposals."]
    options = {"lang": "en", "level": 0.5, "seed": 3}
    assert bq.perturb("misspell", plain, **options) == bq.perturb("misspell", plain, protect="none", **options)


def test_markup_is_inserted_and_seen_by_the_detectors() -> None:
    from babelquake.failures import detect

    for what, kind in (("tag", "tag"), ("placeholder", "placeholder")):
        (made,) = bq.perturb("markup", ["The cat is asleep."], level=0.3, what=what, seed=1)
        assert made is not None and machinery(made)
        assert [failure.kind for failure in detect(made, "Kočka spí.", "en-cs")] == [kind]
    (emoji,) = bq.perturb("markup", ["The cat is asleep."], level=1, what="emoji")
    assert emoji is not None and len(emoji) > len("The cat is asleep.")
