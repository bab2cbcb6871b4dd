"""What readers are asked for and what they give: a table of segments, and the better/worse judgements of some."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import polars as pl

from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.text import digest

Targets = Literal["reference", "translation"]


@dataclass(frozen=True)
class Request:
    """One input as the user wrote it, and what else was said about it."""

    what: str
    columns: Mapping[str, str] | None = None
    language_pair: str | None = None
    reference: str | None = None
    """Which of several sets of references is meant, by name, or `all`."""
    targets: Targets = "reference"
    """What the targets of a bilingual file are: references, or translations by whoever the file is named after."""
    vendor: str | None = None
    """Whose translations these are, where the file's own name does not tell it from the others."""
    inline_tags: bool = False
    """Whether tags inside the segments of a bilingual file are kept in the texts, as `<g id="1">`."""

    @property
    def path(self) -> Path:
        """The input as a path (`-` is standard input)."""
        return Path(self.what)


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


def join(parts: Sequence[Dataset], *, one_set: bool = False) -> Dataset:
    """Several data sets as one: rows below one another, judgements and others' attacks kept aligned, ids unique.

    The language pairs of `one_set` mean what they say: there `cs-en` and `cs-en-GB` are two, elsewhere two spellings.
    """
    tables = [part.segments for part in parts] if one_set else _spelt(parts)
    frames = _with_unique_ids([replace(part, segments=frame) for part, frame in zip(parts, tables, strict=True)])
    offsets = [sum(frame.height for frame in frames[:position]) for position in range(len(frames))]
    preferences = [
        part.preferences.with_columns(pl.col("better", "worse") + offset)
        for part, offset in zip(parts, offsets, strict=True)
        if part.preferences is not None
    ]
    shared = [key for key in parts[0].attacked if all(key in part.attacked for part in parts)]
    partial = sorted({key for part in parts for key in part.attacked} - set(shared))
    notes = [note for part in parts for note in part.notes]
    if partial:
        names = ", ".join(sorted({attack for attack, _ in partial}))
        notes.append(f"attacked references ({names}) are left out: not every part of the data has them")
    return Dataset(
        name="+".join(dict.fromkeys(part.name for part in parts)),
        segments=pl.concat(frames, how="diagonal_relaxed"),
        preferences=pl.concat(preferences, how="diagonal_relaxed") if preferences else None,
        attacked={key: _concatenated([part.attacked[key] for part in parts]) for key in shared},
        notes=tuple(notes),
        reference=parts[0].reference if len({part.reference for part in parts}) == 1 else None,
    )


def looked_up(data: Dataset, others: Dataset) -> Dataset:
    """The data with the references that other data have for equal sources, in place of their own.

    Where the others translate one source several times, the last counts. Sources they do not have get none.
    """
    if not others.has("source") or not others.has("references"):
        raise UserError(f"{others.name} has no sources with references to look up.")
    known = (
        others.segments.filter(pl.col("references").list.len() > 0)
        .select(pl.col("source").str.strip_chars(), pl.col("references").alias("found"))
        .unique("source", keep="last", maintain_order=True)
    )
    joined = data.segments.with_columns(place=pl.col("source").str.strip_chars()).join(
        known, left_on="place", right_on="source", how="left", maintain_order="left"
    )
    segments = joined.with_columns(references=pl.col("found")).select(data.segments.columns)
    sources = segments.unique(["id", "language_pair"]).select("references")
    count = sources.height - sources["references"].null_count()
    if not count:
        raise UserError(f"{others.name} has none of the sources of {data.name}: its references belong to other data.")
    note = f"{data.name}: references are those of {others.name}, which has {count:,} of {sources.height:,} sources"
    return replace(data, segments=segments, notes=(*data.notes, note), reference=others.name, uncut=None)


def _spelt(parts: Sequence[Dataset]) -> list[pl.DataFrame]:
    """The parts' tables with each language pair as the first part that has it writes it: `en-de` is `en-de-DE`."""
    known: list[LanguagePair] = []
    frames = []
    for part in parts:
        pairs = [pair for name in part.language_pairs if (pair := LanguagePair.known(name))]
        named = {
            str(pair): str(same[0]) for pair in pairs if len(same := [one for one in known if _alike(one, pair)]) == 1
        }
        known += [pair for pair in pairs if str(pair) not in named and pair not in known]
        frames.append(part.segments.with_columns(pl.col("language_pair").replace(named)) if named else part.segments)
    return frames


def _alike(one: LanguagePair, other: LanguagePair) -> bool:
    """Whether two pairs are of the same languages, regions and scripts wherever both name them."""
    sides = ((one.source, other.source), (one.target, other.target))
    return all(
        first.code == second.code
        and (first.region == second.region or None in (first.region, second.region))
        and (first.script == second.script or None in (first.script, second.script))
        for first, second in sides
    )


def _with_unique_ids(parts: Sequence[Dataset]) -> list[pl.DataFrame]:
    """The parts' tables; where two give one id to rows of the same system, the later part's ids get a number."""
    seen: set[tuple[str, str | None]] = set()
    frames: list[pl.DataFrame] = []
    for number, part in enumerate(parts, start=1):
        frame = part.segments
        keys = set(frame.select("id", "system").iter_rows())
        if keys & seen or _conflicts(frame, frames):
            frame = frame.with_columns(pl.concat_str(pl.lit(f"{number}/"), "id").alias("id"))
            keys = set(frame.select("id", "system").iter_rows())
        seen |= keys
        frames.append(frame)
    return frames


def _conflicts(frame: pl.DataFrame, earlier: Sequence[pl.DataFrame]) -> bool:
    """Whether an id names another source segment elsewhere."""
    columns = ["id", "source", "language_pair"]
    return any(
        frame.select(columns)
        .join(other.select(columns), on="id")
        .filter(
            pl.col("source").ne_missing(pl.col("source_right"))
            | pl.col("language_pair").ne_missing(pl.col("language_pair_right"))
        )
        .height
        for other in earlier
    )


def _concatenated(getters: Sequence[Callable[[], Sequence[str]]]) -> Callable[[], Sequence[str]]:
    return lambda: [text for get in getters for text in get()]
