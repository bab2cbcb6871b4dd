"""Which texts the metric study perturbs, against what they are judged, and agreement where references are noisy."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.runs.chunks import same
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.parallel import in_parallel
from babelquake.studies.agreement import Judgements, agreement_cell
from babelquake.studies.cells import Cell, Place
from babelquake.studies.final_marks import unsampled, without_duplicates
from babelquake.studies.given_variants import brings_variants, refuse_shared_labels, with_given
from babelquake.studies.metric.options import MetricOptions, Side
from babelquake.studies.options import Unit
from babelquake.studies.plan import Given, Material
from babelquake.studies.segment_units import with_units

GIVEN = {"source": "perturbed", "translation": "translation_perturbed", "reference": "reference_perturbed"}
"""The column of variants that data bring, by the side that is perturbed."""


def mode_of(data: Dataset, side: Side, suite: object = None) -> str:
    """Which question the data and the side ask: of a challenge set with a suite beside it, how far scores move."""
    if side == "translation" and data.has(GIVEN[side]) and not suite:
        return "challenge"
    if side == "reference" and data.has("translation") and (data.has("score") or data.preferences is not None):
        return "agreement"
    return "sensitivity"


def material_of(
    data: Dataset,
    side: Side,
    mode: str,
    full_stops: int | None,
    seed: int,
    deduplicate: bool = False,
    unit: Unit = "segment",
    by: str | None = None,
) -> Material:
    """The texts to perturb. Source and reference texts are judged against themselves: f(X′, X), or f(X′, X, X)."""
    if side == "source" or (side == "reference" and mode == "sensitivity"):
        text = pl.col("source") if side == "source" else pl.col("references").list.first()
        if not data.has("source" if side == "source" else "references"):
            raise UserError(f"{data.name} has no {side} column for {setting('side', side)}.")
        once = data.segments.unique(["id", "language_pair"], maintain_order=True)
        segments = (without_duplicates(once) if deduplicate else once).with_columns(text=text)
        segments = segments.with_columns(
            source=pl.col("text"), references=pl.concat_list("text"), system=pl.lit(None, pl.String)
        )
    else:
        if deduplicate:
            raise UserError(
                f"{setting('deduplicate')} is for texts that are judged against themselves. Use "
                f"{setting('side', 'source')}, or {setting('side', 'reference')} with data without human judgements."
            )
        for needed in ("translation", "references"):
            if not data.has(needed):
                raise UserError(
                    f"{data.name} has no {needed}: {setting('side', side)} judges translations against references."
                )
        text = pl.col("translation") if side == "translation" else pl.col("references").list.first()
        segments = data.segments.with_columns(text=text)
        if data.has(GIVEN[side]):
            segments = segments.unique(["id", "language_pair", "system"], maintain_order=True)
    columns = ["row", "id", "language_pair", "system", "text", "source", "translation", "references", "score"]
    columns += [name for name in dict.fromkeys(("document", by)) if name in segments.columns and name not in columns]
    segments = segments.drop("row", strict=False).with_row_index("row").select(columns)
    if mode == "sensitivity":
        segments, _ = with_given(segments, data, GIVEN[side], "text")
    segments = with_units(segments, unit)
    return Material(
        segments,
        "reference" if mode == "agreement" else "translation",
        "source" if side == "source" else "target",
        frozenset() if full_stops is None else unsampled(segments, "text", full_stops, seed),
    )


STATISTICS = ("darr", "kendall_like", "pearson")


def noise_cells(
    given: Sequence[Judgements],
    rows: int,
    sums: pl.LazyFrame,
    scorers: Sequence[Scorer],
    perturbations: Sequence[tuple[str, float | None]],
    resamples: int,
    seed: int,
    threshold: float,
) -> Iterator[Cell]:
    """A cell per scorer, attack (label, level) and language pair; where it does not apply, the clean score stands."""

    def make(at: tuple[Scorer, pl.DataFrame, str, float | None, Judgements]) -> Cell:
        scorer, table, label, level, some = at
        clean, noisy = (
            _by_row(table.filter(same(perturbation=name, level=degree)), rows)
            for name, degree in ((None, None), (label, level))
        )
        values = scorer.sign * np.where(np.isnan(noisy), clean, noisy)[some.rows]
        place = Place(some.language_pair, scorer.name, label, level)
        return agreement_cell(place, some, values, STATISTICS, resamples=resamples, seed=seed, threshold=threshold)

    for scorer in scorers:
        table = sums.filter(pl.col("scorer") == scorer.name).select("row", "perturbation", "level", "score").collect()
        yield from in_parallel(make, [(scorer, table, *cell, some) for cell in perturbations for some in given])


def suite_for(data: Dataset, options: MetricOptions) -> Suite:
    """The suite that was named; where none was, Jwalapuram's, or every attack whose references come with the data."""
    if options.suite is None and (options.best_of is not None or brings_variants(data, GIVEN[options.side])):
        return Suite("", ())
    named = options.suite or (_attacks(data) if options.attacked else "jwalapuram2023")
    chosen = suite_of(named, options.replicates, options.vocabulary)
    refuse_shared_labels(data, chosen, GIVEN[options.side])
    return chosen


def _attacks(data: Dataset) -> list[str]:
    """Each attack at its levels, and at 0, where references are clean."""
    levels: dict[str, list[float]] = {}
    for name, level in data.attacked:
        levels.setdefault(name, [0.0]).append(level)
    if not levels:
        raise UserError(f"{data.name} has no perturbed references. Leave {setting('attacked')} out to have them made.")
    return [f"{name}[level={'|'.join(f'{level:g}' for level in sorted(some))}]" for name, some in levels.items()]


def attacked_texts(data: Dataset, suite: Suite) -> Given:
    """References that somebody else attacked, for every attack and level of the suite; level 0 is the clean one."""
    found: dict[tuple[str, float | None], Sequence[str]] = {}
    for perturbation in suite.perturbations:
        if perturbation.level == 0:
            continue
        texts = None if perturbation.level is None else data.attacked.get((perturbation.name, perturbation.level))
        if texts is None:
            known = ", ".join(f"{name}[level={level:g}]" for name, level in data.attacked) or "none"
            raise UserError(f"{data.name} has no references under {perturbation.spec}; it has: {known}.")
        found[perturbation.cell] = texts()
    return found


def _by_row(table: pl.DataFrame, rows: int) -> Array:
    values = np.full(rows, np.nan)
    values[table["row"].to_numpy()] = table["score"].to_numpy()
    return values
