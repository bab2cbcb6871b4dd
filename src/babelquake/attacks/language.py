"""What attacks know of the attacked text's language: its stop words, and the parts of speech of its words."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from babelquake.attacks.moves.masks import Tags
from babelquake.attacks.sentence import Sentence
from babelquake.languages import Language
from babelquake.perturb.linguistics import linguistics
from babelquake.perturb.word_lists import word_lists

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
