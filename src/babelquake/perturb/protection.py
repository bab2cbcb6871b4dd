"""Machinery is left alone: a perturbation is shown one sign for each placeholder, tag, address or stretch of code.

The signs are private characters, neither letters nor punctuation, so that no perturbation changes them; afterwards each
becomes again what it stood for. A change that lost or doubled one does not apply to that text.
"""

import re
from dataclasses import dataclass
from typing import overload

from babelquake.machinery import machinery
from babelquake.perturb.masked_gaps import Asking
from babelquake.text import replaced

FIRST, MOST = 0xF0000, 0xFFFD
"""The private characters of plane 15 that stand for machinery."""
SIGNS = re.compile(f"[{chr(FIRST)}-{chr(FIRST + MOST)}]")


@dataclass(frozen=True)
class Hidden:
    """A text with signs in the place of its machinery."""

    text: str
    pieces: tuple[str, ...]
    """What the signs stand for, in order."""

    @overload
    def restored(self, changed: str | None) -> str | None: ...
    @overload
    def restored(self, changed: Asking) -> Asking: ...
    @overload
    def restored(self, changed: str | Asking | None) -> str | Asking | None: ...
    def restored(self, changed: str | Asking | None) -> str | Asking | None:
        """What a perturbation made of it, with the machinery again; a change under way is followed to its end."""
        if changed is None or isinstance(changed, str):
            return self._shown(changed)
        return self._followed(changed)

    def _followed(self, changing: Asking) -> Asking:
        changed = yield from changing
        return self._shown(changed)

    def _shown(self, changed: str | None) -> str | None:
        if changed is None:
            return None
        signs = [ord(sign) - FIRST for sign in SIGNS.findall(changed)]
        if sorted(signs) != list(range(len(self.pieces))):
            return None
        return SIGNS.sub(lambda sign: self.pieces[ord(sign.group()) - FIRST], changed)


def hidden_in(text: str) -> Hidden | None:
    """The text with its machinery hidden; None where it has none, or has such signs itself."""
    found = machinery(text)
    if not found or len(found) > MOST or SIGNS.search(text):
        return None
    signs = [(item.start, item.end, chr(FIRST + number)) for number, item in enumerate(found)]
    return Hidden(replaced(text, signs), tuple(item.text for item in found))
