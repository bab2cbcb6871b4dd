"""A kind of failure as a scorer."""

import pytest

from babelquake.errors import UserError
from babelquake.scorers import scorer

SOURCES = ["I owe 25 euros.", "I owe 25 euros.", "Hello {name}!"]
TRANSLATIONS = ["Dlužím 25 eur.", "Dlužím 52 eur.", "Ahoj!"]


def test_a_failure_counts_a_hundred_and_the_mean_is_a_rate() -> None:
    number = scorer("failure[kind=number,languages=en-cs]")
    assert number.segments(TRANSLATIONS, sources=SOURCES).tolist() == [0, 100, 0]
    assert scorer("failure[languages=en-cs]").corpus(TRANSLATIONS, sources=SOURCES) == pytest.approx(200 / 3)
    assert not number.higher_is_better


def test_scores_tell_more_than_yes_and_no() -> None:
    loop = scorer("failure[kind=loop,languages=de-en,score=true]")
    some, more = loop.segments(["the dig dig digits of it", "the dig dig dig dig dig dig"], sources=["a b", "a b"])
    assert 0 < some < more


def test_kinds_without_languages_and_mistakes() -> None:
    assert scorer("failure[kind=placeholder]").segments(TRANSLATIONS, sources=SOURCES).tolist() == [0, 0, 100]
    with pytest.raises(UserError, match="languages=en-de"):
        scorer("failure[kind=off-target]")
    with pytest.raises(UserError, match="off-target"):
        scorer("failure[kind=off-targt]")
    with pytest.raises(UserError, match="xh-zu"):
        scorer("failure[kind=negation,languages=xh-zu]")
