"""How much worse do people find perturbed translations? By victim, recipe and year (Huang 2023 §3.1, Figure 5)."""

import polars as pl

from babelquake.stats.families import corrected
from babelquake.stats.intervals import mean_interval
from babelquake.stats.resampling import segment_keys
from babelquake.stats.superiority import signed_rank_test
from babelquake.studies.human.export import SIDES

CELLS = ("victim", "recipe", "year")
SCHEMA = {
    **dict.fromkeys(CELLS, pl.String),
    "n": pl.Int64,
    "original": pl.Float64,
    "perturbed": pl.Float64,
    "loss": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_corrected": pl.Float64,
}


def degradation(ratings: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Per cell: mean standardised score of both sides and the loss, with a 95 % interval and a one-sided p.

    The p is Wilcoxon's signed-rank test that originals are rated higher, corrected by step-down max-T over the cells of
    a victim. No rows where the ratings are not of
    original and perturbed translations; columns the data do not have are null.
    """
    known = [name for name in CELLS if f"group_{name}" in ratings.columns]
    if not segments.height or set(segments["system"].unique()) != set(SIDES):
        return pl.DataFrame(schema=SCHEMA)
    groups = ratings.group_by("segment").agg(pl.col(f"group_{name}").first().alias(name) for name in known)
    sides = [segments.filter(system=side).select("segment", pl.col("z").alias(side)) for side in SIDES]
    both = sides[0].join(sides[1], on="segment").join(groups, on="segment", how="left")
    parts = both.partition_by(known, as_dict=True, maintain_order=True) if known else {(): both}
    rows, tests = [], []
    for key, part in sorted(parts.items(), key=lambda item: str(item[0])):
        cell = dict(zip(known, key, strict=True))
        original, perturbed = (part[side].to_numpy() for side in SIDES)
        low, high = mean_interval(original - perturbed)
        tests.append(signed_rank_test(original, perturbed, segment_keys(part["segment"].cast(pl.String))))
        rows.append(
            {
                **dict.fromkeys(CELLS),
                **cell,
                "n": part.height,
                "original": float(original.mean()),
                "perturbed": float(perturbed.mean()),
                "loss": float((original - perturbed).mean()),
                "low": low,
                "high": high,
                "p": tests[-1].p,
            }
        )
    victims = [row["victim"] for row in rows]
    for victim in dict.fromkeys(victims):
        own = [place for place, name in enumerate(victims) if name == victim]
        for place, outcome in zip(own, corrected([tests[place] for place in own]), strict=True):
            rows[place]["p_corrected"] = outcome.p_corrected
    return pl.DataFrame(rows, schema=SCHEMA)
