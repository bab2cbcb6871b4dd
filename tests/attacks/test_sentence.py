"""Sentences come apart and together again, and know what was done to them."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.sentence import Edit, Sentence

TEXT = '"Hello," she said: well-known cats don\'t bark.'


@given(st.text())
def test_a_text_is_its_words_and_gaps(text: str) -> None:
    sentence = Sentence.of(text)
    pieces = [piece for pair in zip(sentence.gaps, sentence.words, strict=False) for piece in pair]
    assert "".join(pieces) + sentence.gaps[-1] == text
    assert len(sentence.gaps) == len(sentence.words) + 1 == len(sentence.origins) + 1


@given(st.text(), st.data())
def test_changes_agree_with_the_text_they_give(text: str, data: st.DataObject) -> None:
    sentence = Sentence.of(text)
    if len(sentence.words) < 2:
        return
    place = data.draw(st.integers(0, len(sentence.words) - 2))
    for changed in (
        sentence.replaced(place, "word"),
        sentence.inserted(place, "word"),
        sentence.without(place),
        sentence.merged(place, "word"),
    ):
        pieces = [piece for pair in zip(changed.gaps, changed.words, strict=False) for piece in pair]
        assert "".join(pieces) + changed.gaps[-1] == changed.text
        assert len(changed.words) == len(changed.origins)


def test_each_change_keeps_punctuation_and_one_space() -> None:
    sentence = Sentence.of(TEXT)
    assert sentence.words == ("Hello", "she", "said", "well-known", "cats", "don't", "bark")
    assert sentence.replaced(0, "Hi").text == TEXT.replace("Hello", "Hi")
    assert sentence.inserted(4, "old").text == TEXT.replace("cats", "old cats")
    assert sentence.without(0).text == '"," she said: well-known cats don\'t bark.'
    assert sentence.without(2).text == '"Hello," she: well-known cats don\'t bark.'
    assert sentence.without(6).text == '"Hello," she said: well-known cats don\'t.'
    assert sentence.merged(3, "lions").text == '"Hello," she said: lions don\'t bark.'


def test_places_are_followed_through_insertions_and_deletions() -> None:
    sentence = Sentence.of("one two three four").inserted(1, "new").without(0)
    assert sentence.text == "new two three four"
    assert sentence.origins == (1, 1, 2, 3)
    assert sentence.touched == {0, 1}
    assert sentence.edits == (Edit("insert", 1, "", "new"), Edit("delete", 0, "one", ""))


def test_a_merge_is_one_edit() -> None:
    merged = Sentence.of("a very big dog").merged(1, "huge")
    assert merged.text == "a huge dog"
    assert merged.edits == (Edit("merge", 1, "very big", "huge"),)
    assert merged.touched == {1}
