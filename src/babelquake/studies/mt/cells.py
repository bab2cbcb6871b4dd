"""Cells of the MT study: one system under one perturbation, or on clean sources, judged by one scorer.

Niu 2020 §2: ROBUST(M|x,y,δ) = TQ(y′δ, y) / TQ(y′, y), CONSIS(M|x,δ) = harmonic mean of TQ(y′δ, y′) and TQ(y′, y′δ), in
per cent. Both are ratios: they mean something where the scorer's scale has a true zero and all qualities lie above it.
Every number is bootstrapped over segments, keyed by segment, so that all cells share their resamples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.runs.tables import Part, counted, pieces, same
from babelquake.scorers.base import Array, Scorer
from babelquake.stats.bootstrap import Resampled, ratio_of
from babelquake.stats.parallel import in_parallel
from babelquake.stats.resampling import Keys, by_unit, segment_keys
from babelquake.studies.cells import Cell, Chosen, Place, Shared, Sides, exchange_of, parts_of
from babelquake.studies.segment_units import COLUMN, Slices, keys_by_row, slices_of

GROUPS = ["language_pair", "system", "scorer", "perturbation", "level"]
REACHES_ZERO = 0.025
"""A quality reaches zero where its 95 % interval does."""
RATIOS = {"robust": "ROBUST", "consis": "CONSIS"}
WORDS = {
    "clean": "quality of clean translations",
    "perturbed": "quality of perturbed translations",
    "forward": "agreement of clean and perturbed translations",
    "backward": "agreement of clean and perturbed translations",
}


@dataclass(frozen=True)
class Judged:
    """The tables of a run, and how its numbers are drawn."""

    scores: pl.LazyFrame
    translations: pl.LazyFrame
    keys: Keys
    """What is resampled, of every row number: sentences, where nothing else is said."""
    told: pl.Expr
    """Which rows count: those of segments that have a source, for there is nothing to perturb in others."""
    resamples: int
    seed: int
    slices: Slices = field(default_factory=dict)
    """Parts of the segments that have their own cells."""

    @classmethod
    def of(
        cls,
        scores: pl.DataFrame | pl.LazyFrame,
        translations: pl.DataFrame | pl.LazyFrame,
        resamples: int,
        seed: int,
        segments: pl.DataFrame | None = None,
        by: str | None = None,
    ) -> "Judged":
        """`segments` say what is resampled where that is not sentences, and what they have in the column `by`."""
        keys, there = sentences(translations.lazy())
        told = pl.lit(True) if there.all() else pl.col("row").is_in(pl.Series(np.flatnonzero(there)).implode())
        keys = keys if segments is None or COLUMN not in segments.columns else keys_by_row(segments)
        slices = {} if segments is None else slices_of(segments, by)
        return cls(scores.lazy(), translations.lazy(), keys, told, resamples, seed, slices)


def sentences(translations: pl.LazyFrame) -> tuple[Keys, NDArray[np.bool_]]:
    """For every row number the key of its source, and whether it has one."""
    rows = int(translations.select(pl.col("row").max()).collect().item() or 0) + 1
    keys, there = np.zeros(rows, dtype=np.uint64), np.zeros(rows, dtype=np.bool_)
    clean = pl.col("perturbation").is_null() & (pl.col("source").str.strip_chars() != "")
    for piece in pieces(translations, clean, ["row", "source"]):
        new = piece.filter(~pl.Series(there[piece["row"].to_numpy()]))
        places = new["row"].to_numpy()
        keys[places], there[places] = segment_keys(new["source"]), True
    return keys, there


def cells(judged: Judged, scorers: Sequence[Scorer]) -> Iterator[list[Cell]]:
    """All cells, place by place, on all cores: over all texts, and over the changed ones where those are not all."""
    by_name = {scorer.name: scorer for scorer in scorers}
    scores, told, draws = judged.scores, _by(judged, scorers), (judged.resamples, judged.seed)
    shared = Shared()

    def make(values: Mapping[str, Any]) -> list[Cell]:
        scorer = by_name[values["scorer"]]
        sides = _Cut(scores, values, scorer, told, judged.keys, keep=bool(judged.slices))
        really = sides.changed(judged.translations, values)
        count = len(np.unique(sides.rows[really]))
        found = []
        for part, chosen in parts_of(sides.rows, really, judged.slices):
            changed = count if chosen is None else len(np.unique(sides.rows[chosen & really]))
            cell = _cell(Place(**values, **part), scorer, sides, chosen, changed, *draws)
            if chosen is None:
                found.append(replace(cell, keys=shared(cell.keys)))
                continue
            cell = replace(cell, keys=cell.keys[:0].copy(), marks=None)  # these are compared with no others
            found.append(_summed_up(cell) if cell.place.group is not None else cell)
        return found

    noisy, clean_places = places(judged, scorers)
    yield from in_parallel(make, noisy, len(judged.keys))
    for values in clean_places:
        clean = Part(scores, told & _CLEAN & same(**values), ["row"])
        yield [_clean_cell(Place(**values), by_name[values["scorer"]], clean, judged.keys, shared, *draws)]


def _clean_cell(
    place: Place, scorer: Scorer, clean: Part, keys: Keys, shared: Shared, resamples: int, seed: int
) -> Cell:
    """The quality of all clean translations that can be judged, whatever was done to their sources elsewhere."""
    units, rows = by_unit(keys[clean.index["row"].to_numpy()], clean.statistics("statistics"))
    cell = Cell(place, shared(units), clean.index.height)
    cell.compute({"quality": lambda sums: quality(scorer, sums)}, [rows], resamples, seed)
    cell.sides.clear()
    return cell


class _Cut(Sides):
    """The sides of one cell, cut from the table of scores."""

    def __init__(
        self,
        scores: pl.LazyFrame,
        values: Mapping[str, Any],
        scorer: Scorer,
        told: pl.Expr,
        keys: Keys,
        keep: bool = False,
    ) -> None:
        self._scorer = scorer
        here = {name: values[name] for name in GROUPS[:3]}
        noisy, clean = told & same(**values), same(**here, perturbation=None)
        self._kept: dict[str, Array] | None = {} if keep else None
        super().__init__(scores, noisy, clean, ["row", "replicate"], keys)
        there = scores.filter(noisy).select(pl.col("statistics", "forward").is_not_null()).collect()
        self.judged: NDArray[np.bool_] = there["statistics"].to_numpy()
        """Which of the perturbed texts have a quality: where the scorer needs a reference, those that have one."""
        judged, paired = self.judged.any(), there["forward"].any()
        both = (("clean", "perturbed", "hurt") if judged else ()), (("forward", "backward") if paired else ())
        self.names = [name for some in both for name in some]

    def changed(self, translations: pl.LazyFrame, values: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Which of the perturbed sources differ from their original."""
        here = same(**{name: value for name, value in values.items() if name != "scorer"})
        listed = translations.filter(here & pl.col("changed")).select("row", "replicate").collect()
        return np.isin(_numbered(self.noisy.index), _numbered(listed))

    def table(self, side: str, chosen: Chosen) -> Array:
        """One of its sides by name; read once where many parts are cut from it."""
        if self._kept is not None and side in self._kept:
            return self.by_segment(self._kept[side], chosen)
        texts = self._texts(side)
        if self._kept is not None:
            self._kept[side] = texts
        return self.by_segment(texts, chosen)

    def _texts(self, side: str) -> Array:
        if side == "clean":
            return self.of_clean()
        if side == "hurt":
            return hurt(self._scorer, self.of_clean, lambda: self.noisy.statistics("statistics"), self.judged)
        return self.noisy.statistics("statistics" if side == "perturbed" else side)


