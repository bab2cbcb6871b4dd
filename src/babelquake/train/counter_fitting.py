"""Counter-fitting: pull synonyms together, push antonyms apart, and let the rest of the space be (Mrkšić et al. 2016).

The objective is a sum of hinges over word pairs, on the cosine distance d of normalised vectors v (originally o):

- antonyms: max(0, 1 − d(v₁, v₂)), so that they end at a right angle;
- synonyms: max(0, d(v₁, v₂) − 0), so that they end together;
- close pairs of the original space (d(o₁, o₂) ≤ 0.2): max(0, d(v₁, v₂) − d(o₁, o₂)), so that they stay close.

As in the authors' setting, the three weigh the same, the step is 0.1, there are 20 rounds, a word's step is the mean
over its active pairs, and vectors are normalised after each round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Pairs = NDArray[np.int64]
"""Rows of two word numbers."""
BLOCK = 2048


@dataclass(frozen=True)
class Setting:
    """The paper's numbers (§3.1)."""

    rounds: int = 20
    step: float = 0.1
    antonyms_apart: float = 1.0
    synonyms_within: float = 0.0
    close: float = 0.2


PAPER = Setting()


def counter_fit(vectors: Vectors, synonyms: Pairs, antonyms: Pairs, setting: Setting = PAPER) -> Vectors:
    """Word vectors moved by the constraints; rows of the result have length one."""
    fitted = normalised(vectors)
    near, distances = close_pairs(fitted, setting.close)
    keep = _without(near, antonyms, len(fitted))
    near, distances = near[keep], distances[keep]
    for _ in range(setting.rounds):
        moves, counts = np.zeros_like(fitted), np.zeros(len(fitted), np.float32)
        _push(fitted, antonyms, np.full(len(antonyms), setting.antonyms_apart, np.float32), -1, moves, counts)
        _push(fitted, synonyms, np.full(len(synonyms), setting.synonyms_within, np.float32), 1, moves, counts)
        _push(fitted, near, distances, 1, moves, counts)
        moves *= np.float32(setting.step) / np.maximum(counts, 1)[:, None]
        fitted = normalised(fitted + moves)
    return fitted


def normalised(vectors: Vectors) -> Vectors:
    """Rows of length one; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def close_pairs(vectors: Vectors, limit: float) -> tuple[Pairs, NDArray[np.float32]]:
    """Pairs of rows (each once) whose cosine distance is at most `limit`, and that distance."""
    pairs: list[Pairs] = []
    distances: list[NDArray[np.float32]] = []
    for start in range(0, len(vectors), BLOCK):
        distance = 1 - vectors[start : start + BLOCK] @ vectors.T
        row, column = np.nonzero(distance <= limit)
        later = column > row + start
        pairs.append(np.stack([row[later] + start, column[later]], 1))
        distances.append(distance[row[later], column[later]])
    return np.concatenate(pairs), np.concatenate(distances).astype(np.float32)


def numbered(pairs: Sequence[tuple[str, str]], places: dict[str, int]) -> Pairs:
    """Word pairs as numbers, each once; pairs with a word that has no vector, or of one word, are left out."""
    known = {
        (min(places[one], places[other]), max(places[one], places[other]))
        for one, other in pairs
        if one in places and other in places and one != other
    }
    return np.array(sorted(known), np.int64).reshape(-1, 2)


def _push(
    vectors: Vectors,
    pairs: Pairs,
    limits: NDArray[np.float32],
    sign: int,
    moves: Vectors,
    counts: NDArray[np.float32],
) -> None:
    """Add the steps of pairs farther apart than their limit (sign 1: together) or nearer (sign −1: apart).

    For unit vectors, ∂cos(a, b)/∂a = b − cos(a, b)·a.
    """
    if not len(pairs):
        return
    one, other = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    cosine = (one * other).sum(1)
    active = sign * (1 - cosine - limits) > 0
    one, other, cosine, chosen = one[active], other[active], cosine[active, None], pairs[active]
    np.add.at(moves, chosen[:, 0], sign * (other - cosine * one))
    np.add.at(moves, chosen[:, 1], sign * (one - cosine * other))
    np.add.at(counts, chosen.ravel(), 1)


def _without(pairs: Pairs, others: Pairs, words: int) -> NDArray[np.bool_]:
    """Which pairs are not among the others: antonyms that were close need not stay so."""
    return ~np.isin(pairs[:, 0] * words + pairs[:, 1], others[:, 0] * words + others[:, 1])
