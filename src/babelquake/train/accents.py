"""Letters in disguise, to train a byte encoder that has no normaliser: é, ᵉ, Ⓔ and ḝ for e.

A subword encoder takes accents off before it looks at a text; what reads bytes must learn to see through them. The
disguises of a letter are those of the Unicode database: characters that decompose to it (NFKD), and Latin letters
that are named after it. Nothing here comes from the perturbations' tables.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from babelquake.train.batches import Masked
from babelquake.train.corpus import Integers

NAMED = re.compile(
    r"LATIN (?:SMALL |CAPITAL |LETTER |SUBSCRIPT |MODIFIER |TURNED |REVERSED |OPEN )+([A-Z])(?: WITH .*)?"
)
LAST = 0xFFFF
MOST = 3
"""Bytes of the longest disguise: UTF-8 needs no more below U+10000."""
STRONGEST = 0.4
"""The share of a text's letters that are disguised is drawn between none and this."""


@dataclass(frozen=True)
class Table:
    """The disguises of the 256 bytes: `codes[byte, i]` holds UTF-8 bytes, `sizes[byte, i]` how many; `counts[byte]`."""

    codes: Integers
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]


@cache
def disguises() -> Table:
    """Every disguise of the ASCII letters, whichever case the disguise has."""
    found: dict[str, list[bytes]] = {}
    for number in range(0x80, LAST + 1):
        if letter := disguised(chr(number)):
            found.setdefault(letter, []).append(chr(number).encode("utf-8"))
    most = max(len(codes) for codes in found.values())
    codes = np.zeros((256, most, MOST), np.int32)
    sizes, counts = np.ones((256, most), np.int64), np.zeros(256, np.int64)
    for letter, some in found.items():
        for byte in (ord(letter), ord(letter.upper())):
            counts[byte] = len(some)
            for place, code in enumerate(some):
                codes[byte, place, : len(code)] = list(code)
                sizes[byte, place] = len(code)
    return Table(codes, sizes, counts)


def disguised(character: str) -> str | None:
    """The lower-case letter that a character stands for, if it stands for one."""
    if unicodedata.category(character)[0] not in "LS":
        return None
    letters = [part for part in unicodedata.normalize("NFKD", character) if part.isalpha()]
    if len(letters) == 1 and letters[0].isascii():
        return letters[0].lower()
    named = NAMED.fullmatch(unicodedata.name(character, ""))
    return named[1].lower() if named else None


def disguise(batch: Masked, share: float, first: int, width: int, rng: np.random.Generator) -> Masked:
    """Disguise letters in a share of the rows; at each, the letter itself is to be guessed. Rows are cut at `width`.

    `first` is the token number of byte 0. What is hidden already stays as it is.
    """
    table = disguises()
    tokens, attention = batch.tokens, batch.attention
    bytes_ = np.clip(tokens - first, 0, 255)
    rate = np.where(rng.random(len(tokens)) < share, rng.random(len(tokens)) * STRONGEST, 0.0)
    chosen = attention & (tokens >= first) & (tokens < first + 256) & (table.counts[bytes_] > 0)
    chosen &= rng.random(tokens.shape) < rate[:, None]
    chosen.ravel()[batch.positions] = False
    which = (rng.random(tokens.shape) * table.counts[bytes_]).astype(np.int64)
    sizes = np.where(attention, np.where(chosen, table.sizes[bytes_, which], 1), 0)
    starts = np.cumsum(sizes, axis=1) - sizes
    lengths = np.minimum(sizes.sum(1), width)
    made = np.zeros((len(tokens), -(-int(lengths.max()) // 8) * 8), np.int32)
    rows, columns = np.nonzero(attention)
    for offset in range(MOST):
        here = sizes[rows, columns] > offset
        row, column = rows[here], columns[here]
        target = starts[row, column] + offset
        fits = target < made.shape[1]
        row, column, target = row[fits], column[fits], target[fits]
        code = table.codes[bytes_[row, column], which[row, column], offset] + first
        made[row, target] = np.where(chosen[row, column], code, tokens[row, column])
    places = np.concatenate([batch.positions, np.flatnonzero(chosen)])
    targets = np.concatenate([batch.targets, tokens[chosen].astype(np.int64)])
    row, start = places // tokens.shape[1], starts.ravel()[places]
    kept = start < lengths[row]
    positions = row[kept] * made.shape[1] + start[kept]
    return Masked(made, np.arange(made.shape[1]) < lengths[:, None], positions, targets[kept])
