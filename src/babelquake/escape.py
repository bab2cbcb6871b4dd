"""Make invisible characters visible: a reader must see what a text holds, and no text may rearrange the page."""

import re

HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
"""Control characters, unpaired surrogates, and what has no width or turns the direction."""
PICTURES = {0x0A: "↵", 0x7F: "␡"}


def visible(text: str) -> str:
    """Control, bidi and zero-width characters as pictures (␀) or code points (⟨U+202E⟩)."""
    return HIDDEN.sub(lambda found: _shown(found.group()), text)


def _shown(char: str) -> str:
    code = ord(char)
    return PICTURES.get(code) or (chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩")
