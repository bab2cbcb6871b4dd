"""`babelquake neighbours build`: the words nearest to each word in counter-fitted vectors, as a compact file.

The moves of word-swapping attacks draw from it. A line is a word and its neighbours, nearest first, parted by tabs: at
most `most`; the first `least` are kept however far they are, the others where the cosine is `cosine` or more.
"""

import json
import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.errors import UserError
from babelquake.train.corpus import sha256
from babelquake.train.counter_fitting import BLOCK, Vectors, counter_fit, normalised, numbered

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
