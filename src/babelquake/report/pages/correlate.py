"""The page of `correlate`: who agrees best with people, by every definition, and whose lead is more than chance."""

from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from babelquake.report.charts import HEIGHT, PALETTE, Chart, View, data, dots, points, tooltips
from babelquake.report.examples import Packed, with_scorers_shown
from babelquake.report.names import named, results_of, scorer_text, statistic_text
from babelquake.report.pages import Examples, Page
from babelquake.report.pitfalls import judge_tables
from babelquake.report.remedies import about_agreement
from babelquake.report.table import Table, crossed, interval, number, of, stars, table_of, text, with_interval
from babelquake.report.verdict import sentence_case
from babelquake.runs.measures import STATISTICS, Results, largest_first, values
from babelquake.runs.run import Run


def correlate_tables(run: Run) -> list[Table]:
    """Per language pair: scorers down, definitions across; then every two scorers compared."""
    results = results_of(run)
    tables = []
    for pair in values(results.where(*STATISTICS), "language_pair"):
        here = results.where(*STATISTICS, language_pair=pair, other=None, group=None)
        measures = [name for name in STATISTICS if any(row["measure"] == name for row in here)]
        names = tuple(map(statistic_text, measures))
        (table,) = crossed(
            f"Agreement with humans{of(pair)}",
            here,
            ("scorer",),
            {"scorer": named(here)},
            "measure",
            partial(with_interval, places=3),
            statistic_text,
            measures,
            "95 % intervals in brackets.",
            names[:0:-1],
        )
        tables.append(replace(table, better=tuple((name, "up") for name in names)))
    return tables + judge_tables(results) + _differences(results)


def _differences(results: Results) -> list[Table]:
    rows = results.where(*(f"{name}_difference" for name in STATISTICS))
    among = list(dict.fromkeys([*values(rows, "scorer"), *values(rows, "other")]))
    columns = {
        "language pair": text("language_pair"),
        "scorers": lambda row: f"{scorer_text(row['scorer'], among)} − {scorer_text(row['other'], among)}",
        "agreement": lambda row: statistic_text(row["measure"].removesuffix("_difference")),
        "difference": lambda row: number(row["value"], 3, sign=True) + stars(row["p_corrected"]),
        "95 % interval": lambda row: interval(row, 3),
    }
    note = "* p < .05, ** p < .01, *** p < .001, corrected within language pair and kind of agreement."
    spare = ("language pair", "95 % interval") if len(values(rows, "language_pair")) == 1 else ("95 % interval",)
    return table_of("Differences between scorers", rows, columns, note, spare)


def correlate_views(run: Run) -> list[View]:
    """Per language pair: agreement with intervals by every definition, then each scorer's scores against people's."""
    results = results_of(run)
    pairs = values(results.where(*STATISTICS), "language_pair")
    return [
        View(pair or "all", [*_agreement(results, pair), *_scatters(run, results, pair)], key={"language_pair": pair})
        for pair in sorted(pairs, key=lambda pair: pair != "average")
    ]


def _agreement(results: Results, pair: str | None) -> list[Chart]:
    rows = [row for row in results.known(*STATISTICS, language_pair=pair) if row["other"] is None]
    first = next((name for name in STATISTICS if any(row["measure"] == name for row in rows)), None)
    if first is None:
        return []
    order = [row["scorer"] for row in largest_first(rows) if row["measure"] == first]
    rows.sort(
        key=lambda row: (
            list(STATISTICS).index(row["measure"]),
            order.index(row["scorer"]) if row["scorer"] in order else len(order),
        )
    )
    shown = points(rows, name=named(rows), label=lambda row: sentence_case(statistic_text(row["measure"])))
    scale = alt.Scale(zero=False, nice=True)
    chart = dots(shown, values(shown, "name"), "scorer", "agreement", scale, label="measured by", value="agreement")
    described = (
        "Agreement of every scorer with people, by every definition, with 95 % intervals; further right is better."
    )
    return [Chart("agreement", f"Agreement with people{of(pair)}", described, chart)]


