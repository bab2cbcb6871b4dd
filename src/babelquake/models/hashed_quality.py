"""A small transformer that rates a translation beside its source, in many languages; NumPy and Numba only.

Words are hashed n-grams; a first token, the source's words and the translation's are read together. `train/quality.py`
trains it. Each pair is read by itself, so that its company changes nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from babelquake.models.base import Matrix
from babelquake.models.hashed_vectors import HashedModel, gelu

MOST_WORDS = 48
"""Words that are read of either side."""
HEADS = 4


class HashedQuality:
    """Ratings of translations, in standard deviations of the annotators' scores; `qe-multi` ships."""

    def __init__(self, model: str = "qe-multi") -> None:
        self.files = HashedModel(model, ("enter_weight", "rating_weight", "layers_0_mix_weight"))

    def rate(self, sources: Sequence[str], translations: Sequence[str]) -> NDArray[np.float64]:
        """One number per pair; higher is better."""
        if not sources:
            return np.zeros(0)
        w = self.files.weights
        words, starts = self.files.words([*sources, *translations], MOST_WORDS)
        entered = words @ w["enter_weight"].T + w["enter_bias"]
        sides = [entered[starts[n] : starts[n + 1]] for n in range(len(starts) - 1)]
        return np.array(
            [self._one(one, other) for one, other in zip(sides[: len(sources)], sides[len(sources) :], strict=True)]
        )

    def _one(self, source: Matrix, target: Matrix) -> float:
        w = self.files.weights
        x = np.concatenate(
            [
                w["first"][None],
                source + w["side"][0] + w["place"][: len(source)],
                target + w["side"][1] + w["place"][: len(target)],
            ]
        )
        layer = 0
        while f"layers_{layer}_mix_weight" in w:
            x = _layer(x, w, f"layers_{layer}_")
            layer += 1
        x = _normal(x, w["last_weight"], w["last_bias"])
        ahead = 1 + len(source)
        mean = x[ahead:].mean(axis=0) if len(target) else np.zeros_like(x[0])
        pooled = w["pooled_weight"] @ np.concatenate([x[0], mean]) + w["pooled_bias"]
        gelu(pooled)
        return float(w["rating_weight"][0] @ pooled + w["rating_bias"][0])


def _layer(x: Matrix, w: dict[str, Matrix], prefix: str) -> Matrix:
    """Attention and feed-forward, each after a normalisation and added to what came in (Xiong et al. 2020)."""
    length, width = x.shape
    inside = _normal(x, w[prefix + "before_weight"], w[prefix + "before_bias"]) @ w[prefix + "mix_weight"].T
    inside += w[prefix + "mix_bias"]
    q, k, v = inside.reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    likeness = q @ k.transpose(0, 2, 1)
    likeness *= np.float32((width // HEADS) ** -0.5)
    likeness -= likeness.max(axis=-1, keepdims=True)
    np.exp(likeness, out=likeness)
    likeness /= likeness.sum(axis=-1, keepdims=True)
    seen = (likeness @ v).transpose(1, 0, 2).reshape(length, width)
    x = x + seen @ w[prefix + "join_weight"].T + w[prefix + "join_bias"]
    inner = _normal(x, w[prefix + "between_weight"], w[prefix + "between_bias"]) @ w[prefix + "up_weight"].T
    inner += w[prefix + "up_bias"]
    gelu(inner)
    return np.asarray(x + inner @ w[prefix + "down_weight"].T + w[prefix + "down_bias"])


def _normal(x: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    return np.asarray(centred / spread * weight + bias)
