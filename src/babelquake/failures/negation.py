"""Negation: the source denies something and the translation does not.

Languages deny with words, endings and other verbs, and say "easy" for "not hard", so only a plain case is judged: a
text with one negated verb that does not ask, has nothing else to weigh, and a translation of ordinary length without
anything that could deny.
"""

import re

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import relative_length
from babelquake.failures.pair import Pair, Side

SERVED = ("cs", "de", "en", "es", "fr")
"""Target languages whose ways to deny are listed."""
DENIES = {
    "en": re.compile(
        r"\b(?:(?:do|does|did|has|have|had|would|should|could|must)n['’]t|can['’]?t|cannot|won['’]?t|never"
        r"|(?:do|does|did|has|have|had|would|should|could|can|will|must) not)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(r"\b(?:nicht|niemals|nie)\b", re.IGNORECASE),
}
"""Negated verbs, by source language."""
UNLESS = {
    "en": re.compile(
        r"\?|\bnot (?:only|just|that)|\b(?:aren|is|are|was|were|wasn|isn|weren)['’]?(?:t| not)?\b.{0,12}\bnot|"
        r"\b(?:much|many|wait|help|until|till|unless|without|agree|care|only|but|hardly|barely|long|mind|too|enough|yet|"
        r"any ?more|matter|if|whether|why|"
        r"stop|forget|miss|fail|far|once|before|wrong|worse|better|best|no|nor|neither|nothing|"
        r"none|nobody|not|even|give|given|hard|difficult|easy|worry|shit|fuck\w*|damn|crap|hell|lie|lost|last|end|believe|"
        r"seen|good|bad|more|less|ever|leave|let|stand|hesitate|both|either|like|remember|keep)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\?|\b(?:nicht (?:nur|bloß|zuletzt|mehr|ganz|so|sehr|zu|wahr|einmal|genug|lange|weit)|nichts|kein\w*|ohne|"
        r"weder|sondern|aber|wenn|ob|bis|bevor|un\w+|leicht|schwer|vergessen|lassen|wenig\w*|viel|gut|schlecht|"
        r"vielleicht|oder)\b",
        re.IGNORECASE,
    ),
}
"""What makes a denial hard to weigh: questions, other denials, figures of speech, adjectives with an opposite."""
APOSTROPHE = re.compile(r"['’]")
MOSTLY_SOURCE = 0.3
"""The share of the source's words from which a translation was hardly translated, the negation included."""
SHORTEST = 0.6
"""The relative length below which a translation lost more than its negation."""


@detector("negation", family="content", needs=("source", "source language", "target language"), languages=SERVED)
def negation(pair: Pair) -> Failure | None:
    """The source denies something and nothing in the translation does."""
    language, theirs = pair.source.language, pair.translation.lexicon
    if language is None or language.code not in DENIES or theirs is None:
        return None
    found = _denial(pair.source, language.code)
    if not found or relative_length(pair) < SHORTEST:
        return None
    vocabulary = pair.translation.vocabulary
    if not vocabulary.isdisjoint(theirs.negative) or any(
        word.startswith(theirs.negative_starts) for word in vocabulary
    ):
        return None
    if _stripped(found) in _stripped(pair.translation.text) or found.split()[-1].lower() in vocabulary:
        return None
    if len(vocabulary & pair.source.vocabulary) > MOSTLY_SOURCE * len(vocabulary):
        return None
    if any(not theirs.negative.isdisjoint(APOSTROPHE.split(word)) for word in vocabulary if not word.isalpha()):
        return None
    return Failure("negation", 1.0, f"lost: {found}")


def _may_deny(vocabulary: frozenset[str]) -> bool:
    """A cheap first look."""
    return not vocabulary.isdisjoint(DENIALS) or any(word.endswith(("n't", "n’t")) for word in vocabulary)


DENIALS = frozenset(
    ("not", "never", "cannot", "cant", "wont", "can't", "can’t", "won't", "won’t", "nicht", "nie", "niemals")
)


def _stripped(text: str) -> str:
    return APOSTROPHE.sub("", text.lower())


def _denial(side: Side, code: str) -> str:
    """The negated verb of a plain sentence; empty where there is none, or more than one, or anything else to weigh."""
    found: str | None = side.__dict__.get("denial")
    if found is None:
        matches = DENIES[code].findall(side.prose) if _may_deny(side.vocabulary) else []
        plain = len(matches) == 1 and not UNLESS[code].search(DENIES[code].sub(" ", side.prose))
        found = side.__dict__["denial"] = matches[0] if plain else ""
    return found
