"""The page of `human`: the ranking with its clusters and the matrix behind it, who can be trusted, what is left."""

from typing import Any

import altair as alt
import polars as pl

from babelquake.report.charts import BAD, GOOD, HEIGHT, NEUTRAL, Chart, View, data, dots, points, tooltips
from babelquake.report.pages import Page
from babelquake.report.table import Table, digits, number, of, stars, table_of, text
from babelquake.runs.run import Run
from babelquake.studies.card import findings_of
from babelquake.studies.human.people import OUTCOMES
from babelquake.studies.kinds import human as kinds

CLUSTER_NOTE = (
    "Wins: systems that this one beats by a one-sided rank-sum test on segment means (p < .05). "
    "A cluster ends where every system above beats every system below, as in the WMT findings."
)
REJECTED_NOTE = "No ranks: quality control rejected most of the ratings, and what is left is not enough."
PASSED = {None: "cannot be tested", True: "passed", False: "failed"}


def human_tables(run: Run) -> list[Table]:
    """Ranking and matrix per language pair, then perturbed translations, tasks, annotators and what is still needed."""
    systems, pairs = run.table("systems"), run.table("pairs")
    rejected = any(finding.what == "ratings_rejected" for finding in findings_of(run))
    tables = []
    for part in systems.partition_by("language_pair", maintain_order=True):
        pair = part["language_pair"][0]
        tables += _ranking(part, pair, rejected)
        if part.height > 1:
            tables.append(_matrix(part, pairs.filter(pl.col("language_pair").eq_missing(pl.lit(pair))), pair))
    return [*tables, *_losses(run), *_suggestions(run), *_agreement(run), *_annotators(run), *_power(run)]


def _ranking(systems: pl.DataFrame, pair: str | None, rejected: bool) -> list[Table]:
    """Systems by rating; without ranks where quality control rejected most of the ratings."""
    marked = "minor" in systems.columns and systems["minor"].null_count() < systems.height
    columns = {
        "rank": (lambda row: "–") if rejected else _ranks,
        "system": text("system"),
        "rating": digits("raw"),
        "z": digits("z", 3, sign=True),
        "segments": text("segments"),
        "ratings": text("ratings"),
        "wins": text("wins"),
        **{kind: digits(kind, 2) for kind in (("minor", "major") if marked else ())},
    }
    return table_of(f"Ranking{of(pair)}", systems.to_dicts(), columns, REJECTED_NOTE if rejected else CLUSTER_NOTE)


def _ranks(row: dict[str, Any]) -> str:
    first, last = row["cluster_start"], row["cluster_end"]
    return str(first) if first == last else f"{first}–{last}"


def _matrix(systems: pl.DataFrame, pairs: pl.DataFrame, pair: str | None) -> Table:
    """p that the row's system is rated higher than the column's, as the WMT findings print it."""
    names = systems["system"].to_list()
    known = {(row["system"], row["than"]): row["p"] for row in pairs.iter_rows(named=True)}
    lines = tuple((name, *("" if name == other else _p(known[(name, other)]) for other in names)) for name in names)
    note = (
        "One-sided rank-sum p that the system of the row is rated higher than that of the column; * below .05. Not "
        "corrected, as WMT prints them; the corrected ones are in measures.csv."
    )
    return Table(f"Rank-sum tests{of(pair)}", ("system", *names), lines, note)


def _p(value: float) -> str:
    shown = f"{value:.3f}".lstrip("0") if value >= 0.001 else f"{value:.0e}"
    return shown + ("*" if value < 0.05 else "")


def _losses(run: Run) -> list[Table]:
    corrected = {
        (row["scorer"], row["perturbation"], row["group"]): row["p_corrected"]
        for row in run.measures.filter(measure="rating_loss").iter_rows(named=True)
    }
    columns = {
        "victim": text("victim"),
        "recipe": text("recipe"),
        "year": text("year"),
        "tuples": text("n"),
        "original": digits("original", 2, sign=True),
        "perturbed": digits("perturbed", 2, sign=True),
        "loss": lambda row: (
            number(row["loss"], 2, sign=True) + stars(corrected.get((row["victim"], row["recipe"], row["year"])))
        ),
    }
    note = (
        "Mean standardised ratings. * p < .05, ** p < .01, *** p < .001, one-sided signed-rank tests, "
        "corrected by step-down max-T over the rows of a victim."
    )
    return table_of("Perturbed translations, as people rate them", run.table("degradation").to_dicts(), columns, note)


def _suggestions(run: Run) -> list[Table]:
    """What suggested errors change, and what became of them; nothing in runs without any."""
    if not run.has("suggestions"):
        return []
    columns = {
        "translations": text("about"),
        "per translation": lambda row: OUTCOMES[row["outcome"]],
        "with": digits("with", 2),
        "without": digits("without", 2),
        "difference": lambda row: number(row["difference"], 2, sign=True) + stars(row["p_corrected"]),
        "95 % interval": lambda row: f"{number(row['low'], 2)} to {number(row['high'], 2)}",
        "n with": text("n_with"),
        "n without": text("n_without"),
    }
    note = (
        "Which items show suggestions is drawn at random for every annotator; numbers are adjusted for the annotator. "
        "* p < .05, ** p < .01, *** p < .001, by drawing anew which items show them, corrected by step-down max-T."
    )
    taken = {
        "suggested by": text("by"),
        **{name: text(name) for name in ("shown", "accepted", "dropped", "left")},
        "% accepted": lambda row: number(100 * row["accepted"] / row["shown"], 1),
    }
    return [
        *table_of("What suggested errors change", run.table("suggestions").to_dicts(), columns, note),
        *table_of("What became of suggested errors", run.table("suggestions_taken").to_dicts(), taken),
    ]