def _scatters(run: Run, results: Results, pair: str | None) -> list[Chart]:
    """Each scorer's scores against people's, segment by segment."""
    people = run.scan("segments").select("row", people="score") if "score" in run.columns("segments") else None
    if people is None or pair == "average" or not run.has("scores"):
        return []
    here = pl.col("language_pair").eq_missing(pl.lit(pair))
    scores = run.scan("scores").filter(here, pl.col("score").is_finite())
    both = scores.join(people, on="row", maintain_order="left").drop_nulls("people")
    table = both.select("row", "scorer", "score", "people").collect()
    among = table["scorer"].unique(maintain_order=True).to_list()
    charts = []
    for scorer in among[:MOST]:
        mine = table.filter(scorer=scorer)
        if mine.height < LEAST:
            continue
        shown = mine.filter(pl.col("row") % max(1, mine.height // POINTS) == 0)
        found = results.one("pearson", language_pair=pair, scorer=scorer)
        r = f", Pearson's r = {number(found['value'], 2)}" if found and found["value"] is not None else ""
        name = scorer_text(scorer, among)
        described = f"Every point is a translation: its {name} across, people's score up{r}."
        described += f" {shown.height:,} of {mine.height:,} are shown." if shown.height < mine.height else ""
        charts.append(Chart(f"scatter-{scorer}", f"{name} against people", described, _scatter(shown, name)))
    return charts


MOST, LEAST, POINTS = 8, 5, 400
"""Scorers that have a picture; points that one needs, and that it shows at most, about."""


def _scatter(table: pl.DataFrame, name: str) -> Any:
    chart = alt.Chart(data(table.to_dicts())).mark_point(filled=True, size=30, opacity=0.5, color=PALETTE[0])
    x = alt.X("score:Q", title=name, scale=alt.Scale(zero=False))
    y = alt.Y("people:Q", title="people", scale=alt.Scale(zero=False))
    return chart.encode(x=x, y=y, tooltip=tooltips(score=name, people="people")).properties(height=HEIGHT)


def correlate_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Every judged translation; the damage is how far apart scorer and people rank it, in per cent of all ranks."""
    segments = run.scan("segments").filter(pl.col("score").is_not_null())
    people = segments.select("row", "id", "source", "translation", people="score")
    scores = run.scan("scores").filter(pl.col("score").is_finite()).select("row", "scorer", "language_pair", "score")
    of = ["scorer", "language_pair"]
    errors = run.info.facts.lower_is_better
    better = pl.when(pl.col("scorer").is_in(errors)).then(-pl.col("score")).otherwise("score")
    ranked = scores.join(people, on="row", maintain_order="left").with_columns(
        by_scorer=100 * better.rank("average").over(of) / pl.len().over(of),
        by_people=100 * pl.col("people").rank("average").over(of) / pl.len().over(of),
    )
    return ranked.filter(wanted).with_columns(
        perturbation=pl.when(pl.col("by_scorer") > pl.col("by_people"))
        .then(pl.lit("rated far too high"))
        .otherwise(pl.lit("rated far too low")),
        level=pl.lit(None, pl.Float64),
        replicate=pl.lit(0),
        drop=(pl.col("by_scorer") - pl.col("by_people")).abs(),
        original=pl.col("source"),
        text=pl.col("translation"),
        before=pl.format("{} of 100 by rank, score {}", pl.col("by_people").round(0).cast(pl.Int64), "people"),
        after=pl.format("{} of 100 by rank, score {}", pl.col("by_scorer").round(0).cast(pl.Int64), ROUNDED),
    )


ROUNDED = pl.when(pl.col("score").abs() > 5).then(pl.col("score").round(1)).otherwise(pl.col("score").round(3))
FACETS = (("scorer", "Scorer"), ("cell", "Disagreement"), ("language_pair", "Language pair"))


def correlate_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The translation with its source, and what scorer and people say."""
    packed = Packed(with_scorers_shown(table))
    packed.beside("Source", "segment_source")
    packed.beside("Translation", "text")
    packed.beside("Reference", "segment_reference")
    packed.beside("People", "before")
    packed.beside("Scorer", "after")
    return packed.columns("ranks apart, in % of all", FACETS)


PAGE = Page(
    correlate_tables,
    correlate_views,
    Examples(
        correlate_examples, "scorer", correlate_columns, sides=("people", "scorer"), title="Largest disagreements"
    ),
    advice=about_agreement,
)
