"""Machinery in a text: what programs read and nobody translates – placeholders, tags, addresses, code.

Perturbations leave it alone, detectors of failures compare it between source and translation.
"""

import re
from functools import lru_cache
from typing import NamedTuple

PLACEHOLDER, TAG, URL, EMAIL, CODE = "placeholder", "tag", "url", "email", "code"

WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese, which put letters right beside machinery: `https://bq.org了解`."""
GLUED = f"{WITHOUT_SPACES}\u0590-\u06ff\u1100-\u11ff\uac00-\ud7af"
"""These and languages whose particles are written in one word with what is beside them: `%s님`, `ב%s`."""

WRITTEN = {
    CODE: r"`[^`\n]{1,300}`|\"[\w-]{1,60}\"\s?:(?=\s?[\"{\[\d])|(?:\\u[0-9a-fA-F]{4})+",
    URL: rf"(?:https?://|ftp://|www\.)[^\s<>\"'«»“”{WITHOUT_SPACES}\u1100-\u11ff\uac00-\ud7af]{{2,2000}}",
    EMAIL: r"[A-Za-z0-9_.+\u00c0-\u052f-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}",
    TAG: r"</?[A-Za-z][\w:.-]{0,60}"
    r"(?:\s+[\w:.-]{1,60}\s*=\s*(?:\"[^\"<>]{0,500}\"|'[^'<>]{0,500}'|[^\s\"'<>]{1,200})){0,20}\s*/?>"
    r"|<!--[^<>]{0,500}-->",
    PLACEHOLDER: r"\{\{\s*[\w.$#/^&|: -]{1,100}\s*\}\}|\$\{[\w.:-]{1,100}\}"
    r"|\{[A-Za-z_$][\w.$-]{0,60}(?:[:!][\w.,%<>+-]{1,60})?\}"
    r"|\{\d{1,3}(?:[:!][\w.,%<>+-]{1,20})?\}|\{\s*\w{1,60}\s*,\s*(?:plural|select|selectordinal|number|date|time)\b"
    rf"|%\(\w{{1,60}}\)[#0 +-]{{0,3}}\d{{0,3}}(?:\.\d{{1,3}})?[sdifgexXr](?:\b|(?=[{GLUED}]))"
    rf"|(?:(?<![\w%])|(?<=[{GLUED}]))%(?:\d{{1,2}}\$)?(?:\.\d{{1,2}})?(?:l{{1,2}})?[sdifu@](?:(?![\w%])|(?=[{GLUED}]))"
    r"|%[A-Z][A-Z_]{1,40}%|__[A-Z][A-Z_]{1,40}__|\[\[\s*[\w.$-]{1,60}\s*\]\]",
}
"""How each kind is written; every repetition is bounded, so that a text of 10,000 tags takes time in proportion."""
HINTS = ("<", "{", "`", "%", "@", "://", "www.", "[[", "__", "\\u", '":')
"""Without one of these there is no machinery."""
NEEDED = {
    CODE: ("`", '"', "\\u"),
    URL: ("://", "www."),
    EMAIL: ("@",),
    TAG: ("<",),
    PLACEHOLDER: ("{", "%", "[[", "__"),
}
"""Without one of these there is none of a kind."""
MOST_NESTED = 50


class Machine(NamedTuple):
    """A stretch of machinery: `text[start:end]`."""

    kind: str
    start: int
    end: int
    text: str


def machinery(text: str) -> list[Machine]:
    """Placeholders, tags, addresses, code and JSON keys in a text, in order; an ICU message is one placeholder."""
    for hint in HINTS:
        if hint in text:
            break
    else:
        return []
    found, end = [], 0
    kinds = tuple([kind for kind, needed in NEEDED.items() if any(map(text.__contains__, needed))])
    for match in _expression(kinds).finditer(text):
        kind, start = str(match.lastgroup), match.start()
        if start < end:
            continue
        end = match.end()
        if kind == PLACEHOLDER and text[end - 1] not in "}%])" and text[start] == "{":
            end = _closing(text, start)
        elif kind == URL:
            end -= len(match.group()) - len(match.group().rstrip(".,;:!?)]}…*"))
        found.append(Machine(kind, start, end, text[start:end]))
    return found


@lru_cache(maxsize=64)
def _expression(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for some kinds: the fewer, the quicker."""
    return re.compile("|".join(f"(?P<{kind}>{WRITTEN[kind]})" for kind in kinds))


def _closing(text: str, start: int) -> int:
    """Where the braces of an ICU message close; the end of its head where they never do."""
    depth = 0
    for place in range(start, min(len(text), start + 5000)):
        if text[place] == "{":
            depth += 1
            if depth > MOST_NESTED:
                break
        elif text[place] == "}":
            depth -= 1
            if not depth:
                return place + 1
    return text.find(",", start) + 1


def without_machinery(text: str, found: list[Machine]) -> str:
    """The prose that is left: a space in place of each stretch of machinery."""
    if not found:
        return text
    pieces, position = [], 0
    for item in found:
        pieces += [text[position : item.start], " "]
        position = item.end
    return "".join([*pieces, text[position:]])