def _agreement(run: Run) -> list[Table]:
    names = {
        kind.name: kind.label for kind in (kinds.KRIPPENDORFF_ALPHA, kinds.ANNOTATOR_PEARSON, kinds.ANNOTATOR_KENDALL)
    }
    columns = {
        "language pair": text("language_pair"),
        "agreement": lambda row: names[row["measure"]] + (f" ({row['group']})" if row["group"] else ""),
        "value": digits("value", 3),
        "n": text("n"),
    }
    rows = run.measures.filter(pl.col("measure").is_in(list(names))).to_dicts()
    return table_of("Agreement between annotators", rows, columns)


def _annotators(run: Run) -> list[Table]:
    columns = {
        "annotator": text("annotator"),
        "ratings": text("ratings"),
        "tasks": text("tasks"),
        "mean": digits("mean"),
        "spread": digits("sd"),
        "seconds": digits("seconds"),
        "change on repeats": digits("repeat_change"),
        "loss on degraded": digits("degraded_loss", 1, sign=True),
        "p": digits("p", 4),
        "quality": lambda row: PASSED[row["passed"]],
        "look closer": lambda row: "; ".join(row["suspicions"] or []),
    }
    note = "p: paired t-test that degraded translations were scored lower than the same undamaged, as WMT does."
    return table_of("Annotators", run.table("annotators").to_dicts(), columns, note)


def _power(run: Run) -> list[Table]:
    columns = {
        "language pair": text("language_pair"),
        "neighbours": lambda row: f"{row['system']} > {row['than']}",
        "p": digits("p", 3),
        "% wins": lambda row: number(100 * row["superiority"], 1),
        "segments needed": lambda row: "" if row["segments"] is None else f"{row['segments']:,}",
        "more ratings": lambda row: "no number would do" if row["more_ratings"] is None else f"{row['more_ratings']:,}",
    }
    note = "If the difference seen is the true one: segments each for a rank-sum test to find it (Noether 1987)."
    rows = run.table("power").filter("neighbours").to_dicts()
    return table_of("Neighbours that do not separate yet", rows, columns, note)


def human_views(run: Run) -> list[View]:
    """Per language pair: ratings with intervals, and how annotators use the scale."""
    measures = run.measures.filter(measure="rating_z")
    name = "rating_z" if measures.height else "rating"
    rows = run.measures.filter(measure=name)
    views = []
    for part in rows.partition_by("language_pair", maintain_order=True):
        pair = part["language_pair"][0]
        charts = [
            _ratings(part.to_dicts(), "standardised rating (z)" if name == "rating_z" else "rating"),
            *_people(run),
        ]
        views.append(View(pair or "All", charts, key={"language_pair": pair}))
    return views


def _ratings(rows: list[dict[str, Any]], unit: str) -> Chart:
    shown = points(rows, label=lambda row: row["system"], name=lambda row: "")
    chart = dots(shown, [""], "system", unit, alt.Scale(zero=False), label="system", value=unit)
    best = shown[0]
    description = (
        f"Mean rating of each system with 95 % intervals; {best['label']} is highest with {best['value']:.2f}."
    )
    return Chart("ratings", "Ratings of systems", description, chart)


def _people(run: Run) -> list[Chart]:
    rows = [row for row in run.table("annotators").to_dicts() if row["mean"] is not None and row["sd"] is not None]
    if len(rows) < 2:
        return []
    shown = [
        {
            "name": row["annotator"],
            "mean": row["mean"],
            "spread": row["sd"],
            "verdict": PASSED[row["passed"]],
            "ratings": row["ratings"],
        }
        for row in rows
    ]
    domain = list(PASSED.values())
    colours = alt.Scale(domain=domain, range=[NEUTRAL, GOOD, BAD])
    legend = alt.Legend(orient="bottom", title="quality control")
    chart = (
        alt.Chart(data(shown))
        .mark_point(size=60, filled=True, opacity=0.8)
        .encode(
            x=alt.X("mean:Q", title="mean rating", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("spread:Q", title="standard deviation"),
            color=alt.Color("verdict:N", scale=colours, legend=legend),
            shape=alt.Shape("verdict:N", scale=alt.Scale(domain=domain), legend=legend),
            tooltip=tooltips(name="annotator", mean="mean", spread="spread", verdict="quality", ratings="ratings"),
        )
        .properties(height=HEIGHT)
    )
    description = f"Mean and spread of the ratings of {len(shown)} annotators, by quality control."
    return [Chart("annotators", "How annotators use the scale", description, chart)]


PAGE = Page(human_tables, human_views)
