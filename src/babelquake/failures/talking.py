"""Talk: a chat model refuses, comments on its translation, answers instead of translating, or breaks the agreed form.

The form, the lines and the context of an answer cannot be seen in a translation alone: whoever asked says what was sent
(`Pair.exchange`).
"""

import re
from functools import lru_cache

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import usual_ratio
from babelquake.failures.pair import WORD, Pair, Side, Words, remembered, words_of
from babelquake.languages import Language

ENGLISH = Language("en")
"""Chat models talk English whatever they were asked for."""
SERVED = ("en", "cs", "es", "de", "fr")
"""Languages whose ways of answering are listed."""
MARKDOWN = re.compile(r"^\s{0,3}(?:#{1,6} |\* |- |\d+\. |> )|```|\*\*[^*\n]{1,300}\*\*", re.MULTILINE)
PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "'": "'", "‘": "’", "”": "”", "`": "`", "「": "」", "『": "』"}
SHORTEST_NOTE = 15
HEAD = 160
"""Characters at the beginning in which a preamble or refusal stands."""


def _lists(pair: Pair) -> list[Words]:
    return _lists_of(pair.source.language, pair.translation.language)


@lru_cache(maxsize=1024)
def _lists_of(source: Language | None, target: Language | None) -> list[Words]:
    """English first: chat models fall back on it."""
    languages = dict.fromkeys((ENGLISH, target, source))
    return [lists for lists in map(words_of, languages) if lists is not None]


def _search(pair: Pair, key: str, text: str) -> re.Match[str] | None:
    """The first match of a list of expressions, in the target language or English, that the source does not have."""
    for lists in _lists(pair):
        pattern = lists.pattern(key)
        if pattern is not None and (found := pattern.search(text)):
            return found
    return None


def _talks(side: Side, pair: Pair) -> bool:
    """A cheap first look: whether a text has a word that refusals, notes and preambles cannot do without."""
    known: bool | None = side.__dict__.get("talks")
    if known is None:
        vocabulary = side.vocabulary
        known = any(not lists.triggers or not lists.triggers.isdisjoint(vocabulary) for lists in _lists(pair))
        side.__dict__["talks"] = known
    return known


@detector("refusal", family="talk", needs=("target language",))
def refusal(pair: Pair) -> Failure | None:
    """A refusal to translate ("I'm sorry, but I cannot …") that the source does not contain."""
    if not _talks(pair.translation, pair):
        return None
    found = _search(pair, "refusal", pair.translation.text[: 2 * HEAD])
    if found is None or _apologises(pair) or ("?" in pair.translation.text and _mentions(pair.source)):
        return None
    return Failure("refusal", 1.0, found.group()[:120], (found.span(),))


def _apologises(pair: Pair) -> bool:
    """Whether the source itself refuses, apologises, or speaks of models and their abilities."""
    return bool(_search(pair, "refusal", pair.source.text)) or bool(SAYS_SO.search(pair.source.text))


SAYS_SO = re.compile(
    r"\b(?:sorry|apolog|regret|unfortunately|can['’]?t|cannot|can not|unable|won['’]?t|couldn['’]?t|not able|"
    r"language model|an ai\b|leid|leider|omlouv|líto|bohužel|siento|lamento|désolé|извин|сожален)",
    re.IGNORECASE,
)


@detector("comment", family="talk", needs=("source", "target language"))
def comment(pair: Pair) -> Failure | None:
    """Something around or instead of the translation: a preamble, a note, quotation marks, Markdown, alternatives."""
    text, source = pair.translation.text, pair.source.text
    if _talks(pair.translation, pair) and not _mentions(pair.source):
        head = _search(pair, "preamble", text[:HEAD])
        if head is not None and head.start() < HEAD // 2 and not _search(pair, "preamble", source):
            return Failure("comment", 1.0, head.group()[:120], (head.span(),))
        note = _search(pair, "note", text) if ":" not in source else None
        if note is not None and len(text) - note.end() >= SHORTEST_NOTE and not _has_note(pair, note):
            return Failure("comment", 1.0, text[note.start() : note.start() + 120], (note.span(),))
    return _markdown(text, source) or _quoted(text, source)


@remembered
def _mentions(source: Side) -> bool:
    """Whether a source speaks of translating or notes itself."""
    return SPEAKS_OF_IT.search(source.text) is not None


SPEAKS_OF_IT = re.compile(
    r"translat|\bnotes?\b|\bp\.?s\.?\b|explan|alternativ|překl|poznám|traduc|\bnota|übersetz|anmerkung|hinweis|"
    r"traduct|remarque|перевод|примеч|переклад|tłumacz|uwaga|翻[译訳]|"
    r"\benglish\b|\bczech\b|\bspanish\b|\bgerman\b|\bfrench\b",
    re.IGNORECASE,
)


def _has_note(pair: Pair, note: re.Match[str]) -> bool:
    """Whether the source has such a note itself, or a bracket that became one."""
    source = pair.source.text
    if _search(pair, "note", source):
        return True
    return note.group().lstrip()[:1] in "(（[" and any(char in source for char in "(（[")


def _markdown(text: str, source: str) -> Failure | None:
    if "*" not in text and "#" not in text and "`" not in text and "\n" not in text:
        return None
    found = MARKDOWN.search(text)
    if found is None or any(char in source for char in "*#`_>\n") or (found.group().strip() in source):
        return None
    return Failure("comment", 1.0, found.group()[:80], (found.span(),))


