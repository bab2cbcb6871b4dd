"""`babelquake neighbours build`: the words nearest to each word in counter-fitted vectors, as a compact file.

The moves of word-swapping attacks draw from it. A line is a word and its neighbours, nearest first, parted by tabs: at
most `most`; the first `least` are kept however far they are, the others where the cosine is `cosine` or more.

Counter-fitting pulls synonyms together, pushes antonyms apart, and lets the rest of the space be (Mrkšić et al. 2016).
The objective is a sum of hinges over word pairs, on the cosine distance d of normalised vectors v (originally o):

- antonyms: max(0, 1 − d(v₁, v₂)), so that they end at a right angle;
- synonyms: max(0, d(v₁, v₂) − 0), so that they end together;
- close pairs of the original space (d(o₁, o₂) ≤ 0.2): max(0, d(v₁, v₂) − d(o₁, o₂)), so that they stay close.

As in the authors' setting, the three weigh the same, the step is 0.1, there are 20 rounds, a word's step is the mean
over its active pairs, and vectors are normalised after each round.
"""

import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.train.corpus import sha256

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


FILE = "neighbours.tsv.xz"


def build(
    vectors: Path,
    synonyms: Sequence[Path],
    antonyms: Sequence[Path],
    out: Path,
    *,
    similarity: Path | None = None,
    least: int = 8,
    most: int = 50,
    cosine: float = 0.7,
    card: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Counter-fit the vectors, write `out` with the neighbours and a card, and give the card back.

    `similarity` is SimLex-999 or a file of its columns; the card then has Spearman's ρ before and after, over the pairs
    whose words both have vectors.
    """
    words, plain = read_vectors(vectors)
    places = {word: number for number, word in enumerate(words)}
    together = numbered([pair for path in synonyms for pair in read_pairs(path)], places)
    apart = numbered([pair for path in antonyms for pair in read_pairs(path)], places)
    fitted = counter_fit(plain, together, apart)
    out.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join([word, *others]) for word, others in nearest(words, fitted, least, most, cosine)]
    (out / FILE).write_bytes(lzma.compress(("\n".join(lines) + "\n").encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
    figures: dict[str, Any] = {"words": len(words), "synonym pairs": len(together), "antonym pairs": len(apart)}
    figures["neighbours"] = sum(line.count("\t") for line in lines)
    if similarity:
        rated = [
            (places[a], places[b], score) for a, b, score in read_similarity(similarity) if {a, b} <= places.keys()
        ]
        figures["SimLex-999 pairs covered"] = len(rated)
        figures["SimLex-999 Spearman, plain vectors"] = spearman(normalised(plain), rated)
        figures["SimLex-999 Spearman, counter-fitted"] = spearman(fitted, rated)
    made: dict[str, Any] = {
        "name": out.name,
        "kind": "neighbours",
        "licence": "Apache-2.0",
        "command": "babelquake neighbours build --vectors V --synonyms S --antonyms A --out DIR",
        "data_sha256": {path.name: sha256(path) for path in (vectors, *synonyms, *antonyms)},
        "recipe": {"least": least, "most": most, "cosine": cosine},
        "figures": figures,
        **(card or {}),
    }
    (out / "card.json").write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return made


def nearest(
    words: Sequence[str], vectors: Vectors, least: int, most: int, cosine: float
) -> Iterator[tuple[str, list[str]]]:
    """Each word with its neighbours, nearest first; ties in the order of the words."""
    most = min(most, len(words) - 1)
    for start in range(0, len(words), BLOCK):
        similar = vectors[start : start + BLOCK] @ vectors.T
        similar[np.arange(len(similar)), np.arange(start, start + len(similar))] = -2
        top = np.argpartition(-similar, most - 1, axis=1)[:, :most]
        for row, columns in enumerate(top):
            ordered = sorted(columns.tolist(), key=lambda column: (-similar[row, column], column))
            kept = [words[column] for n, column in enumerate(ordered) if n < least or similar[row, column] >= cosine]
            yield words[start + row], kept


def read_vectors(path: Path) -> tuple[list[str], Vectors]:
    """Words and vectors of a text file, `word number number …` a line, as GloVe has it; words are put in lower case."""
    found: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            word, _, numbers = line.rstrip("\n").partition(" ")
            if numbers.count(" ") and word.isalpha():
                found.setdefault(word.lower(), numbers)
    try:
        return list(found), np.array([numbers.split() for numbers in found.values()], np.float32)
    except ValueError as problem:
        raise UserError(f"{path}: not a table of word vectors, 'word number number …' a line ({problem}).") from None


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The word pairs of a constraint file, two words a line."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if words and len(words) != 2:
            raise UserError(f"{path} line {number}: {len(words)} words, expected two.")
        if words:
            yield words[0].lower(), words[1].lower()


def read_similarity(path: Path) -> Iterator[tuple[str, str, float]]:
    """Word pairs and their rated similarity: SimLex-999's columns word1, word2 and SimLex999."""
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    names = header.split("\t")
    try:
        columns = [names.index(name) for name in ("word1", "word2", "SimLex999")]
    except ValueError:
        raise UserError(f"{path}: expected the columns word1, word2 and SimLex999.") from None
    for row in rows:
        one, other, score = (row.split("\t")[column] for column in columns)
        yield one.lower(), other.lower(), float(score)


def spearman(vectors: Vectors, rated: Sequence[tuple[int, int, float]]) -> float:
    """Rank correlation of cosine and rating."""
    from babelquake.stats.agreement import spearman as rank_correlation

    cosines = [float(vectors[one] @ vectors[other]) for one, other, _ in rated]
    return round(float(rank_correlation([score for _, _, score in rated], cosines)), 4)
