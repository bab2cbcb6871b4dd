"""What every scorer is: `statistics` (one row of numbers per segment) and `aggregate` (summed rows → score).

Because corpus scores are functions of summed rows, one bootstrap, one significance test and one ratio serve every
scorer: a resample is a vector of counts, its sums are `counts @ statistics`, its score is `aggregate(sums)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.spec import Spec

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Segments to judge, column by column; `references` holds one or more per segment."""

    translations: Sequence[str]
    references: Sequence[Sequence[str]] | None = None
    sources: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, column in (("references", self.references), ("sources", self.sources)):
            if column is not None and len(column) != len(self.translations):
                raise UserError(f"{len(self.translations)} translations but {len(column)} {name}: one each is needed.")

    def __len__(self) -> int:
        return len(self.translations)

    def rows(self, start: int, stop: int) -> "Batch":
        """The segments from `start` up to, not including, `stop`."""
        return Batch(
            self.translations[start:stop],
            None if self.references is None else self.references[start:stop],
            None if self.sources is None else self.sources[start:stop],
        )

    def take(self, rows: Sequence[int]) -> "Batch":
        """The segments at the given positions."""
        return Batch(
            [self.translations[row] for row in rows],
            None if self.references is None else [self.references[row] for row in rows],
            None if self.sources is None else [self.sources[row] for row in rows],
        )


class Scorer(ABC):
    """Judges translations. Knows nothing of batching, caching, bootstrap or files."""

    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    """Which of `source` and `reference` must be given; `source` alone makes it quality estimation."""
    costly: ClassVar[bool] = False
    """Whether the engine should cache every result."""
    higher_is_better: ClassVar[bool] = True
    perfect: ClassVar[float | None] = None
    """The score of a perfect match, where the scale has one."""

    spec: Spec
    """How the scorer was asked for; set by `babelquake.scorers.scorer`."""

    @property
    def name(self) -> str:
        """The name with options, as tables show it."""
        return str(self.spec)

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that can change a score: options, versions, precision."""

    @abstractmethod
    def statistics(self, batch: Batch) -> Array:
        """One row of numbers per segment, shape (segments, width)."""

    @abstractmethod
    def aggregate(self, statistics: Array) -> Array:
        """Scores of summed rows: shape (…, width) → (…)."""

    def score_rows(self, statistics: Array) -> Array:
        """Segment scores: each row taken as a corpus of one, unless the scorer has its own sentence level."""
        return self.aggregate(statistics)

    def attach(self, segments: "pl.DataFrame") -> Array | None:
        """Shown the data set's segments before a study judges them; only ready-made scores look at them.

        Gives the scores of these very rows where the scorer has them, NaN elsewhere.
        """
        return None

    def signature_for(self, references: int | None) -> str:
        """The signature for segments with that many references each; None where their number varies."""
        return self.signature

    def segments(
        self,
        translations: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> Array:
        """One score per segment."""
        return self.score_rows(self.statistics(batch_of(self, translations, references, sources)))

    def corpus(
        self,
        translations: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> float:
        """One score for the whole list."""
        rows = self.statistics(batch_of(self, translations, references, sources))
        return float(self.aggregate(rows.sum(axis=0)))


class MeanScorer(Scorer):
    """A scorer with one number per segment, averaged over the corpus: rows are (score, 1)."""

    @abstractmethod
    def judge(self, batch: Batch) -> Array:
        """One score per segment, shape (segments,)."""

    def statistics(self, batch: Batch) -> Array:
        """Rows of (score, 1): their sum holds what a mean needs."""
        scores = np.asarray(self.judge(batch), dtype=np.float64)
        return np.stack([scores, np.ones_like(scores)], axis=1)

    def aggregate(self, statistics: Array) -> Array:
        """The mean: summed scores over their number; NaN where nothing was judged."""
        rows = np.asarray(statistics, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(rows[..., 0] / rows[..., 1])


def batch_of(
    scorer: Scorer,
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]] | None,
    sources: Sequence[str] | None,
) -> Batch:
    """A batch from plain lists; says which column the scorer misses."""
    for column, given in (("reference", references), ("source", sources)):
        if column in scorer.needs and given is None:
            raise UserError(f"scorer '{scorer.name}' needs the {column} of every segment.")
    lists = None if references is None else [[item] if isinstance(item, str) else item for item in references]
    return Batch(translations, lists, sources)
