"""Quality control: who looked at what they rated?

Two tests on control items, each one-sided at 5 %. A task (HIT) passes if its annotator was steadier on repeated items
than the degraded ones were worse (Huang 2023 Appendix A); an annotator passes if degraded translations got lower
scores than the same translations undamaged (WMT: paired t-test over everything the annotator did).
"""

from collections.abc import Callable

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

    def test(repeats: Array, losses: Array) -> tuple[float | None]:
        return (rank_sum(repeats, losses, "less").p if repeats.size and losses.size else None,)

    return _tested(ratings, ["hit", "annotator"], ["p"], test, alpha)


def annotator_quality(ratings: pl.DataFrame, alpha: float = ALPHA) -> pl.DataFrame:
    """Per annotator: the paired t-test of degraded against undamaged translations, as WMT publishes it.

    `passed` is null with fewer than two such pairs.
    """
    return _tested(ratings, ["annotator"], ["t", "p"], lambda repeats, losses: paired_t(-losses), alpha)


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


def _tested(
    ratings: pl.DataFrame,
    keys: list[str],
    numbers: list[str],
    test: Callable[[Array, Array], tuple[float | None, ...]],
    alpha: float,
) -> pl.DataFrame:
    """Every task or annotator in order of appearance: its control items, and what a test makes of them, p last."""
    table = controls(ratings)
    parts = table.partition_by(keys, as_dict=True)
    rows = []
    for key in ratings.select(keys).unique(maintain_order=True).iter_rows():
        items = parts.get(key, table.clear())
        repeats, losses = np.abs(_losses(items, REPEAT)), _losses(items, BAD_REFERENCE)
        found = test(repeats, losses)
        passed = None if found[-1] is None else found[-1] <= alpha
        rows.append((*key, _mean(repeats), _mean(losses), repeats.size, losses.size, *found, passed))
    schema = {
        **dict.fromkeys(keys, pl.String),
        **dict.fromkeys(("repeat_change", "degraded_loss"), pl.Float64),
        **dict.fromkeys(("repeats", "degraded"), pl.Int64),
        **dict.fromkeys(numbers, pl.Float64),
        "passed": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _losses(items: pl.DataFrame, kind: str) -> Array:
    return items.filter(type=kind).select(pl.col("original") - pl.col("raw")).to_series().to_numpy()


def _mean(values: Array) -> float | None:
    return float(values.mean()) if values.size else None
