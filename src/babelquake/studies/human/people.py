"""How annotators work: quality control, time per item, use of the scale, who deserves a closer look, who agrees.

Quality control asks who looked at what they rated, by two tests on control items, each one-sided at 5 %. A task (HIT)
passes if its annotator was steadier on repeated items than the degraded ones were worse (Huang 2023 Appendix A); an
annotator passes if degraded translations got lower scores than the same translations undamaged (WMT: paired t-test over
everything the annotator did).

Do suggested errors change what annotators say? Which items show their suggestions is drawn at random for every
annotator, so whatever differs between translations with and without them beyond chance is the suggestions' doing.
Numbers are taken less their annotator's mean. The test draws anew which of an annotator's items were shown with
suggestions; the interval resamples segments.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data.ratings import BAD_REFERENCE, REPEAT, SYSTEM, TUTORIAL
from babelquake.errors import UserError
from babelquake.runs.measures import ALPHA
from babelquake.stats.agreement import Array
from babelquake.stats.bootstrap import bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.pvalues import p_value
from babelquake.stats.ranks import paired_t, rank_sum
from babelquake.stats.reliability import krippendorff, rater_pairs
from babelquake.stats.resampling import segment_keys
from babelquake.stats.testing import Test

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


FAST_SHARE = 0.25
"""Faster than this share of the campaign's median time per item is suspicious."""
FLAT = 5.0
"""A standard deviation below this many points uses next to nothing of a scale of 100."""
ENOUGH = 10
"""Ratings before anything is held against anybody."""


def annotator_habits(ratings: pl.DataFrame, quality: pl.DataFrame) -> pl.DataFrame:
    """Per annotator: ratings, tasks, mean and spread of scores, median seconds, quality control, suspicions."""
    working = ratings.filter(pl.col("type") != TUTORIAL)
    usual = working["seconds"].median()
    most_common = pl.col("raw").value_counts(sort=True).first().struct.field("count") / pl.len()
    habits = working.group_by("annotator", maintain_order=True).agg(
        ratings=pl.len().cast(pl.Int64),
        tasks=pl.col("hit").n_unique().cast(pl.Int64),
        mean=pl.col("raw").mean(),
        sd=pl.col("raw").std(ddof=1),
        seconds=pl.col("seconds").median(),
        same=most_common,
    )
    found = habits.join(quality, on="annotator", how="left", maintain_order="left")
    reasons = [_suspicions(row, usual) for row in found.iter_rows(named=True)]
    return found.with_columns(suspicions=pl.Series(reasons, dtype=pl.List(pl.String)))


def _suspicions(row: dict[str, Any], usual: Any) -> list[str]:
    """Reasons to look closer, in words."""
    if row["ratings"] < ENOUGH:
        return []
    found = []
    if row["passed"] is False:
        found.append("degraded translations were not scored lower")
    if row["sd"] is not None and row["sd"] < FLAT:
        found.append("hardly uses the scale")
    elif row["same"] is not None and row["same"] > 0.5:
        found.append("the same score for most items")
    if usual and row["seconds"] is not None and row["seconds"] < FAST_SHARE * usual:
        found.append("much faster than the others")
    return found


@dataclass(frozen=True)
class Times:
    """Seconds per rating, and hours in all; None where nobody took the time."""

    median: float | None = None
    quarter: float | None = None
    three_quarters: float | None = None
    hours: float | None = None


def times(ratings: pl.DataFrame) -> Times:
    """How long ratings took."""
    seconds = ratings["seconds"].drop_nulls()
    if not seconds.len():
        return Times()
    quarter, median, three_quarters = (seconds.quantile(share, "linear") for share in (0.25, 0.5, 0.75))
    return Times(median, quarter, three_quarters, float(seconds.sum()) / 3600)


def span_counts(ratings: pl.DataFrame) -> pl.DataFrame:
    """Per system: minor and major errors marked per rating (ESA; Kocmi et al. 2024); no rows without spans."""
    marked = ratings.filter(pl.col("spans").is_not_null())
    counted = marked.select(
        "system",
        minor=pl.Series([_count(cell, "minor") for cell in marked["spans"]], dtype=pl.Int64),
        major=pl.Series([_count(cell, "major") for cell in marked["spans"]], dtype=pl.Int64),
    )
    return counted.group_by("system", maintain_order=True).agg(pl.col("minor").mean(), pl.col("major").mean())


def _count(cell: str, severity: str) -> int:
    return sum(span.get("severity") == severity for span in json.loads(cell))


@dataclass(frozen=True)
class Campaigns:
    """Agreement of two campaigns on the translations both judged."""

    pearson: float
    tau_c: float
    n: int


