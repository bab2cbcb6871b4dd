"""Shared n-grams are what counting them one by one gives."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.scorers.base import Questions
from babelquake.scorers.strings.ngrams import shared, totals
from babelquake.scorers.strings.pairs import Pairs
from babelquake.scorers.strings.symbols import code_points

TEXT = st.text("ab猫", max_size=12)
ORDER = 4


def _count(text: str, n: int) -> Counter[str]:
    return Counter(text[start : start + n] for start in range(len(text) - n + 1))


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), max_size=6))
def test_shared_n_grams_are_counted_as_often_as_any_reference_has_them(segments: list[tuple[str, list[str]]]) -> None:
    pairs = Pairs.of(Questions([pair[0] for pair in segments], [pair[1] for pair in segments]))
    symbols = code_points(pairs.texts)
    found = shared(symbols, pairs.translation, pairs.reference_set, pairs.set_starts, pairs.members, ORDER)
    for row, (text, references) in zip(found, segments, strict=True):
        for n in range(1, ORDER + 1):
            most: Counter[str] = Counter()
            for reference in references:
                most |= _count(reference, n)
            assert row[n - 1] == (_count(text, n) & most).total()


def test_a_text_of_three_symbols_has_three_two_one_and_no_n_grams() -> None:
    assert totals(np.array([3, 0]), ORDER).tolist() == [[3, 2, 1, 0], [0, 0, 0, 0]]
