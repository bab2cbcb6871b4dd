"""Which texts the metric study perturbs, and against what they are judged."""

import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.studies.final_marks import unsampled, without_duplicates
from babelquake.studies.given_variants import with_given
from babelquake.studies.metric.options import Side
from babelquake.studies.options import Unit
from babelquake.studies.plan import Material
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
