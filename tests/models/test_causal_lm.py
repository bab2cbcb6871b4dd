"""Texts that begin alike: what they have in common is read once, and every text is found again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake import models
from babelquake.models.causal_lm import alike, beginnings

pytest.importorskip("torch", reason="needs the extra [neural]")
Make = Callable[..., Path]
Sequences = st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=70), min_size=1, max_size=12)


@given(Sequences)
def test_beginnings_are_distinct_and_lead_to_every_text(sequences: list[list[int]]) -> None:
    tree = beginnings(sequences, "cpu", 4096)
    ids = tree.ribbon.ids.tolist()
    for path, sequence in zip(tree.paths, sequences, strict=True):
        assert tree.tokens[path].tolist() == sequence[1:]
        assert [ids[tree.parents[end]] for end in path] == sequence[:-1]
    distinct = {(-(-(len(one) - 1) // 32), *one[:size]) for one in sequences for size in range(1, len(one))}
    assert tree.nodes == len(distinct)


@given(Sequences, st.integers(1, 100))
def test_portions_hold_every_text_once_and_respect_the_limit(sequences: list[list[int]], tokens: int) -> None:
    portions = list(alike(sequences, tokens))
    assert sorted(place for portion in portions for place in portion) == list(range(len(sequences)))
    for portion in portions:
        nodes = beginnings([sequences[place] for place in portion], "cpu", 4096).nodes
        assert len(portion) == 1 or nodes <= tokens


def test_variants_of_a_sentence_cost_what_is_new_in_them(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.models import causal_lm

    nodes = []

    def counted(*given: object) -> object:
        tree = beginnings(*given)  # type: ignore[arg-type]
        nodes.append(tree.nodes)
        return tree

    monkeypatch.setattr(causal_lm, "beginnings", counted)
    causal = models.causal(str(made("gpt2")))
    causal.log_probabilities(["the cat sat on the mat ."])
    causal.log_probabilities([f"the cat sat on the mat {mark}" for mark in ".,!."])
    alone, together = nodes
    assert together <= alone + 2
