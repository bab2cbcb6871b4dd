"""Kinds of failure for readers: which family they belong to, what to call them, what to do about them."""

from typing import NamedTuple

from babelquake.failures.base import DETECTORS

OWN_RULES = "your rules"


class Kind(NamedTuple):
    """A kind of failure in plain words."""

    label: str
    remedy: str


ASK_AGAIN = "ask again, or ask another system; babelquake mt --defence fallback measures it"
PUT_BACK = "put it back after translating; babelquake mt --defence repair measures it"
CHAT = "say in the prompt that only the translation is wanted, and that the text is not for the model"
READ = "have these read by a person before they are used"
KINDS = {
    "answer": Kind("question answered", CHAT),
    "comment": Kind("comment around the translation", CHAT),
    "refusal": Kind("refusal", CHAT),
    "obeyed": Kind("instruction obeyed", CHAT),
    "not-translated": Kind("rest not translated", CHAT),
    "copied": Kind("source copied", ASK_AGAIN),
    "empty": Kind("empty", ASK_AGAIN),
    "untranslated": Kind("part left untranslated", ASK_AGAIN),
    "off-target": Kind("wrong language", "check the language that is asked for"),
    "source-language": Kind("left in the source's language", "check the language that is asked for"),
    "mixed": Kind("languages mixed", ASK_AGAIN),
    "script": Kind("wrong script", "check the language that is asked for"),
    "loop": Kind("words repeated over and over", ASK_AGAIN),
    "truncated": Kind("far too short", "check the limits on length; then " + ASK_AGAIN),
    "runaway": Kind("far too long", ASK_AGAIN),
    "detached": Kind("about something else", ASK_AGAIN),
    "number": Kind("number lost or added", READ),
    "unit": Kind("unit changed", READ),
    "date": Kind("date changed", READ),
    "name": Kind("name lost", READ),
    "negation": Kind("negation lost or gained", READ),
    "email": Kind("e-mail address changed", PUT_BACK),
    "url": Kind("web address changed", PUT_BACK),
    "tag": Kind("tag lost or changed", PUT_BACK),
    "placeholder": Kind("placeholder lost or changed", PUT_BACK),
    "symbol": Kind("emoji or rare character lost", READ),
    "misfit": Kind("answer not of the form asked for", CHAT),
    "sentence-omitted": Kind("sentence left out", ASK_AGAIN),
    "context-leaked": Kind("context translated too", CHAT),
}
"""What readers call a kind, and what is known to help against it."""


def family_of(kind: str) -> str:
    """The family on its card; rules of the user's own have none."""
    return DETECTORS.get(kind).family if kind in DETECTORS.names() else OWN_RULES


def failure_label(kind: str) -> str:
    """A kind in plain words; the user's own rules by their names."""
    if kind in KINDS:
        return KINDS[kind].label
    return "your terminology" if kind == "rule:term" else kind.replace("rule:", "your rule ", 1)
