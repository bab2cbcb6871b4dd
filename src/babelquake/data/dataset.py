"""A data set: a table of segments, and the human better/worse judgements some come with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import polars as pl

from babelquake.text import digest

SCHEMA = {
    "id": pl.String,
    "source": pl.String,
    "references": pl.List(pl.String),
    "translation": pl.String,
    "system": pl.String,
    "score": pl.Float64,
    "language_pair": pl.String,
}
"""The columns every data set has; what a file does not give is null. Further columns are kept as they are.

`id` names the source segment (`file-stem:line`), so it is shared by several systems' translations of it;
(`id`, `system`) is unique.
"""

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Dataset:
    """Segments and what is known about them."""

    name: str
    segments: pl.DataFrame
    preferences: pl.DataFrame | None = None
    """Human preferences between two translations of one segment: row numbers `better` and `worse` into `segments`."""
    attacked: Mapping[tuple[str, float], Callable[[], Sequence[str]]] = field(default_factory=dict)
    """References somebody else perturbed: (attack, level) → one text per row of `segments`, read when asked for."""
    notes: tuple[str, ...] = ()
    """What the reader noticed and the user should know, such as blank segments."""
    reference: str | None = None
    """The name of the references that were taken, where references have names."""
    uncut: tuple[pl.DataFrame, Sequence[int]] | None = field(default=None, repr=False, compare=False)
    """Where these are the first of more segments: all of them, and which rows are here."""

    def __len__(self) -> int:
        return self.segments.height

    @cached_property
    def hash(self) -> str:
        """A hash of everything the data say – texts, scores, systems, further columns, preferences – for signatures."""
        preferences = self.preferences if self.preferences is not None else pl.DataFrame()
        return digest(text for table in (self.segments, preferences) for text in _said(table))

    def has(self, column: str) -> bool:
        """Whether any row has a value there; whether there are `preferences`."""
        if column == "preferences":
            return self.preferences is not None
        return column in self.segments.columns and self.segments[column].null_count() < self.segments.height

    @property
    def language_pairs(self) -> list[str]:
        """The language pairs that occur, in order of appearance."""
        return [pair for pair in self.segments["language_pair"].unique(maintain_order=True) if pair is not None]

    def first(self, segments: int) -> "Dataset":
        """The first so many segments, with everything known about them."""
        kept = self.segments["id"].unique(maintain_order=True).head(segments)
        rows = self.segments.with_row_index("row").filter(pl.col("id").is_in(kept.implode()))
        place = dict(zip(rows["row"], range(rows.height), strict=True))
        preferences = self.preferences
        if preferences is not None:
            inside = preferences.filter(pl.col("better").is_in(list(place)), pl.col("worse").is_in(list(place)))
            preferences = inside.with_columns(pl.col("better", "worse").replace_strict(place, return_dtype=pl.Int64))
        attacked = {key: partial(_at, texts, list(place)) for key, texts in self.attacked.items()}
        whole, here = self.uncut or (self.segments, range(self.segments.height))
        uncut = (whole, [here[row] for row in place])
        return replace(self, segments=rows.drop("row"), preferences=preferences, attacked=attacked, uncut=uncut)


def _at(texts: Callable[[], Sequence[str]], rows: Sequence[int]) -> list[str]:
    """The texts of some rows, read once."""
    read = texts()
    return [read[row] for row in rows]


def _said(table: pl.DataFrame) -> Iterator[str | None]:
    """Column by column its name and all its values as text, a piece at a time."""
    for name in sorted(table.columns):
        yield name
        for start in range(0, table.height, ROWS_AT_ONCE):
            column = table[name].slice(start, ROWS_AT_ONCE)
            if isinstance(column.dtype, pl.List):
                column = column.list.eval(pl.element().cast(pl.String)).list.join("\x1e")
            yield from column.cast(pl.String).to_list()
