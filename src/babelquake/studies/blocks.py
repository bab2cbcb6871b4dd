"""Blocks of segments: studies work through them one by one, so that memory stays bounded and a killed run goes on."""

from dataclasses import dataclass

import polars as pl

from babelquake.perturb.suite import Suite

BLOCK_TEXTS = 40_000
"""Perturbed texts in one block."""


@dataclass(frozen=True)
class Block:
    """Some segments of one language pair."""

    name: str
    language_pair: str | None
    segments: pl.DataFrame


def blocks_of(segments: pl.DataFrame, suite: Suite) -> list[Block]:
    """Segments in blocks of one language pair each, few enough that their variants fit into memory."""
    per_segment = sum(suite.repeats(perturbation) for perturbation in suite.perturbations)
    size = max(1, BLOCK_TEXTS // max(1, per_segment))
    found: list[Block] = []
    for (pair,), part in segments.group_by("language_pair", maintain_order=True):
        for start in range(0, part.height, size):
            found.append(Block(f"{len(found):06d}", pair, part[start : start + size]))
    return found