def _numbered(variants: pl.DataFrame) -> NDArray[np.uint64]:
    """One number for each variant of a place."""
    row, replicate = (variants[name].cast(pl.UInt64).to_numpy() for name in ("row", "replicate"))
    return np.asarray((row << np.uint64(32)) | replicate)


_CLEAN = pl.col("perturbation").is_null() & pl.col("statistics").is_not_null()


def places(judged: Judged, scorers: Sequence[Scorer]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What there is a cell of, where something was perturbed, and of clean translations that have a quality."""
    wanted = ((pl.col("perturbation").is_not_null(), GROUPS), (_CLEAN, GROUPS[:3]))
    by = _by(judged, scorers)
    listed = (counted(judged.scores, by & which, columns).select(columns) for which, columns in wanted)
    noisy, clean = (table.rows(named=True) for table in listed)
    return noisy, clean


def _by(judged: Judged, scorers: Sequence[Scorer]) -> pl.Expr:
    """The rows that count and that some scorers judged."""
    return judged.told & pl.col("scorer").is_in([scorer.name for scorer in scorers])


def _summed_up(cell: Cell) -> Cell:
    """A cell of a slice: only what it says and its tests are kept."""
    numbers: dict[str, Resampled] = {name: drawn.summary() for name, drawn in cell.numbers.items()}
    return replace(cell, numbers=numbers, contributions={})


def _cell(place: Place, scorer: Scorer, sides: _Cut, chosen: Chosen, changed: int, resamples: int, seed: int) -> Cell:
    """One cell, over all its texts or over those chosen."""
    rows, keys = (values if chosen is None else values[chosen] for values in (sides.rows, sides.keys))
    judged = rows[sides.judged if chosen is None else sides.judged[chosen]]
    sizes = dict.fromkeys(OF_QUALITY, len(np.unique(judged)))
    cell = Cell(place, np.unique(keys), len(np.unique(rows)), changed, sizes)
    fill(cell, scorer, {name: partial(sides.table, name, chosen) for name in sides.names}, resamples, seed)
    return cell


def fill(cell: Cell, scorer: Scorer, sides: Mapping[str, Callable[[], Array]], resamples: int, seed: int) -> None:
    """Every number that a cell's sides allow, and the test of Δ.

    `sides` are clean, perturbed, hurt, forward, backward, or some of them in this order.
    """
    tables = list(sides.values())
    if tables:
        cell.compute(_formulas(scorer, list(sides)), tables, resamples, seed)
        _without_meaningless_ratios(cell, scorer)
    if "delta" in cell.numbers:
        cell.tests["delta"] = exchange_of(cell, partial(quality, scorer), tables, seed)
    cell.sides.clear()


def quality(scorer: Scorer, sums: Array) -> Array:
    """TQ of summed statistics; error rates count as 100 − rate, as Niu §2 takes '1 minus TER'."""
    scores = scorer.aggregate(sums)
    return scores if scorer.higher_is_better else 100 - scores


def hurt(scorer: Scorer, clean: Callable[[], Array], perturbed: Callable[[], Array], judged: Any = True) -> Array:
    """Per text: is the translation of the perturbed source worse than that of the clean one, and are both judged?"""
    with np.errstate(divide="ignore", invalid="ignore"):
        before, after = quality(scorer, clean()), quality(scorer, perturbed())
    there = np.isfinite(before) & np.isfinite(after) & judged
    return np.stack([there & (after < before), there], axis=1).astype(np.float64)


def harmonic_mean(one: Array, other: Array) -> Array:
    """2ab/(a + b), and 0 where both are 0."""
    return np.where(one + other == 0, 0.0, 2 * one * other / np.where(one + other == 0, 1.0, one + other))


FORMULAS: dict[str, tuple[tuple[str, ...], Callable[..., Array]]] = {
    "quality": (("clean",), lambda clean: clean),
    "quality_perturbed": (("perturbed",), lambda perturbed: perturbed),
    "delta": (("clean", "perturbed"), lambda clean, perturbed: perturbed - clean),
    "robust": (("clean", "perturbed"), lambda clean, perturbed: 100 * perturbed / clean),
    "hurt": (("hurt",), lambda share: share),
    "consis": (("forward", "backward"), harmonic_mean),
    "forward": (("forward",), lambda forward: forward),
    "backward": (("backward",), lambda backward: backward),
}

OF_QUALITY = [name for name, (sides, _) in FORMULAS.items() if {"clean", "perturbed", "hurt"} & {*sides}]
"""What is measured on segments with a quality alone."""


def _formulas(scorer: Scorer, sides: list[str]) -> dict[str, Callable[..., Array]]:
    """Each measure as a function of the sums of all tables."""
    meant = {"hurt": ratio_of(0, 1, times=100)}

    def of_sums(needs: tuple[str, ...], function: Callable[..., Array]) -> Callable[..., Array]:
        chosen = [(sides.index(side), meant.get(side, partial(quality, scorer))) for side in needs]
        return lambda *sums: function(*(of(sums[place]) for place, of in chosen))

    return {name: of_sums(*formula) for name, formula in FORMULAS.items() if set(formula[0]) <= set(sides)}


def reaches_zero(drawn: Resampled, divides: bool) -> bool:
    """Whether a quality, or its interval, is below zero; what is divided by must not be zero either."""
    values = np.append(drawn.values, drawn.value)
    low = values <= 0 if divides else values < 0
    return bool(low[-1] or np.mean(low[:-1]) > REACHES_ZERO)


def _without_meaningless_ratios(cell: Cell, scorer: Scorer) -> None:
    """Take ROBUST and CONSIS away where they mean nothing, and say why."""
    named = {"clean": "quality", "perturbed": "quality_perturbed"}
    for name, called in RATIOS.items():
        if name not in cell.numbers:
            continue
        if not scorer.ratio_scale:
            cell.notes[name] = f"{called} is a ratio, and {scorer.name} has no true zero."
        for side in FORMULAS[name][0]:
            if reaches_zero(cell.numbers[named.get(side, side)], divides=side == "clean"):
                cell.notes.setdefault(name, f"{called} is a ratio, and the {WORDS[side]} reaches zero.")
        if name in cell.notes:
            del cell.numbers[name]
    for side in ("forward", "backward"):
        cell.numbers.pop(side, None)