@dataclass(frozen=True)
class Annotators:
    """Agreement of a campaign's annotators; None where nothing was judged twice."""

    alpha_raw: float | None
    alpha_z: float | None
    pearson: float | None
    kendall: float | None
    pairs: int
    """Pairs of annotators who judged something in common."""
    common: int
    """What they judged in common, all pairs together."""
    units: int
    """Translations with several judgements."""


def annotator_agreement(ratings: pl.DataFrame) -> Annotators:
    """Krippendorff's α (interval) on raw and standardised scores; mean Pearson and Kendall of every two annotators.

    Of repeated items only the first showing counts, so that nobody agrees with themself.
    """
    judged = ratings.filter(type=SYSTEM).with_columns(unit=pl.format("{}\t{}", "system", "segment"))
    once = judged.group_by("annotator", "unit", maintain_order=True).agg(pl.col("raw").mean(), pl.col("z").mean())
    twice = once.filter(pl.col("unit").is_duplicated())
    score = "raw" if twice["raw"].null_count() < twice.height else "z"
    known = twice.drop_nulls(score)
    by_annotator: dict[str, dict[str, float]] = {}
    for annotator, unit, value in known.select("annotator", "unit", score).iter_rows():
        by_annotator.setdefault(annotator, {})[unit] = value
    raw, z = (_number(krippendorff(once["unit"], once[name])) for name in ("raw", "z"))
    found = rater_pairs(by_annotator)
    pearson, kendall = _number(found.pearson), _number(found.kendall)
    return Annotators(raw, z, pearson, kendall, found.pairs, found.common, twice["unit"].n_unique())


def campaign_agreement(first: pl.DataFrame, second: pl.DataFrame) -> Campaigns:
    """Pearson's r and Kendall's τ-c of two campaigns' segment means, raw scores, over the translations in both.

    τ-c (Stuart 1953) allows for different numbers of distinct scores on the two sides.
    """
    from scipy.stats import kendalltau

    both = first.join(second, on=["system", "segment"], how="inner", suffix="_other").drop_nulls(["raw", "raw_other"])
    if both.height < 2:
        raise UserError(
            "the two campaigns have fewer than two translations in common: system and segment names differ."
        )
    one, other = both["raw"].to_numpy(), both["raw_other"].to_numpy()
    tau = kendalltau(one, other, variant="c").statistic
    return Campaigns(float(np.corrcoef(one, other)[0, 1]), float(tau), both.height)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


DRAWS = 1999
MISSING = "missing"
ABOUT = {True: "something suggested", False: "nothing suggested"}
"""Translations in which something is there to suggest, and those in which nothing is: silence says something too."""
OUTCOMES = {
    "score": "score, of 100",
    "marked_there": "errors marked where suggested",
    "marked_elsewhere": "errors marked elsewhere",
    "seconds": "seconds",
}
EFFECTS: dict[str, Any] = {
    **dict.fromkeys(("about", "outcome"), pl.String),
    **dict.fromkeys(("with", "without", "difference", "low", "high", "p", "p_corrected"), pl.Float64),
    **dict.fromkeys(("n_with", "n_without"), pl.Int64),
}
TAKEN: dict[str, Any] = {"by": pl.String, **dict.fromkeys(("shown", "accepted", "dropped", "left"), pl.Int64)}


def suggestion_effects(ratings: pl.DataFrame) -> pl.DataFrame:
    """Every outcome with and without suggestions, its difference with interval, p and p corrected over all of them."""
    if "suggested" not in ratings.columns:
        return pl.DataFrame(schema=EFFECTS)
    judged = _outcomes(ratings.filter(pl.col("suggested").is_not_null() & (pl.col("type") == SYSTEM)))
    if not judged.height:
        return pl.DataFrame(schema=EFFECTS)
    drawn = _drawn_anew(judged)
    rows: list[tuple[Any, ...]] = []
    tests: list[Test] = []
    for about, label in ABOUT.items():
        part = judged.filter(about=about)
        for outcome in OUTCOMES:
            known = part.drop_nulls(outcome)
            n = {shown: known.filter(suggested=shown).height for shown in (True, False)}
            if not all(n.values()) or (outcome == "marked_there" and not about):
                continue
            centred = known.with_columns(pl.col(outcome) - pl.col(outcome).mean().over("annotator"))
            values, mean = centred[outcome].to_numpy(), float(known[outcome].mean() or 0)  # type: ignore[arg-type]
            with_them = centred["suggested"].to_numpy()
            there, gone = float(values[with_them].mean()), float(values[~with_them].mean())
            tests.append(_test(centred, outcome, drawn))
            effect = (mean + there, mean + gone, there - gone, *_interval(centred, outcome), tests[-1].p)
            rows.append((label, outcome, *effect, None, n[True], n[False]))
    found = pl.DataFrame(rows, schema=EFFECTS, orient="row")
    return found.with_columns(p_corrected=pl.Series([one.p_corrected for one in corrected(tests)], dtype=pl.Float64))


