"""What a run knows of the languages of the attacked texts, and what it must tell where that is not enough."""

from collections.abc import Sequence

from babelquake.attacks.goal import Goal
from babelquake.attacks.language import tagger
from babelquake.data import Dataset
from babelquake.languages import Language, sides
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
    said = "No language pair is named, so texts are taken for English; --language-pair says otherwise."
    return [said] if None in languages else []


def _unlisted(languages: Sequence[Language | None]) -> list[str]:
    without = [language for language in languages if word_lists(language) is None]
    return [f"No stop words of {', '.join(map(str, without))} are known, so none are spared."] if without else []


def _unspaced(goal: Goal, data: Dataset) -> list[str]:
    texts = data.segments["source" if goal.on_system else "translation"].drop_nulls()
    many = 2 * sum(map(is_unspaced, texts)) > len(texts)
    said = "Most texts have no spaces between words: what stands between two marks is one word, and no small edit."
    return [said] if many else []


def _foreign(models: Models, languages: Sequence[Language | None]) -> list[str]:
    """What models of English are worth for texts in other languages."""
    others = [language for language in languages if language is not None and language.code != "en"]
    if not others or not models.of_english:
        return []
    named = " and ".join(models.of_english)
    verb = "is" if len(models.of_english) == 1 else "are"
    return [f"{named} {verb} of English, and texts in {', '.join(others)} are attacked: name models of their language."]
