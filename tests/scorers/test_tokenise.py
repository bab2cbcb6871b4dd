"""Asking sacreBLEU's 13a once per stretch gives what asking it once per line gives."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.scorers.tokenise import tokenised, tokeniser, tokeniser_for

MARKS = st.text(st.sampled_from(list("a1.,-<>skiped&;quotamp\"'() \t\n\u00a0\u2028。")), max_size=30)


def _by_line(texts: list[str]) -> list[list[int]]:
    numbers: dict[str, int] = {}
    lines = [tokeniser("13a")(text.rstrip()).split() for text in texts]
    return [[numbers.setdefault(word, len(numbers)) for word in line] for line in lines]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(MARKS, st.text(max_size=20)), max_size=5))
def test_13a_by_stretch_is_13a_by_line(texts: list[str]) -> None:
    found = tokenised(texts, "13a")
    rows: Any = [found.values[start:stop].tolist() for start, stop in zip(found.starts, found.starts[1:], strict=False)]
    assert rows == _by_line(texts)


def test_the_target_language_chooses_the_tokeniser() -> None:
    assert [tokeniser_for("auto", lang) for lang in ("de", "zh", "ja", "ko")] == ["13a", "zh", "ja-mecab", "ko-mecab"]
    assert tokeniser_for("char", "zh") == "char"
