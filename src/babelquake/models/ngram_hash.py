"""Texts as hashed character n-grams of their words: an open vocabulary for every script, without a tokenizer to train.

A text is normalised (NFKC, lower case) and cut into words: runs of letters and marks, runs of digits, single signs, and
single characters of scripts written without spaces. A word is marked at both ends and gives its 3-, 4- and 5-grams and
itself; a character of a script without spaces gives itself and what it begins with the one and the two that follow. A
word of letters also gives its skeleton, the 3- and 4-grams of it: its consonants in eight classes, the same for Latin,
Cyrillic, Greek, Hebrew, Arabic, Devanagari, Sinhala, Hangul and Katakana, so that names meet across scripts. Each is
a row of a table of 2ᵏ rows (Bojanowski et al. 2017; Weinberger et al. 2009).

Everything is done for many texts at once, so that training and use share one definition.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.paths import rows_of_room

Integers = NDArray[np.int64]
SPACE, LETTER, DIGIT, SIGN, UNSPACED = range(5)
ORDERS = (3, 4, 5)
BASE = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, so that powers of it have inverses among the integers modulo 2⁶⁴."""
MIX = np.uint64(0xBF58476D1CE4E5B9)
SKELETON = np.uint64(0x1D8E4E27C47D124F)
"""What tells a skeleton from a word of the same letters."""
BEGIN, END = 2, 3
"""What marks the ends of a word; control characters that no text holds after normalisation."""
MOST_CHARACTERS = 4096
"""Characters that are read of a text."""
BLOCKS_UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x309F),  # radicals, hiragana
    (0x3100, 0x312F),
    (0x31A0, 0x31EF),
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0x20000, 0x3134F),
)


@cache
def _skeletons() -> NDArray[np.uint8]:
    """For every code point up to two classes of consonants."""
    table = np.zeros((0x20000, 2), dtype=np.uint8)
    sounds = rows_of_room("models", "consonants.tsv")
    for code in range(0x20000):
        base = unicodedata.normalize("NFD", chr(code))[0].lower()
        for sound, letters in sounds:
            if base in letters or chr(code) in letters:
                table[code, : len(sound)] = list(sound.encode())
                break
    first, last = (sounds.replace("-", "").split(" ") for _, sounds in rows_of_room("models", "hangul.tsv"))
    for code, (start, _, end) in enumerate(product(first, range(21), last), start=0xAC00):  # a vowel stands between
        table[code, : len(start + end)] = list((start + end).encode())
    return table


class Ngrams(NamedTuple):
    """The n-grams of several texts: numbers of rows, where each word's begin, and where each text's words begin."""

    rows: NDArray[np.int32]
    words: Integers
    """For each word the place of its first n-gram, and at the end the number of n-grams."""
    texts: Integers
    """For each text the place of its first word, and at the end the number of words."""


@cache
def _classes() -> NDArray[np.uint8]:
    """For every code point what it is part of."""
    table = np.zeros(0x110000, dtype=np.uint8)
    for code in range(0x20000):
        kind = unicodedata.category(chr(code))
        if kind[0] in "LM":
            table[code] = LETTER
        elif kind[0] == "N":
            table[code] = DIGIT
        elif kind[0] in "PS":
            table[code] = SIGN
    table[0x20000:0xE0000] = SIGN
    for low, high in BLOCKS_UNSPACED:
        block = table[low : high + 1]
        block[block != SPACE] = np.where(block[block != SPACE] == DIGIT, DIGIT, UNSPACED)
    return table


def normalised(text: str) -> str:
    """NFKC in lower case, cut to what is read; a lone surrogate becomes a question mark."""
    short = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", short).lower()[:MOST_CHARACTERS]


def words_of(text: str) -> list[str]:
    """The words of a text, as they are hashed."""
    clean = normalised(text)
    kinds = _classes()[np.frombuffer(clean.encode("utf-32-le"), dtype=np.uint32)]
    kept = np.flatnonzero(kinds != SPACE)
    first = kept[np.flatnonzero(_starts(kept, kinds[kept], np.zeros_like(kept)))]
    return [piece.strip() for piece in map(clean.__getitem__, map(slice, first, [*first[1:], len(clean)]))]


