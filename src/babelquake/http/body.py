"""What a service wrote: JSON, the whole part of JSON that was cut off, or its own words about an error."""

import json
import re
from functools import cache
from typing import Any

MARKS = re.compile(r'"(?:[^"\\]++|\\.)*+("?)|[\[\]{}]', re.DOTALL)
"""What says where JSON could be closed: strings, of which the last may be cut, and brackets outside of them."""
SHORTEST_KEY = 8
"""Characters of a key that is masked in answers; local servers are often given a short word."""
DEEPEST = 64
"""How deeply an answer may be nested."""


def parsed(content: bytes) -> Any:
    """The JSON, or None where there is none; nesting too deep to read counts as none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def salvaged(content: bytes) -> Any:
    """The JSON up to the last list entry that was received whole, where an answer was cut off; None if there is none.

    A service answers in the order it was asked, so that the entries before the cut belong to the first texts. One pass
    over the marks that count; what is nested deeper than any service's answer is none.
    """
    text = content.decode("utf-8", "ignore")
    stack: list[str] = []
    whole: tuple[int, str] | None = None
    for mark in MARKS.finditer(text):
        char = mark[0][0]
        if char == '"' and not mark[1]:
            break
        if char in "[{":
            if len(stack) == DEEPEST:
                return None
            stack.append("]" if char == "[" else "}")
            continue
        if char in "]}" and (not stack or stack.pop() != char):
            return None
        if stack and stack[-1] == "]":
            whole = mark.end(), "".join(reversed(stack))
    return parsed((text[: whole[0]] + whole[1]).encode()) if whole else None


def message(body: Any) -> str:
    """What the service says went wrong, in any of the shapes in use."""
    said = body
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return said if isinstance(said, str) else ""


def is_web_page(content: bytes) -> bool:
    """Whether this is mark-up for people, such as a hotel's log-in page."""
    return content.lstrip()[:1] == b"<"


def without_secret(text: str, secret: str | None) -> str:
    """The text with a key taken out, also where each of its characters may be URL-encoded."""
    return _as_it_may_be_written(secret).sub("[key]", text) if secret else text


def masked(body: Any, secret: str | None) -> Any:
    """An answer without the key that a server may have put into it: answers go to caches, tables and reports.

    What is short or a plain word is not a key worth hiding, and may well occur in a translation.
    """
    if not secret or len(secret) < SHORTEST_KEY or secret.isalpha():
        return body
    if isinstance(body, str):
        return without_secret(body, secret)
    if isinstance(body, list):
        return [masked(one, secret) for one in body]
    if isinstance(body, dict):
        return {without_secret(name, secret): masked(one, secret) for name, one in body.items()}
    return body


@cache
def _as_it_may_be_written(secret: str) -> re.Pattern[str]:
    characters = [
        f"(?:{re.escape(char)}|(?i:{''.join(f'%{byte:02x}' for byte in char.encode('utf-8', 'replace'))}))"
        for char in secret
    ]
    return re.compile("".join(characters))
