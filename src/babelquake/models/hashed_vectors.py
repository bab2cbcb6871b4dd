"""Sentence vectors for many languages from hashed n-grams: small, quick on one core, NumPy and Numba only.

A word is the sum of its n-grams' rows over the root of their number. Each word sees its neighbours through one layer;
eight heads weigh the words of the sentence, each for its share of the vector. `train/vectors.py` trains it.

A model folder holds `weights.npz` (the table with two numbers of four bits in a byte and a scale per row, small
matrices in half precision) and `card.json`.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.errors import UserError
from babelquake.limits import json_object
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.ngram_hash import MOST_CHARACTERS, Integers, ngrams
from babelquake.models.shipped import folder
from babelquake.resource import Limits
from babelquake.warnings_log import count_warning

MOST_WORDS = 64
"""Words that are read of a sentence."""


class HashedModel:
    """The files of a model whose words are hashed n-grams."""

    def __init__(self, model: str, arrays: Sequence[str]) -> None:
        self.folder = Path(model) if Path(model).is_dir() else folder(model)
        self._needed = arrays
        for name in ("weights.npz", "card.json"):
            if not (self.folder / name).is_file():
                raise UserError(f"{self.folder} has no {name}: expected a folder made by babelquake train.")

    @cached_property
    def card(self) -> dict[str, Any]:
        """How the model was made."""
        return json_object(self.folder / "card.json")

    @cached_property
    def content(self) -> str:
        """A short hash of the weights, for signatures."""
        return _content(self._file, self._file.stat().st_mtime_ns)

    @property
    def weights(self) -> dict[str, Any]:
        """The arrays by name, the small ones in single precision."""
        try:
            found = _read(self._file, self._file.stat().st_mtime_ns)
            if missing := {"table", "scale", *self._needed} - found.keys():
                raise KeyError(", ".join(sorted(missing)))
        except (ValueError, KeyError, OSError, BadZipFile) as problem:
            raise UserError(f"{self.folder} does not have the expected weights: {problem}.") from problem
        return found

    @property
    def _file(self) -> Path:
        return self.folder / "weights.npz"

    @property
    def bits(self) -> int:
        """The table has 2^bits rows."""
        return len(self.weights["table"]).bit_length() - 1

    def words(self, texts: Sequence[str], most: int) -> tuple[Matrix, Integers]:
        """A row per word, and where each text's words begin; of long texts the beginning."""
        found = ngrams(texts, self.bits)
        counts = np.diff(found.texts)
        long = [text for text, count in zip(texts, counts, strict=True) if count > most or len(text) > MOST_CHARACTERS]
        if long:
            count_warning(f"texts cut to the length that {self.folder.name} can read", long)
        kept = np.minimum(counts, most)
        starts = np.concatenate([[0], np.cumsum(kept)])
        chosen = np.arange(starts[-1]) + np.repeat(found.texts[:-1] - starts[:-1], kept)
        table, scale = self.weights["table"], self.weights["scale"]
        return _summed(table, scale, found.rows, found.words[chosen], found.words[chosen + 1]), starts


@lru_cache(maxsize=2)
def _read(file: Path, changed: int) -> dict[str, Any]:
    """What a file of weights holds, read once for all that use it: 20 MB a model, and a tenth of a second to unpack."""
    with np.load(file, allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    return {name: value if name == "table" else value.astype(np.float32) for name, value in found.items()}


def close_weights() -> None:
    """Free the weights that were read; they are read again when a model is asked."""
    _read.cache_clear()


@lru_cache(maxsize=8)
def _content(file: Path, changed: int) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=6).hexdigest()


@compiled
def _summed(
    table: NDArray[np.uint8], scale: Matrix, rows: NDArray[np.int32], begins: Integers, ends: Integers
) -> Matrix:
    """The rows of each word's n-grams added up, over the root of their number."""
    half = table.shape[1]
    found = np.zeros((len(begins), 2 * half), dtype=np.float32)
    for word in range(len(begins)):
        for place in range(begins[word], ends[word]):
            row = rows[place]
            step = scale[row]
            for column in range(half):
                both = table[row, column]
                found[word, 2 * column] += step * np.float32(np.int32(both & 15) - 8)
                found[word, 2 * column + 1] += step * np.float32(np.int32(both >> 4) - 8)
        over = np.float32(1.0 / np.sqrt(max(1, ends[word] - begins[word])))
        for column in range(2 * half):
            found[word, column] *= over
    return found