def _quoted(text: str, source: str) -> Failure | None:
    """Quotation marks around the whole translation that the source does not have."""
    text = text.strip()
    if len(text) < 3 or PAIRS.get(text[0]) != text[-1] or any(mark in source for mark in "\"“”„«»'‘’`*「」『』《》‹›"):
        return None
    inner = text[1:-1]
    if text[0] in inner or text[-1] in inner:
        return None
    return Failure("comment", 1.0, f"{text[0]}…{text[-1]} around the whole translation", ((0, len(text)),))


@detector("answer", family="talk", needs=("source", "source language", "target language"), languages=SERVED)
def answer(pair: Pair) -> Failure | None:
    """The source's question or instruction was answered instead of translated."""
    source, text = pair.source.text, pair.translation.text
    asks = source.rstrip(" \"'”“»)}]")[-1:] in ("?", "？")
    if not asks and "?" not in source:
        return None
    if _answers(pair) and not SPEAKS_OF_ANSWERS.search(source):
        found = _search(pair, "answering", text[: 2 * HEAD])
        if found is not None and not _search(pair, "answering", source):
            return Failure("answer", 1.0, found.group()[:120], (found.span(),))
    if text.count('"output"') > source.count('"output"') and text.count('"input"') < source.count('"input"'):
        return Failure("answer", 1.0, text[text.rindex('"output"') :][:120])
    if not asks:
        return None
    last = max(map(text.rfind, "?？"))
    if last < 0:
        return _statement(pair)
    said = text[last + 1 :].strip(" \"'”“»)}]\n.…!")
    said_words = WORD.findall(said.lower())
    if (
        len(said) < 40
        or len(set(said_words)) < 0.5 * len(said_words)
        or len(text) < 1.4 * _usual_length(pair)
        or source.count("?") < 1 + text.count("¿")
    ):
        return None
    return Failure("answer", 0.9, said[:120], ((last + 1, len(text)),))


def _answers(pair: Pair) -> bool:
    """A cheap first look: whether a text has a word that the usual openings of answers cannot do without."""
    vocabulary = pair.translation.vocabulary
    return any(not lists.answer_triggers.isdisjoint(vocabulary) for lists in _lists(pair))


def _statement(pair: Pair) -> Failure | None:
    """An answer without a question mark: it begins with yes or no, or says far more than the question."""
    source, text = pair.source.text, pair.translation.text
    first = WORD_AND_COMMA.match(text)
    if first is not None and not WORD_AND_COMMA.match(source):
        said = first.group(1).lower()
        if any(said in lists.yes_no for lists in _lists(pair)) and not _has_yes_or_no(pair):
            return Failure("answer", 0.9, text[:120], ((0, len(text)),))
    words = pair.translation.words
    if len(pair.translation.vocabulary) < 0.5 * len(words):
        return None
    if len(text) > 1.8 * _usual_length(pair) + 20 and len(SENTENCES.findall(text)) > 1 + len(SENTENCES.findall(source)):
        return Failure("answer", 0.8, text[:120], ((0, len(text)),))
    return None


def _has_yes_or_no(pair: Pair) -> bool:
    lists = pair.source.lexicon
    return lists is None or not lists.yes_no.isdisjoint(pair.source.words[:3])


def _usual_length(pair: Pair) -> float:
    return (usual_ratio(pair.source.language, pair.translation.language) or 1.0) * len(pair.source.text)


SPEAKS_OF_ANSWERS = re.compile(
    r"\banswer|\bquestion|^\W*[AQ]\s*:|odpově|otázk|pregunt|respuest|antwort|frage|répon", re.IGNORECASE
)
WORD_AND_COMMA = re.compile(r"\W*([^\W\d_]+)[,.!]\s")
SENTENCES = re.compile(r"[^\W_]{2}[.!?:]+(?:\s|$)")


@detector("misfit", family="exchange", needs=("exchange",))
def misfit(pair: Pair) -> Failure | None:
    """The answer of a chat model is not of the form that was declared, or was cut off."""
    exchange = pair.exchange
    return Failure("misfit", 1.0, exchange.misfit) if exchange is not None and exchange.misfit else None


@detector("sentence-omitted", family="exchange", needs=("exchange", "lines"))
def sentence_omitted(pair: Pair) -> Failure | None:
    """The translation of a document has fewer lines than were sent."""
    lines = pair.exchange.lines if pair.exchange is not None else ()
    return next((_lines("sentence-omitted", sent, said) for sent, said in lines if said < sent), None)


@detector("context-leaked", family="exchange", needs=("exchange", "lines"))
def context_leaked(pair: Pair) -> Failure | None:
    """The translation of a document says what was not sent, or was sent as context."""
    if pair.exchange is None:
        return None
    if pair.exchange.foreign:
        return Failure("context-leaked", 1.0, pair.exchange.foreign)
    return next((_lines("context-leaked", sent, said) for sent, said in pair.exchange.lines if said > sent), None)


def _lines(kind: str, sent: int, said: int) -> Failure:
    return Failure(kind, abs(said - sent) / max(said, sent), f"{said} lines for {sent} sentences")
