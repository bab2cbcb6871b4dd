"""Quality control: who looked at what they rated?

Two tests on control items, each one-sided at 5 %. A task (HIT) passes if its annotator was steadier on repeated items
than the degraded ones were worse (Huang 2023 Appendix A); an annotator passes if degraded translations got lower
scores than the same translations undamaged (WMT: paired t-test over everything the annotator did).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from babelquake.data.ratings.table import BAD_REFERENCE, REPEAT, SYSTEM
from babelquake.stats.groups import Array
from babelquake.stats.ranks import paired_t, rank_sum

ALPHA = 0.05
SAME = ("hit", "annotator", "system", "segment")


def controls(ratings: pl.DataFrame) -> pl.DataFrame:
    """Control items beside the ratings of the same translation in the same task: `type`, `raw` and `original`."""
    originals = ratings.filter(type=SYSTEM).group_by(SAME).agg(original=pl.col("raw").mean())
    wanted = ratings.filter(pl.col("type").is_in([REPEAT, BAD_REFERENCE]) & pl.col("raw").is_not_null())
    found = wanted.join(originals, on=SAME, how="inner", nulls_equal=True, maintain_order="left")
    return found.select(*SAME, "type", "raw", "original")


def hit_quality(ratings: pl.DataFrame, alpha: float = ALPHA) -> pl.DataFrame:
    """Per task: mean change on repeated and on degraded items, p of the rank-sum test, whether it passed.

    Repeats count by the size of their change, degraded items by how much they lost, so that whoever scores damaged
    text higher does not pass. `passed` is null where there are no control items of both kinds.
    """
    table = controls(ratings)
    rows = []
    for (hit, annotator), items in _groups(ratings, table, ["hit", "annotator"]):
        repeats, losses = _changes(items, REPEAT, size=True), _changes(items, BAD_REFERENCE, size=False)
        p = rank_sum(repeats, losses, "less").p if repeats.size and losses.size else None
        rows.append((hit, annotator, _mean(repeats), _mean(losses), repeats.size, losses.size, p, _passed(p, alpha)))
    columns = ("hit", "annotator", "repeat_change", "degraded_loss", "repeats", "degraded", "p", "passed")
    return _table(rows, columns)


def annotator_quality(ratings: pl.DataFrame, alpha: float = ALPHA) -> pl.DataFrame:
    """Per annotator: the paired t-test of degraded against undamaged translations, as WMT publishes it.

    `passed` is null with fewer than two such pairs.
    """
    table = controls(ratings)
    rows = []
    for (annotator,), items in _groups(ratings, table, ["annotator"]):
        losses = _changes(items, BAD_REFERENCE, size=False)
        repeats = _changes(items, REPEAT, size=True)
        t, p = paired_t(-losses)
        rows.append((annotator, _mean(repeats), _mean(losses), repeats.size, losses.size, t, p, _passed(p, alpha)))
    columns = ("annotator", "repeat_change", "degraded_loss", "repeats", "degraded", "t", "p", "passed")
    return _table(rows, columns)


def share_passed(quality: pl.DataFrame) -> float | None:
    """The share of those that could be tested."""
    tested = quality["passed"].drop_nulls()
    return float(tested.mean()) if tested.len() else None  # type: ignore[arg-type]


def kept(ratings: pl.DataFrame, exclude: str, alpha: float = ALPHA) -> pl.DataFrame:
    """Ratings without those of failed tasks (`hits`), failed annotators (`annotators`), `both`, or none."""
    found = ratings
    if exclude in ("hits", "both"):
        failed = hit_quality(found, alpha).filter(passed=False).select("hit", "annotator")
        found = found.join(failed, on=["hit", "annotator"], how="anti", nulls_equal=True, maintain_order="left")
    if exclude in ("annotators", "both"):
        failed = annotator_quality(found, alpha).filter(passed=False).select("annotator")
        found = found.join(failed, on="annotator", how="anti", maintain_order="left")
    return found


def _groups(
    ratings: pl.DataFrame, table: pl.DataFrame, keys: list[str]
) -> "list[tuple[tuple[object, ...], pl.DataFrame]]":
    """Every task or annotator in order of appearance with its control items, none for those that have none."""
    parts = table.partition_by(keys, as_dict=True)
    everyone = ratings.select(keys).unique(maintain_order=True).iter_rows()
    return [(key, parts.get(key, table.clear())) for key in everyone]


def _changes(items: pl.DataFrame, kind: str, *, size: bool) -> Array:
    loss = items.filter(type=kind).select(pl.col("original") - pl.col("raw")).to_series().to_numpy()
    return np.abs(loss) if size else loss


def _passed(p: float | None, alpha: float) -> bool | None:
    return None if p is None else p <= alpha


def _mean(values: Array) -> float | None:
    return float(values.mean()) if values.size else None


def _table(rows: Sequence[tuple[object, ...]], columns: tuple[str, ...]) -> pl.DataFrame:
    kinds = {"hit": pl.String, "annotator": pl.String, "repeats": pl.Int64, "degraded": pl.Int64, "passed": pl.Boolean}
    return pl.DataFrame(rows, schema={name: kinds.get(name, pl.Float64) for name in columns}, orient="row")
