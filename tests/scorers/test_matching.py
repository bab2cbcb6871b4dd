"""Pairs matched together, as on a GPU, get what each gets alone; tried on the CPU."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.scorers import matching, scorer
from babelquake.scorers.base import Array
from babelquake.scorers.matching import Side, match, shares, together

pytest.importorskip("torch", reason="needs the extra [neural]")
TEXTS = ["the cat sat on the mat", "", "a dog", "Dogs bark! " * 9, "猫はマットの上に座った。", "word " * 600]


def sides(lengths: list[int], layers: int, seed: int) -> list[Side]:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, sum(lengths)).astype(np.float64)
    return [
        Side([rng.standard_normal((count, 24)).astype(np.float32) for _ in range(layers)], own)
        for count, own in zip(lengths, shares(weights, lengths), strict=True)
    ]


@pytest.mark.parametrize("way", [match, together])
def test_by_hand(way: Callable[..., Array]) -> None:
    """Cosines of (1, 0) and (0.6, 0.8) with (1, 0) and (0, 1): the best are 1 and 0.8; ends have no weight."""
    vectors = np.array([[-1, -1], [1, 0], [3, 4], [-1, -2]]), np.array([[-1, -1], [2, 0], [0, 1], [-2, -1]])
    one, other = (Side([rows.astype(np.float32)], np.array([0.0, 0.5, 0.5, 0])) for rows in vectors)
    rare = Side(one.layers, np.array([0.0, 0.25, 0.75, 0]))
    ((plain,), (weighed,)) = way([(one, other), (rare, other)], "cpu")
    assert plain == pytest.approx([0.9] * len(plain)) and weighed[:2] == pytest.approx([0.85, 0.9])


@given(
    lengths=st.lists(st.integers(1, 70), min_size=2, max_size=80),
    layers=st.integers(1, 3),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_together_and_alone_are_the_same(lengths: list[int], layers: int, seed: int) -> None:
    made = sides(lengths, layers, seed)
    pairs = [(one, made[0]) for one in made] + [(made[0], made[-1])]
    alone = match(pairs, "cpu")
    full = [place for place, pair in enumerate(pairs) if not (pair[0].empty or pair[1].empty)]
    found = together([pairs[place] for place in full], "cpu") if full else alone[:0, :, :2]
    np.testing.assert_allclose(found, alone[full, :, :2], atol=2e-6)
    assert not np.delete(alone, full, axis=0).any()


def test_company_changes_nothing() -> None:
    made = sides([5, 17, 30, 31, 64, 9, 16] * 20, 2, 1)
    pairs = [(one, made[3]) for one in made]
    whole = together(pairs, "cpu")
    np.testing.assert_array_equal(together(pairs[40:43], "cpu"), whole[40:43])
    assert not len(match([], "cpu"))


def test_shares_add_up_to_one_in_each_text() -> None:
    """A text whose tokens have no weight has no shares; one without tokens stands between the others."""
    found = shares(np.array([1.0, 3, 0, 0, 2]), [2, 0, 2, 1])
    np.testing.assert_array_equal(np.concatenate(found), [0.25, 0.75, np.nan, np.nan, 1])
    assert [len(own) for own in found] == [2, 0, 2, 1]


@pytest.mark.parametrize(
    "options", ["layer=first", "layer=mean,output=P", "layer=mean-embeddings,output=R", "idf=true"]
)
def test_bertscore_by_either_way(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(f"bertscore[model=minilm-en,{options}]")
    references = [[text, TEXTS[0]] for text in reversed(TEXTS)]
    expected = made.segments(TEXTS, references)
    monkeypatch.setattr(matching, "on_gpu", lambda device: True)
    np.testing.assert_allclose(made.segments(TEXTS, references), expected, atol=1e-6)
