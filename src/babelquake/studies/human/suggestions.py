"""Do suggested errors change what annotators say? The same translations with and without them.

Which items show their suggestions is drawn at random for every annotator, so whatever differs between the two beyond
chance is the suggestions' doing. Numbers are taken less their annotator's mean. The test draws anew which of an
annotator's items were shown with suggestions; the interval resamples segments.
"""

import json
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data.ratings.table import SYSTEM
from babelquake.stats.bootstrap import Array, bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.pvalues import p_value
from babelquake.stats.resampling import segment_keys
from babelquake.stats.testing import Test

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


def suggestion_effects(ratings: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Every outcome with and without suggestions, its difference with interval, p and p corrected over all of them."""
    if "suggested" not in ratings.columns:
        return pl.DataFrame(schema=EFFECTS)
    judged = _outcomes(ratings.filter(pl.col("suggested").is_not_null() & (pl.col("type") == SYSTEM)))
    if not judged.height:
        return pl.DataFrame(schema=EFFECTS)
    drawn = _drawn_anew(judged, seed)
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
            effect = (mean + there, mean + gone, there - gone, *_interval(centred, outcome, seed), tests[-1].p)
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


def _interval(rows: pl.DataFrame, outcome: str, seed: int) -> tuple[float, float]:
    sums = rows.group_by("segment", maintain_order=True).agg(
        pl.col(outcome).filter("suggested").sum().alias("there"),
        pl.col("suggested").sum().alias("n_there"),
        pl.col(outcome).filter(~pl.col("suggested")).sum().alias("gone"),
        (~pl.col("suggested")).sum().alias("n_gone"),
    )
    table = sums.select("there", "n_there", "gone", "n_gone").to_numpy().astype(np.float64)
    drawn = bootstrap(_difference, [table], DRAWS, seed, segment_keys(sums["segment"].cast(pl.String)))
    estimate = drawn.estimate()
    return estimate.low, estimate.high


def _difference(sums: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])


def _drawn_anew(judged: pl.DataFrame, seed: int) -> NDArray[np.bool_]:
    """Which screens might have shown suggestions: every annotator as many as they saw, drawn from their screens."""
    screens = judged.group_by("screen").agg(pl.col("annotator").first(), pl.col("suggested").first()).sort("screen")
    drawn = np.tile(screens["suggested"].to_numpy(), (DRAWS, 1))
    generator = np.random.default_rng(seed)
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
