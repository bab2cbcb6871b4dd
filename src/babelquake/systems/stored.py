"""Translations that came with the data.

They are looked up by segment and variant: a system that sees whole documents may translate equal sentences differently.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from babelquake.errors import UserError
from babelquake.spec import Spec, signature
from babelquake.systems.base import System
from babelquake.text import digest


class Stored(System):
    """A system's translations of clean sources (by row) and of their variants (by row, perturbation and replicate)."""

    def __init__(self, name: str, clean: pl.DataFrame, perturbed: pl.DataFrame) -> None:
        self.spec = Spec("stored").with_options(name=name)
        self._clean: Mapping[int, str] = dict(clean.select("row", "translation").iter_rows())
        places = perturbed.select("row", "perturbation", "replicate", "translation").iter_rows()
        self._perturbed = {(row, label, replicate): text for row, label, replicate, text in places}

    @property
    def identity(self) -> str:
        """The name by which the data call it."""
        return self.name

    @property
    def signature(self) -> str:
        texts = [*self._clean.values(), *self._perturbed.values()]
        return signature("stored", name=self.name, content=digest(texts))

    @property
    def silent(self) -> bool:
        """Whether every translation is empty: the system did not take part, which is not the same as being bad."""
        return not any(text.strip() for text in (*self._clean.values(), *self._perturbed.values()))

    def known(self, segments: pl.DataFrame, variants: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Those segments and variants whose translations came with the data."""
        rows = [row in self._clean for row in segments["row"]]
        places = variants.select("row", "perturbation", "replicate").iter_rows()
        there = [place in self._perturbed and place[0] in self._clean for place in places]
        return segments.filter(pl.Series(rows, dtype=pl.Boolean)), variants.filter(pl.Series(there, dtype=pl.Boolean))

    def of_clean(self, rows: Sequence[int]) -> list[str]:
        """The translations of clean sources."""
        return [self._clean[row] for row in rows]

    def of_variants(self, variants: pl.DataFrame) -> list[str]:
        """The translations of variants."""
        return [self._perturbed[place] for place in variants.select("row", "perturbation", "replicate").iter_rows()]

    def translate(self, texts: Sequence[str]) -> list[str]:
        raise UserError(
            f"{self.name} is known by translations that came with the data; it cannot translate other texts."
        )
