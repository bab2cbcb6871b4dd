"""What the word lists promise to the perturbations that read them."""

from collections import Counter
from importlib.resources import files
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import yaml

from babelquake.data import read
from babelquake.perturb import perturb

LEXICON = files("babelquake") / "perturb" / "lexicon"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "uk")
LISTS = ("determiners", "negation", "function_words", "negatable", "months", "weekdays")
MAPPINGS = ("pronoun_gender", "abbreviations", "informal", "units")
FUNCTION_WORDS_AT_LEAST = {"en": 250, "de": 300}
ABBREVIATIONS_AT_LEAST = {"en": 15, "de": 15}
INFORMAL_AT_LEAST = {"en": 25, "de": 10, "fr": 10, "es": 10}
TYPOS_AT_LEAST = {"en": 6000, "de": 5500, "fr": 750, "es": 700, "cs": 500}


def words_of(language: str) -> dict[str, Any]:
    """The closed-class words of one language, as they are on disk."""
    loaded: dict[str, Any] = yaml.safe_load((LEXICON / "words" / f"{language}.yaml").read_text(encoding="utf-8"))
    return loaded


def typos_of(language: str) -> list[list[str]]:
    """One list a line: the right word, then its misspellings."""
    text = (LEXICON / "natural-typos" / f"{language}.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


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
def test_real_words_are_confused_where_somebody_wrote_it_down(language: str) -> None:
    """German writers take 'das' for 'dass'; rules never make one word of another."""
    lines = typos_of(language)
    assert [word for word, count in Counter(word for word, *_ in lines).items() if count > 1] == []
    text = (LEXICON / "natural-typos" / f"{language}.txt").read_text(encoding="utf-8")
    by_hand = {line.split()[0] for line in text.partition("# from here on")[0].splitlines()}
    known = {word for word, *_ in lines}
    confused = {(word, typo) for word, *typos in lines for typo in typos if typo in known}
    assert {word for word, _ in confused} <= by_hand
    assert len(confused) <= 40


@pytest.mark.parametrize("language", ["de", "en"])
def test_most_news_sentences_change(language: str) -> None:
    """At the default level, on the bundled sample: 13 of 300 German sentences changed when the lists were short."""
    texts = read("sample").segments["source" if language == "de" else "references"].to_list()[:300]
    flat = [text if isinstance(text, str) else text[0] for text in texts]
    changed = perturb("natural-typo", flat, lang=language)
    assert sum(new != old for new, old in zip(changed, flat, strict=True)) > 150


def test_the_lists_are_what_the_script_makes() -> None:
    """French, Spanish and Czech come from words in the repository alone."""
    made = run_path(str(Path(__file__).parents[2] / "scripts" / "make_typos.py"))
    for language in ("fr", "es", "cs"):
        words = [
            word
            for line in made["ROOT"].joinpath("scripts/typo_words", f"{language}.txt").read_text("utf-8").splitlines()
            if not line.startswith("#")
            for word in line.split()
        ]
        known = {word: typos for word, *typos in typos_of(language)}
        by_rule = {word: made["chosen"](word, language, Counter(set(words)), 0) for word in words}
        kept = [word for word, typos in by_rule.items() if typos and known.get(word) == typos]
        assert len(kept) >= 0.85 * sum(map(bool, by_rule.values()))


@pytest.mark.parametrize(("language", "words"), [("fr", 3_000), ("es", 3_000), ("cs", 900)])
def test_regular_words_are_listed_in_their_forms(language: str, words: int) -> None:
    """No misspelling is another form of a regular word, such as Spanish lloro for lloró."""
    made = run_path(str(Path(__file__).parents[2] / "scripts" / "make_typos.py"))
    lines = typos_of(language)
    assert len(lines) > words
    forms = {form for place in (0, 1) for form in made["inflected"](language, place)}
    assert len(forms & {word for word, *_ in lines}) > words / 3
    text = (LEXICON / "natural-typos" / f"{language}.txt").read_text(encoding="utf-8")
    by_hand = {line.split()[0] for line in text.partition("# from here on")[0].splitlines() if line}
    assert [(word, typo) for word, *typos in lines for typo in typos if typo in forms and word not in by_hand] == []
