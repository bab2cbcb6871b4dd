"""Gaps that a masked language model fills: asked for together, ten words at most, nothing drawn twice."""

from collections.abc import Sequence

import pytest

from babelquake.errors import UserError
from babelquake.perturb import Perturbation
from babelquake.perturb.suite import suite
from babelquake.resource import Filler, Gap
from babelquake.text import words

TEXT = "The court said, no law was valid."
WORDS = ("party", "seats", "vote")


class Offers:
    """Offers the same words for every gap, and remembers how it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[Gap]] = []

    def __call__(self, model: str, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        assert model == "some/model" and top == 100
        self.batches.append(list(gaps))
        return [[Filler(word, 0.3) for word in WORDS] for _ in gaps]


def test_map6_replaces_words_and_keeps_their_case() -> None:
    change = Perturbation("mask-replace", model="some/model")
    variants = {change.apply(TEXT, lang="en", replicate=number, fillers=Offers()) for number in range(30)}
    assert len(variants) > 5
    for variant in variants:
        assert variant is not None
        pairs = [(old.text, new.text) for old, new in zip(words(TEXT), words(variant), strict=True)]
        changed = [(old, new) for old, new in pairs if old != new]
        assert 1 <= len(changed) <= 2
        assert all(new.lower() in WORDS and new[0].isupper() == old[0].isupper() for old, new in changed)
    assert change.apply("…", lang="en", fillers=Offers()) is None


def test_map6_writes_lower_case_as_the_paper_s_model_did() -> None:
    change = Perturbation("mask-replace[lowercase=true]", model="some/model")
    assert (change.apply(TEXT, lang="en", fillers=Offers()) or "A").islower()


def test_map6_changes_ten_words_at_most() -> None:
    long = " ".join(["word"] * 80)
    variant = Perturbation("mask-replace", model="some/model").apply(long, fillers=Offers()) or ""
    assert sum(word.text in WORDS for word in words(variant)) == 10


def test_later_gaps_see_earlier_words() -> None:
    offers = Offers()
    Perturbation("mask-replace[level=1]", model="some/model").apply("One two", fillers=offers)
    first, second = (batch[0] for batch in offers.batches)
    assert first == Gap("", " two") and second.after == "" and second.before.lower().strip() in WORDS


def test_the_gaps_of_many_texts_are_asked_together_and_change_nothing() -> None:
    texts, offers = [TEXT, "Nobody was there", "", "A vote of the party"], Offers()
    chosen = suite("mask-replace[model=some/model]", 4)
    table = chosen.variants([*"abcd"], texts, lang="en", seed=2, fillers=offers)
    assert len(offers.batches) <= 4 * 4 and max(map(len, offers.batches)) == 3
    change = chosen.perturbations[0]
    for row in table.iter_rows(named=True):
        alone = change.apply(texts[row["row"]], lang="en", seed=2, replicate=row["replicate"], fillers=Offers())
        assert row["text"] == alone


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UserError, match=r"mask-replace\[model=bert-base-uncased\]"):
        Perturbation("mask-replace").apply(TEXT, lang="en", fillers=Offers())
    with pytest.raises(UserError, match="none was handed in"):
        Perturbation("mask-replace", model="some/model").apply(TEXT, lang="en")


def test_a_suite_without_a_model_says_how_many_probes_are_left() -> None:
    chosen = suite("kanojia2021")
    assert chosen.lacking.startswith("7 of 8 meaning-altering probes: mask-replace was left out")
    assert len(chosen.with_model(None).perturbations) == 13 and not chosen.with_model(None).lacking
    full = chosen.with_model("some/model")
    assert len(full.perturbations) == 14 and not full.lacking
    assert suite("niu2020").lacking == ""
