"""Words and their n-grams: the same for a text alone and in company, for every script."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babelquake.models.ngram_hash import ngrams, words_of


def rows(found, number: int) -> np.ndarray:
    first, last = found.texts[number], found.texts[number + 1]
    return found.rows[found.words[first] : found.words[last]]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_company_changes_nothing(texts: list[str]) -> None:
    together = ngrams(texts, 15)
    for number, text in enumerate(texts):
        alone = ngrams([text], 15)
        assert np.array_equal(rows(together, number), rows(alone, 0))
        assert len(words_of(text)) == alone.texts[-1]


def test_scripts_without_spaces_have_a_word_per_character() -> None:
    assert words_of("日本語です, ok 12!") == ["日", "本", "語", "で", "す", ",", "ok", "12", "!"]
    assert words_of("トランプ") == ["トランプ"]


def test_names_share_rows_across_scripts() -> None:
    """Trump in other scripts has no letter in common with the Latin word, and rows all the same."""
    latin = set(ngrams(["Trump"], 18).rows.tolist())
    for name in ("Трамп", "ترامب", "טראמפ", "ट्रम्प"):
        assert latin & set(ngrams([name], 18).rows.tolist()), name
    assert not latin & set(ngrams(["стол"], 18).rows.tolist())


def test_case_and_width_do_not_count() -> None:
    assert np.array_equal(ngrams(["HELLO"], 16).rows, ngrams(["ｈｅｌｌｏ"], 16).rows)


def test_lone_surrogates_and_long_texts_are_read() -> None:
    assert ngrams(["\ud800 a"], 12).texts[-1] == 2
    assert ngrams(["a " * 100_000], 12).texts[-1] == 2048
