"""What the word lists promise to the perturbations that read them."""

from collections import Counter
from importlib.resources import files
from typing import Any

import pytest
import yaml

LEXICON = files("babelquake") / "perturb" / "lexicon"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "uk")
LISTS = ("determiners", "negation", "function_words", "negatable", "months", "weekdays")
MAPPINGS = ("pronoun_gender", "abbreviations", "informal", "units")
FUNCTION_WORDS_AT_LEAST = {"en": 250, "de": 300}
ABBREVIATIONS_AT_LEAST = {"en": 15, "de": 15}
INFORMAL_AT_LEAST = {"en": 25, "de": 10, "fr": 10, "es": 10}
TYPOS_AT_LEAST = {"en": 510, "de": 230, "fr": 195, "es": 185}


def words_of(language: str) -> dict[str, Any]:
    """The closed-class words of one language, as they are on disk."""
    loaded: dict[str, Any] = yaml.safe_load((LEXICON / "words" / f"{language}.yaml").read_text(encoding="utf-8"))
    return loaded


def typos_of(language: str) -> list[list[str]]:
    """One list a line: the right word, then its misspellings."""
    text = (LEXICON / "natural-typos" / f"{language}.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_a_string(language: str) -> None:
    words = words_of(language)
    assert set(words) == {*LISTS, *MAPPINGS, "negator", "negator_position"}
    for key in LISTS:
        assert all(isinstance(word, str) and word == word.strip() != "" for word in words[key]), key
    for key in MAPPINGS:
        assert all(isinstance(part, str) and part for pair in words[key].items() for part in pair), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_list_repeats_a_word(language: str) -> None:
    words = words_of(language)
    for key in LISTS:
        assert [word for word, count in Counter(words[key]).items() if count > 1] == [], key


@pytest.mark.parametrize("language", LANGUAGES)
def test_closed_classes_are_lower_case(language: str) -> None:
    words = words_of(language)
    for key in ("determiners", "negation", "function_words", "negatable"):
        assert [word for word in words[key] if word != word.lower()] == [], key


@pytest.mark.parametrize("language", LANGUAGES)
def test_determiners_negation_and_auxiliaries_are_function_words(language: str) -> None:
    words = words_of(language)
    affixes = {word for word in words["negation"] if word.startswith("-") or word.endswith("-")}
    closed = {*words["determiners"], *words["negation"], *words["negatable"]} - affixes
    assert closed <= set(words["function_words"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_are_long_enough_to_be_useful(language: str) -> None:
    words = words_of(language)
    assert len(words["function_words"]) >= FUNCTION_WORDS_AT_LEAST.get(language, 150)
    assert len(words["abbreviations"]) >= ABBREVIATIONS_AT_LEAST.get(language, 8)
    assert len(words["informal"]) >= INFORMAL_AT_LEAST.get(language, 5)
    assert len(words["months"]) == 12
    assert len(words["weekdays"]) == 7


@pytest.mark.parametrize("language", LANGUAGES)
def test_exchanges_change_something(language: str) -> None:
    words = words_of(language)
    for key in MAPPINGS:
        assert [old for old, new in words[key].items() if old == new] == [], key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_negator_is_itself_a_negation(language: str) -> None:
    words = words_of(language)
    assert words["negator"] in words["negation"]
    assert words["negator_position"] in {"after", "before"}


@pytest.mark.parametrize("language", TYPOS_AT_LEAST)
def test_each_word_has_one_to_four_misspellings(language: str) -> None:
    lines = typos_of(language)
    assert len(lines) >= TYPOS_AT_LEAST[language]
    for word, *typos in lines:
        assert 1 <= len(typos) <= 4, word
        assert len(set(typos)) == len(typos), word
        assert word not in typos


@pytest.mark.parametrize("language", TYPOS_AT_LEAST)
def test_a_misspelling_that_is_another_listed_word_is_confused_both_ways(language: str) -> None:
    """German writers take 'das' for 'dass' and 'dass' for 'das'."""
    lines = typos_of(language)
    assert [word for word, count in Counter(word for word, *_ in lines).items() if count > 1] == []
    known = {word: typos for word, *typos in lines}
    confused = {(word, typo) for word, typos in known.items() for typo in typos if typo in known}
    assert all((typo, word) in confused for word, typo in confused)
    assert len(confused) <= 24
