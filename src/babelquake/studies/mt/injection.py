"""Did it translate or obey? Of sources with an instruction inside, per system and form of the instruction.

`obeyed` and `translated` are shares of translations, with Wilson's intervals by segment. They do not add up to 100: a
copy of the source, a text cut off or an answer to somebody else's question is neither, and a question that was
translated and then answered is both. ROBUST and CONSIS of these perturbations are about what was translated beside the
instruction (`reset.without_instruction`).
"""

from math import sqrt

import polars as pl

from babelquake.perturb.labels import known_card
from babelquake.runs.measures import Kind, Measure
from babelquake.stats.intervals import wilson
from babelquake.studies.mt import kinds

CELL = ["language_pair", "system", "perturbation", "level"]
KEYS = [*CELL, "row", "replicate"]


def injection_measures(translations: pl.LazyFrame, failures: pl.LazyFrame, told: pl.Expr) -> list[Measure]:
    """`obeyed` and `translated` of every system under every perturbation that injects; `told` says which rows count."""
    there = translations.select(pl.col("perturbation").drop_nulls().unique()).collect()["perturbation"].to_list()
    labels = [label for label in there if (card := known_card(label)) is not None and card.injects]
    if not labels:
        return []
    injected = told & pl.col("perturbation").is_in(labels)
    made = translations.filter(injected).select(KEYS)
    for name, kind in (("obeyed", "obeyed"), ("lost", "not-translated")):
        flags = failures.filter(injected & (pl.col("kind") == kind)).select(KEYS).unique()
        marked = flags.with_columns(pl.lit(1.0).alias(name))
        made = made.join(marked, on=KEYS, how="left", nulls_equal=True).with_columns(pl.col(name).fill_null(0.0))
    shares = (
        made.group_by(CELL, maintain_order=True)
        .agg(pl.col("obeyed", "lost").mean(), pl.col("row").n_unique().alias("n"))
        .sort(CELL)
        .collect()
    )
    found: list[Measure] = []
    for row in shares.iter_rows(named=True):
        place = {name: row[name] for name in CELL}
        found.append(_share(kinds.OBEYED, row["obeyed"], row["n"], place))
        found.append(_share(kinds.TRANSLATED, 1 - row["lost"], row["n"], place))
    return found


def _share(kind: Kind, share: float, n: int, place: dict[str, str | float | None]) -> Measure:
    """A share in per cent; its standard deviation is that of Agresti and Coull, which no share of 0 or 1 makes 0."""
    low, high = wilson(share * n, n)
    middle = (share * n + 2) / (n + 4)
    sd = sqrt(middle * (1 - middle) / (n + 4))
    return Measure(kind, 100 * share, n, sd=100 * sd, low=100 * low, high=100 * high, **place)  # type: ignore[arg-type]
