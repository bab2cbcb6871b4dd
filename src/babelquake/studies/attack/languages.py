"""What a run knows of the languages of the attacked texts, and what it must tell where that is not enough."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from babelquake.attacks.goal import Goal
from babelquake.attacks.moves.masks import Tags
from babelquake.attacks.sentence import Sentence
from babelquake.data import Dataset
from babelquake.languages import Language, sides
from babelquake.perturb.linguistics import linguistics
from babelquake.perturb.word_lists import word_lists
from babelquake.studies.attack.models import Models
from babelquake.text import is_unspaced


def pairs_of(data: Dataset) -> list[str | None]:
    """The language pairs of the data, None among them where a segment has none."""
    return data.segments["language_pair"].unique().sort().to_list()


def taggers(models: Models, goal: Goal, data: Dataset) -> dict[str, str]:
    """What tells parts of speech, where moves that merge words depend on them."""
    if "masked" not in models.names:
        return {}
    return {"parts of speech": ", ".join(dict.fromkeys(map(tagger, _languages(goal, data))))}


def language_notes(models: Models, goal: Goal, data: Dataset) -> list[str]:
    """What stop words, words and models are worth for texts in these languages."""
    languages = _languages(goal, data)
    return [*_unnamed(languages), *_unlisted(languages), *_unspaced(goal, data), *_foreign(models, languages)]


def _languages(goal: Goal, data: Dataset) -> list[Language | None]:
    """The languages of the attacked texts, each once."""
    return list(dict.fromkeys(sides(pair)[0 if goal.on_system else 1] for pair in pairs_of(data)))


def _unnamed(languages: Sequence[Language | None]) -> list[str]:
    said = "No language pair given: texts are taken to be English. Use --language-pair for another language."
    return [said] if None in languages else []


def _unlisted(languages: Sequence[Language | None]) -> list[str]:
    without = [language for language in languages if word_lists(language) is None]
    return [f"No stop words of {', '.join(map(str, without))} are known, so none are spared."] if without else []


def _unspaced(goal: Goal, data: Dataset) -> list[str]:
    texts = data.segments["source" if goal.on_system else "translation"].drop_nulls()
    many = 2 * sum(map(is_unspaced, texts)) > len(texts)
    said = "Most texts have no spaces between words: all between two punctuation marks counts as one word."
    return [said] if many else []


def _foreign(models: Models, languages: Sequence[Language | None]) -> list[str]:
    """What models of English are worth for texts in other languages."""
    others = [language for language in languages if language is not None and language.code != "en"]
    if not others or not models.of_english:
        return []
    named = " and ".join(models.of_english)
    verb = "is" if len(models.of_english) == 1 else "are"
    return [f"{named} {verb} of English, and texts in {', '.join(others)} are attacked: name models of their language."]


WORDS = 1 << 16
"""Words of which is remembered whether they are stop words: every candidate is asked about its own."""


def stop_words(lang: Language | None) -> Callable[[str], bool]:
    """Whether a word is a closed-class word of the language, in any letter case; a language without lists has none."""
    lists = word_lists(lang)
    return (lambda word: False) if lists is None else lru_cache(WORDS)(lists.is_function_word)


def tagger(lang: Language | None) -> str:
    """What tells the parts of speech of the language's words, for signatures."""
    return linguistics(lang).name


def tags(lang: Language | None) -> Tags:
    """Parts of speech as the language's tagger, or its word lists, tell them; it is loaded by the first question."""

    def of(sentence: Sentence) -> Sequence[str]:
        found = [(span.start, span.end, tag) for span, tag in linguistics(lang).tags(sentence.text)]
        result, start, token = [], 0, 0
        for gap, word in zip(sentence.gaps, sentence.words, strict=False):
            start += len(gap)
            while token < len(found) and found[token][1] <= start:
                token += 1
            result.append(found[token][2] if token < len(found) and found[token][0] <= start else "X")
            start += len(word)
        return result

    return of