def ngrams(texts: Sequence[str], bits: int) -> Ngrams:
    """The rows, of 2^bits, that the texts' words are made of."""
    pieces = [normalised(text) for text in texts]
    lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
    codes = np.frombuffer("".join(pieces).encode("utf-32-le"), dtype=np.uint32)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    kinds = _classes()[codes]
    kept = np.flatnonzero(kinds != SPACE)
    codes, kinds, text_of = codes[kept], kinds[kept], text_of[kept]
    starts = _starts(kept, kinds, text_of)
    word_of = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    count = len(first)
    unspaced = kinds[first] == UNSPACED
    hashes, owners = _hashes(*_marked(codes, word_of, first, unspaced), unspaced, text_of[first], ORDERS)
    letters = np.flatnonzero(kinds == LETTER)
    sounds = _skeletons()[np.minimum(codes[letters], 0x1FFFF)]
    bones = sounds[sounds > 0].astype(np.uint32)
    of_bones = np.repeat(word_of[letters], (sounds > 0).sum(axis=1))
    begins = np.flatnonzero(np.diff(of_bones, prepend=-1))
    long = np.diff(np.append(begins, len(bones))) >= 2  # one consonant says nothing
    named = of_bones[begins]
    within = np.repeat(long, np.diff(np.append(begins, len(bones))))
    bones, of_bones = bones[within], of_bones[within]
    begins = np.flatnonzero(np.diff(of_bones, prepend=-1))
    numbers = np.cumsum(np.diff(of_bones, prepend=-1) != 0) - 1
    none = np.zeros(len(begins), dtype=np.bool_)
    some, skeleton_of = _hashes(*_marked(bones, numbers, begins, none), none, np.zeros(len(begins), np.int64), (3, 4))
    hashes = np.concatenate([hashes, some + SKELETON])
    owners = np.concatenate([owners, named[long][skeleton_of]])
    order = np.argsort(owners, kind="stable")
    mixed = hashes[order]
    mixed = (mixed ^ (mixed >> np.uint64(31))) * MIX
    rows = (mixed >> np.uint64(64 - bits)).astype(np.int32)
    counts = np.bincount(owners, minlength=count)
    words = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    per_text = np.bincount(text_of[first], minlength=len(texts))
    return Ngrams(rows, words, np.concatenate([[0], np.cumsum(per_text)]).astype(np.int64))


def _marked(
    codes: NDArray[np.uint32], word_of: Integers, first: Integers, unspaced: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], Integers]:
    """All words in one line, each between its marks, and where each begins; unspaced characters have no marks."""
    last = np.append(first[1:], len(codes))
    marks = np.where(unspaced, 0, 1)
    begins = np.concatenate([[0], np.cumsum(last - first + 2 * marks)])
    line = np.empty(int(begins[-1]), dtype=np.uint64)
    line[np.arange(len(codes)) - first[word_of] + begins[word_of] + marks[word_of]] = codes
    marked = np.flatnonzero(marks)
    line[begins[marked]] = BEGIN
    line[begins[marked + 1] - 1] = END
    return line, begins


def _starts(places: Integers, kinds: NDArray[np.uint8], text_of: Integers) -> NDArray[np.bool_]:
    """Where words begin: after a space, in a new text, where the kind changes, at every sign and unspaced character."""
    starts = np.ones(len(places), dtype=np.bool_)
    if len(places) > 1:
        starts[1:] = (
            (np.diff(places) > 1)
            | (np.diff(text_of) > 0)
            | (kinds[1:] != kinds[:-1])
            | (kinds[1:] == SIGN)
            | (kinds[1:] == UNSPACED)
        )
    return starts


def _hashes(
    line: NDArray[np.uint64],
    begins: Integers,
    unspaced: NDArray[np.bool_],
    text_of: Integers,
    orders: Sequence[int],
) -> tuple[NDArray[np.uint64], Integers]:
    """Hash and word of every n-gram, by differences of the running sum Σ cⱼ·Bʲ, shifted back to j = 0."""
    n = len(line)
    powers, inverses = _powers(n)
    sums = np.zeros(n + 1, dtype=np.uint64)
    np.cumsum(line * powers[:n], out=sums[1:])
    sizes = np.diff(begins)
    word_of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(n)
    ends = begins[1:][word_of]
    spaced = ~unspaced[word_of]
    found: list[NDArray[np.uint64]] = []
    owners: list[Integers] = []
    for order in orders:
        here = place[spaced & (place + order <= ends) & (sizes[word_of] > order)]
        found.append((sums[here + order] - sums[here]) * inverses[here] + np.uint64(order))
        owners.append(word_of[here])
    whole = np.flatnonzero(~unspaced)
    begin = begins[:-1][whole]
    found.append((sums[begins[1:][whole]] - sums[begin]) * inverses[begin] + np.uint64(1))
    owners.append(whole)
    alone = np.flatnonzero(unspaced)
    for order in (1, 2, 3):
        final = alone + order - 1
        fits = final < len(unspaced)
        some, final = alone[fits], final[fits]
        joined = unspaced[final] & (text_of[final] == text_of[some]) & (final - some == order - 1)
        if order == 3:
            joined &= unspaced[np.minimum(some + 1, len(unspaced) - 1)]
        some = some[joined]
        begin = begins[:-1][some]
        found.append((sums[begin + order] - sums[begin]) * inverses[begin] + np.uint64(8 + order))
        owners.append(some)
    return np.concatenate(found), np.concatenate(owners)


_POWERS: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []


def _powers(n: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """B⁰ … Bⁿ and their inverses modulo 2⁶⁴."""
    if not _POWERS or len(_POWERS[0][0]) < n + 1:
        inverse = pow(int(BASE), -1, 1 << 64)
        both = []
        for base in (int(BASE), inverse):
            steps = np.full(max(n + 1, 1 << 16), base, dtype=np.uint64)
            steps[0] = 1
            both.append(np.cumprod(steps, dtype=np.uint64))
        _POWERS[:] = [(both[0], both[1])]
    return _POWERS[0]
