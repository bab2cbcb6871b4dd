"""Perturbations: named, seeded changes of one text. One module per family; suites name the papers' sets."""

from collections.abc import Sequence
from typing import Any

from babelquake.perturb.base import PERTURBATIONS, Card, Perturbation, perturbation

__all__ = ["PERTURBATIONS", "Card", "Perturbation", "perturb", "perturbation"]


def perturb(
    name: str, texts: Sequence[str], *, lang: str | None = None, seed: int = 0, replicate: int = 0, **options: Any
) -> list[str | None]:
    """Change each text; None where the perturbation is not applicable.

    >>> perturb("misspell", ["Das ist ein Test."], lang="de", level=0.1, seed=13)
    """
    sources: Sequence[str | None] = options.pop("sources", None) or [None] * len(texts)
    vocabulary = options.pop("vocabulary", None)
    change = Perturbation(name, **options)
    return [
        change.apply(text, lang=lang, seed=seed, replicate=replicate, source=source, vocabulary=vocabulary)
        for text, source in zip(texts, sources, strict=True)
    ]
