"""Asking sacreBLEU's 13a once per stretch gives what asking it once per line gives."""

from collections.abc import Hashable, Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from babelquake.scorers.strings.tokenise import tokenised, tokeniser, tokeniser_for

MARKS = st.text(st.sampled_from(list("a1.,-<>skiped&;quotamp\"'() \t\n\0\u00a0\u2028。")), max_size=30)


def _first_seen(rows: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """Rows with each item replaced by its rank of first appearance."""
    rank: dict[Hashable, int] = {}
    return [[rank.setdefault(item, len(rank)) for item in row] for row in rows]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(MARKS, st.text(max_size=20)), max_size=5))
@example(["a\0.\0b, \0 c."])
@example(["<skipped>", "a<skipped>b", "line-\nbreak"])
def test_13a_by_stretch_is_13a_by_line(texts: list[str]) -> None:
    by_line = [tokeniser("13a")(text.rstrip()).split() for text in texts]
    assert _first_seen(tokenised(texts, "13a").rows()) == _first_seen(by_line)


def test_the_target_language_chooses_the_tokeniser() -> None:
    assert [tokeniser_for("auto", lang) for lang in ("de", "zh", "ja", "ko")] == ["13a", "zh", "ja-mecab", "ko-mecab"]
    assert tokeniser_for("char", "zh") == "char"