@compiled
def gelu(rows: Matrix) -> None:
    """GELU by its tanh form, in place; tanh as a quotient of polynomials (error below 1e-6) becomes vector code."""
    flat = rows.ravel()
    for place in range(len(flat)):
        x = flat[place]
        inner = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
        inner = min(np.float32(7.9), max(np.float32(-7.9), inner))
        s = inner * inner
        top = np.float32(-2.76076847742355e-16) * s + np.float32(2.00018790482477e-13)
        top = top * s + np.float32(-8.60467152213735e-11)
        top = top * s + np.float32(5.12229709037114e-08)
        top = top * s + np.float32(1.48572235717979e-05)
        top = top * s + np.float32(6.37261928875436e-04)
        top = (top * s + np.float32(4.89352455891786e-03)) * inner
        low = np.float32(1.19825839466702e-06) * s + np.float32(1.18534705686654e-04)
        low = low * s + np.float32(2.26843463243900e-03)
        low = low * s + np.float32(4.89352518554385e-03)
        flat[place] = np.float32(0.5) * x * (np.float32(1.0) + top / low)


@compiled
def _pooled(
    words: Matrix,
    starts: Integers,
    left: Matrix,
    centre: Matrix,
    right: Matrix,
    bias: Matrix,
    value: Matrix,
    value_bias: Matrix,
    direct: Matrix,
    weigh: Matrix,
    weigh_bias: Matrix,
) -> Matrix:
    """One vector per text, of length 1; each text by itself, so that its company changes not even the last bit."""
    width, hidden = centre.shape
    out, heads = value.shape[1], weigh.shape[1]
    share = out // heads
    found = np.zeros((len(starts) - 1, out), dtype=np.float32)
    mixed = np.empty(hidden, dtype=np.float32)
    for text in range(len(starts) - 1):
        begin, end = starts[text], starts[text + 1]
        if begin == end:
            continue
        values = np.empty((end - begin, out), dtype=np.float32)
        marks = np.empty((end - begin, heads), dtype=np.float32)
        for word in range(begin, end):
            mixed[:] = bias
            for i in range(width):
                x = words[word, i]
                for j in range(hidden):
                    mixed[j] += x * centre[i, j]
            if word > begin:
                for i in range(width):
                    x = words[word - 1, i]
                    for j in range(hidden):
                        mixed[j] += x * left[i, j]
            if word + 1 < end:
                for i in range(width):
                    x = words[word + 1, i]
                    for j in range(hidden):
                        mixed[j] += x * right[i, j]
            gelu(mixed)
            row = values[word - begin]
            row[:] = value_bias
            for i in range(hidden):
                x = mixed[i]
                for j in range(out):
                    row[j] += x * value[i, j]
            for i in range(width):
                x = words[word, i]
                for j in range(out):
                    row[j] += x * direct[i, j]
            mark = marks[word - begin]
            mark[:] = weigh_bias
            for i in range(hidden):
                x = mixed[i]
                for j in range(heads):
                    mark[j] += x * weigh[i, j]
        for head in range(heads):
            most = marks[:, head].max()
            total = np.float32(0.0)
            for word in range(end - begin):
                marks[word, head] = np.exp(marks[word, head] - most)
                total += marks[word, head]
            for word in range(end - begin):
                weight = marks[word, head] / total
                for j in range(head * share, (head + 1) * share):
                    found[text, j] += weight * values[word, j]
        length = np.float32(0.0)
        for j in range(out):
            length += found[text, j] * found[text, j]
        length = np.sqrt(length)
        if length > 0:
            for j in range(out):
                found[text, j] /= length
    return found


ARRAYS = (
    "left_weight",
    "centre_weight",
    "right_weight",
    "centre_bias",
    "value_weight",
    "value_bias",
    "direct_weight",
    "weigh_weight",
    "weigh_bias",
)


class HashedVectors(SentenceEncoder):
    """Sentence vectors from hashed n-grams; `vectors-multi` ships and knows 28 languages."""

    limits = Limits(texts=256)
    """Texts that are hashed together."""

    def __init__(self, model: str = "vectors-multi") -> None:
        self._model = HashedModel(model, ARRAYS)

    @property
    def signature(self) -> str:
        return f"{self._model.folder.name}-{self._model.content}"

    @property
    def languages(self) -> frozenset[str]:
        return frozenset(self._model.card.get("languages", ()))

    @cached_property
    def _arrays(self) -> tuple[Matrix, ...]:
        weights = self._model.weights
        return tuple(
            np.ascontiguousarray(weights[name].T if weights[name].ndim == 2 else weights[name]) for name in ARRAYS
        )

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row of length 1 per text; zeros where a text holds no word."""
        words, starts = self._model.words(texts, MOST_WORDS)
        return _pooled(words, starts, *self._arrays)

    def close(self) -> None:
        self.__dict__.pop("_arrays", None)
