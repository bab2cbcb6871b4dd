"""Quality estimation by ridge regression on frozen sentence vectors: a model made by `babelquake train qe`.

A model folder holds `weights.npz` (plain arrays, never pickled objects) and `card.json`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.files import store_text
from babelquake.limits import json_object
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoder, Vectors, sentence_rows
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.spec import signature


class RidgeQE(VectorScorer):
    """Predicted human judgement of a translation given its source; higher is better, 0 is average for z-scores."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(self, model: str) -> None:
        self.model = Path(model)
        self._ridge, self.card = load(self.model)

    @property
    def described(self) -> str:
        return f"ridge-qe[model={self.model.resolve().name}]"

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder that the model was trained with; another one would mislead it."""
        made = encoder_named(str(self.card.get("encoder")))
        if made.signature != self.card.get("encoder_signature"):
            raise UserError(
                f"{self.model} was trained with the encoder {self.card.get('encoder_signature')}, "
                f"but {made.signature} is installed: install the former, or train again."
            )
        return made

    @property
    def signature(self) -> str:
        return signature("ridge-qe", weights=content_hash(self.model), encoder=str(self.card.get("encoder_signature")))

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        given = required(questions.sources, self, "source")
        sides = (sentence_rows(side, vectors[0]) for side in (given, questions.translations))
        return self._ridge.predict(features(*sides))


WEIGHTS, CARD = "weights.npz", "card.json"
ARRAYS = ("mean", "scale", "coefficients", "intercept")


def features(sources: NDArray[np.float32], translations: NDArray[np.float32]) -> Array:
    """Per segment [s, t, |s − t|, s ⊙ t]: what each says, where they differ, where they agree."""
    s, t = sources.astype(np.float64), translations.astype(np.float64)
    return np.concatenate([s, t, np.abs(s - t), s * t], axis=1)


@dataclass(frozen=True)
class Ridge:
    """y = intercept + ((x − mean) / scale) · coefficients."""

    mean: Array
    scale: Array
    coefficients: Array
    intercept: float

    def predict(self, rows: Array) -> Array:
        """One number per row of features."""
        return np.asarray(((rows - self.mean) / self.scale) @ self.coefficients + self.intercept)

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write the weights and what is to be known about them."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(
            folder / WEIGHTS,
            mean=self.mean,
            scale=self.scale,
            coefficients=self.coefficients,
            intercept=np.asarray(self.intercept),
        )
        text = json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n"
        store_text(text, folder / CARD)


def load(folder: Path) -> tuple[Ridge, dict[str, Any]]:
    """A saved model and its card."""
    for name in (WEIGHTS, CARD):
        if not (folder / name).is_file():
            raise UserError(f"{folder} has no {name}: expected a folder made by babelquake train qe.")
    try:
        card = json_object(folder / CARD)
        with np.load(folder / WEIGHTS, allow_pickle=False) as arrays:
            mean, scale, coefficients, intercept = (arrays[name].astype(np.float64) for name in ARRAYS)
        return Ridge(mean, scale, coefficients, float(intercept)), card
    except (ValueError, KeyError, TypeError, BadZipFile) as problem:
        raise UserError(f"{folder} is not a model made by babelquake train qe: {problem}.") from problem


def content_hash(folder: Path) -> str:
    """A short hash of the weights, for signatures."""
    return hashlib.blake2b((folder / WEIGHTS).read_bytes(), digest_size=6).hexdigest()


class Moments:
    """Sums over training rows, block by block: all that ridge regression needs, whatever the number of rows."""

    def __init__(self) -> None:
        self.rows = 0
        self._x: Array | None = None
        self._xx: Array | None = None
        self._xy: Array | None = None
        self._y = 0.0
        self._yy = 0.0

    def add(self, x: Array, y: Array) -> None:
        """Count rows of features and their targets in."""
        self.rows += len(x)
        self._x = x.sum(axis=0) if self._x is None else self._x + x.sum(axis=0)
        self._xx = x.T @ x if self._xx is None else self._xx + x.T @ x
        self._xy = x.T @ y if self._xy is None else self._xy + x.T @ y
        self._y += float(y.sum())
        self._yy += float(y @ y)

    def fits(self, penalties: Sequence[float]) -> list[tuple[Ridge, float]]:
        """A model per penalty λ, with its generalised cross-validation error (Golub, Heath and Wahba 1979).

        On standardised features X = UDVᵀ: w = V (D² + λ)⁻¹ VᵀXᵀy, and GCV(λ) = n·‖y − Xw‖² / (n − tr H)², where
        tr H = 1 + Σ d² / (d² + λ). A feature that never varies gets scale 1 and so weight 0.
        """
        if self._x is None or self._xx is None or self._xy is None or self.rows < 3:
            raise UserError(f"{self.rows} judged segments are too few to train on: at least 3 are needed.")
        n, mean, target = self.rows, self._x / self.rows, self._y / self.rows
        variance = np.diag(self._xx) / n - mean**2
        scale = np.sqrt(np.where(variance > 1e-12, variance, 1.0))
        gram = (self._xx - n * np.outer(mean, mean)) / np.outer(scale, scale)
        cross = (self._xy - n * mean * target) / scale
        total = self._yy - n * target**2
        squares, basis = np.linalg.eigh(gram)
        squares = np.maximum(squares, 0.0)
        projected = basis.T @ cross
        found = []
        for penalty in penalties:
            shrunk = projected / (squares + penalty)
            residual = total - 2 * projected @ shrunk + squares @ shrunk**2
            freedom = n - 1 - float(np.sum(squares / (squares + penalty)))
            error = n * residual / freedom**2 if freedom > 0 else np.inf
            found.append((Ridge(mean, scale, basis @ shrunk, target), float(error)))
        return found