def suggestions_taken(ratings: pl.DataFrame) -> pl.DataFrame:
    """By who suggests – a kind of failure, a scorer, a file – how many were accepted, dropped, left alone."""
    if "suggested" not in ratings.columns:
        return pl.DataFrame(schema=TAKEN)
    shown = ratings.filter(pl.col("suggested") & (pl.col("type") == SYSTEM))
    counts: dict[str, dict[str, int]] = {}
    for cell in shown["suggestions"]:
        for one in json.loads(cell):
            row = counts.setdefault(one["by"], dict.fromkeys(list(TAKEN)[1:], 0))
            row["shown"] += 1
            row[{True: "accepted", False: "dropped", None: "left"}[one["accepted"]]] += 1
    rows = [{"by": by, **row} for by, row in sorted(counts.items(), key=lambda item: -item[1]["shown"])]
    return pl.DataFrame(rows, schema=TAKEN)


def _outcomes(ratings: pl.DataFrame) -> pl.DataFrame:
    """The columns `about` and those of `OUTCOMES`, and the screen they stood on."""
    there, elsewhere, about = [], [], []
    for spans, suggestions in ratings.select("spans", "suggestions").iter_rows():
        suggested = json.loads(suggestions or "[]")
        marked = [any(_overlap(one, other) for other in suggested) for one in json.loads(spans or "[]")]
        about.append(bool(suggested))
        there.append(float(sum(marked)))
        elsewhere.append(float(len(marked) - sum(marked)))
    screen = pl.struct("annotator", "hit", "item").rank("dense").cast(pl.Int64) - 1
    return ratings.with_columns(
        pl.Series("about", about, dtype=pl.Boolean),
        pl.Series("marked_there", there, dtype=pl.Float64),
        pl.Series("marked_elsewhere", elsewhere, dtype=pl.Float64),
        score=pl.col("raw"),
        screen=screen,
    )


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if MISSING in (one["start_i"], other["start_i"]):
        return bool(one["start_i"] == other["start_i"])
    return bool(one["start_i"] < other["end_i"] and other["start_i"] < one["end_i"])


def _interval(rows: pl.DataFrame, outcome: str) -> tuple[float, float]:
    sums = rows.group_by("segment", maintain_order=True).agg(
        pl.col(outcome).filter("suggested").sum().alias("there"),
        pl.col("suggested").sum().alias("n_there"),
        pl.col(outcome).filter(~pl.col("suggested")).sum().alias("gone"),
        (~pl.col("suggested")).sum().alias("n_gone"),
    )
    table = sums.select("there", "n_there", "gone", "n_gone").to_numpy().astype(np.float64)
    drawn = bootstrap(_difference, [table], DRAWS, 0, segment_keys(sums["segment"].cast(pl.String)))
    estimate = drawn.estimate()
    return estimate.low, estimate.high


def _difference(sums: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])


def _drawn_anew(judged: pl.DataFrame) -> NDArray[np.bool_]:
    """Which screens might have shown suggestions: every annotator as many as they saw, drawn from their screens."""
    screens = judged.group_by("screen").agg(pl.col("annotator").first(), pl.col("suggested").first()).sort("screen")
    drawn = np.tile(screens["suggested"].to_numpy(), (DRAWS, 1))
    generator = np.random.default_rng(0)
    for part in screens.with_row_index("place").partition_by("annotator", maintain_order=True):
        places = part["place"].to_numpy()
        drawn[:, places] = generator.permuted(drawn[:, places], axis=1)
    return drawn


def _test(rows: pl.DataFrame, outcome: str, drawn: NDArray[np.bool_]) -> Test:
    """The difference as it is, and as it would be with other screens shown."""
    screens, values = rows["screen"].to_numpy(), rows[outcome].to_numpy()
    table = np.stack([np.bincount(screens, part, drawn.shape[1]) for part in (values, np.ones(len(values)))], axis=1)
    whole = table.sum(axis=0)
    there = drawn @ table
    null = _difference(np.concatenate([there, whole - there], axis=1))
    shown = table[np.unique(screens[rows["suggested"].to_numpy()])].sum(axis=0)
    seen = float(_difference(np.concatenate([shown, whole - shown])))
    free = int((drawn.any(axis=0) & ~drawn.all(axis=0) & (table[:, 1] > 0)).sum())
    return Test(seen, null, free, free, p_value(null, seen, segments=max(free, 1)), "randomisation")
