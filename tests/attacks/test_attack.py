"""A limit of questions to the victim."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.attack import Budget
from babelquake.attacks.moves import MaskInsert, MaskMerge, MaskReplace
from babelquake.attacks.search import beam
from babelquake.resource import Gap

WISHES = st.lists(st.tuples(st.sampled_from(("score", "likeness")), st.sampled_from("abcdef"), st.integers(1, 3)))


@given(st.integers(1, 12), WISHES)
def test_no_more_is_promised_than_there_is_and_nothing_is_paid_twice(
    most: int, wishes: list[tuple[str, str, int]]
) -> None:
    budget, paid = Budget(most), {}
    for what, text, cost in wishes:
        before = budget.left
        if budget.take(what, text, cost):
            paid.setdefault((what, text), cost)
        else:
            assert cost > before and budget.refused
    assert budget.spent == sum(paid.values()) <= most
    assert budget.left == most - budget.spent


@given(st.integers(0, 40), st.integers(0, 60), st.integers(1, 4))
def test_a_part_leaves_half_of_the_questions(most: int, count: int, cost: int) -> None:
    budget, things = Budget(most), list(range(count))
    part = budget.some(things, cost)
    assert budget.refused == (len(part) < count or cost * count >= most)
    assert cost * len(part) <= max(most / 2, cost) or cost * count < most
    assert not things or part[0] == 0
    steps = {later - earlier for earlier, later in pairwise(part)}
    assert len(steps) <= 1


def test_without_a_limit_everything_may_be_asked() -> None:
    budget = Budget(None)
    assert budget.some("abc", 100) == "abc"
    assert all(budget.take("score", str(number), 1000) for number in range(100)) and not budget.refused


@given(st.integers(1, 40), st.integers(0, 200))
def test_places_are_no_more_than_questions_and_evenly_apart(most: int, count: int) -> None:
    budget, places = Budget(most), list(range(count))
    kept = budget.within(places)
    assert len(kept) <= most and budget.refused == (count > most)
    assert kept == places or (kept[0] == 0 and len({later - earlier for earlier, later in pairwise(kept)}) <= 1)


def test_a_long_text_is_not_masked_at_places_that_cannot_be_asked_about(toys: Any) -> None:
    moves = (MaskReplace(50), MaskInsert(50), MaskMerge(lambda sentence: ["NOUN"] * len(sentence.words), 50))
    log: list[list[Any]] = []
    attack = toys.attack_on("cat sat mat " * 200, moves, max_queries=20)
    outcome = toys.driven(attack.running(beam), None, log)
    gaps = [sum(isinstance(request, Gap) for request in asked) for asked in log]
    assert 0 < max(gaps) <= 20 and outcome.queries <= 20
