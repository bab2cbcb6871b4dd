"""Reading any input, or several as one data set."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from babelquake.data.columns import ALIASES
from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.formats import format_named, format_of
from babelquake.data.request import Request
from babelquake.errors import UserError, did_you_mean


def read(
    what: str | Path | Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    format: str | None = None,
) -> Dataset:
    """Read a file, a folder, standard input (`-`), a named data set, or several of them joined into one.

    Columns are found by their usual names or given by `columns` (field → column, several references with `+`; numbers
    for a file without header). `language_pair` is otherwise taken from a column, the file's name or its folder's.
    """
    inputs = [what] if isinstance(what, str | Path) else list(what)
    if not inputs:
        raise UserError("There is no data: name at least one file, folder or data set.")
    requests = [Request(str(item), columns, language_pair) for item in inputs]
    parts = [(format_named(format) if format else format_of(request.what)).read(request) for request in requests]
    return parts[0] if len(parts) == 1 else join(parts)


def join(parts: Sequence[Dataset]) -> Dataset:
    """Several data sets as one: rows below one another, judgements and others' attacks kept aligned, ids unique."""
    frames = _with_unique_ids(parts)
    offsets = [sum(frame.height for frame in frames[:position]) for position in range(len(frames))]
    pairs = [
        part.pairs.with_columns(pl.col("better", "worse") + offset)
        for part, offset in zip(parts, offsets, strict=True)
        if part.pairs is not None
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
        pairs=pl.concat(pairs, how="diagonal_relaxed") if pairs else None,
        attacked={key: _concatenated([part.attacked[key] for part in parts]) for key in shared},
        notes=tuple(notes),
    )


def require(dataset: Dataset, *fields: str) -> None:
    """Refuse a data set that lacks a field somebody needs, saying what it has."""
    for field in fields:
        column = "references" if field == "reference" else field
        if dataset.has(column):
            continue
        has = [name for name in dataset.segments.columns if dataset.has(name)]
        unused = [name for name in has if name not in SCHEMA]
        near = did_you_mean(field, unused)
        hint = f"{near} " if near.startswith("Did") else ""
        raise UserError(
            f"{dataset.name} has no {field} (it has: {', '.join(has)}). {hint}"
            f"Name the column {' or '.join(ALIASES[field][:2])}, or say columns {field}=NAME."
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
        frame.select(columns).join(other.select(columns), on="id").filter(
            pl.col("source").ne_missing(pl.col("source_right"))
            | pl.col("language_pair").ne_missing(pl.col("language_pair_right"))
        ).height
        for other in earlier
    )  # fmt: skip


def _concatenated(getters: Sequence[Callable[[], Sequence[str]]]) -> Callable[[], Sequence[str]]:
    return lambda: [text for get in getters for text in get()]
