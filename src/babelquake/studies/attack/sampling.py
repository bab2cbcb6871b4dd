"""Which sentences are attacked: all, or a sample that is balanced over columns of the data (Huang 2023 §3.2)."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.randomness import Stream
from babelquake.studies.cells import grouped


def attackable(data: Dataset, text: str, needed: Collection[str]) -> Dataset:
    """The data without segments whose `text` is blank, and without those that lack what a victim needs; counted."""
    lacking = pl.col(text).fill_null("").str.strip_chars() == ""
    for name in needed:
        column = pl.col("references" if name == "reference" else name)
        lacking |= column.is_null() if name != "reference" else column.list.drop_nulls().list.len().fill_null(0) == 0
    gone = data.segments.filter(lacking)
    if gone.is_empty():
        return data
    what = " or ".join(dict.fromkeys([text, *sorted(needed)]))
    said = f"{gone.height} of {len(data)} segments have no {what}"
    if gone.height == len(data):
        raise UserError(f"{data.name}: {said}: there is nothing to attack.")
    notes = (*data.notes, f"{data.name}: {said} and are left out, the first {gone['id'][0]}.")
    return replace(data, segments=data.segments.filter(~lacking), preferences=None, uncut=None, notes=notes)


def sampled(segments: pl.DataFrame, size: int | None, stratify: Sequence[str], seed: int) -> pl.DataFrame:
    """`size` segments, as evenly as possible over the values of the given columns together; all where size is None.

    The smallest strata give what they have and the others share the rest; where there are more strata than segments
    wanted, those that give one are drawn. Which segments are drawn depends on the
    segments and the seed alone, not on their order in the file. They keep that order.
    """
    if size is None or size >= segments.height:
        return segments
    if size < 1:
        raise UserError(f"{setting('sample', size)}: at least one sentence must be attacked.")
    keys = segments.select(stratify).rows() if stratify else [()] * segments.height
    strata = grouped(range(segments.height), lambda row: keys[row])
    sizes = {key: len(rows) for key, rows in strata.items()}
    shares = _shares(sizes, size) if size >= len(sizes) else _few(sizes, size, seed)
    drawn: list[int] = []
    for key, rows in strata.items():
        names = segments[rows].select("id", "system", "translation", "source").rows()
        order = sorted(range(len(rows)), key=lambda place: Stream(seed, "sample", *names[place]).random())
        drawn += [rows[place] for place in order[: shares[key]]]
    return segments[sorted(drawn)]


def column_of(name: str, segments: pl.DataFrame, option: str) -> str:
    """A column by whose values segments are told apart, or what is wrong with its name."""
    known = [column for column in segments.columns if not segments[column].dtype.is_nested()]
    if name not in known:
        raise UserError(f"{setting(option, name)}: the data have no such column. {did_you_mean(name, known)}")
    return name


def _shares(sizes: dict[tuple[object, ...], int], wanted: int) -> dict[tuple[object, ...], int]:
    """How many each stratum gives: the smallest first, each an equal part of what is still wanted."""
    shares = {}
    order = sorted(sizes, key=lambda key: (sizes[key], str(key)))
    for done, key in enumerate(order):
        shares[key] = min(sizes[key], wanted // (len(order) - done))
        wanted -= shares[key]
    return shares


def _few(sizes: dict[tuple[object, ...], int], wanted: int, seed: int) -> dict[tuple[object, ...], int]:
    """One each of as many strata as are wanted, drawn so that no name comes first."""
    order = sorted(sizes, key=lambda key: Stream(seed, "strata", *map(str, key)).random())
    return {key: int(place < wanted) for place, key in enumerate(order)}
