"""The tables of the study `human`: the ranking with its clusters, the matrix behind it, people, power."""

from typing import Any

import polars as pl

from babelquake.report.table import Table, number, stars
from babelquake.runs.run import Run

CLUSTER_NOTE = (
    "Wins: systems that this one beats by a one-sided rank-sum test on segment means (p < .05). "
    "A cluster ends where every system above beats every system below, as in the WMT findings."
)


def human_tables(run: Run) -> list[Table]:
    """Ranking and matrix per language pair, then perturbed translations, tasks, annotators and what is still needed."""
    systems, pairs = run.table("systems"), run.table("pairs")
    tables = []
    for part in systems.partition_by("language_pair", maintain_order=True):
        pair = part["language_pair"][0]
        where = f" · {pair}" if pair else ""
        tables.append(_ranking(part, where))
        if part.height > 1:
            tables.append(_matrix(part, pairs.filter(pl.col("language_pair").eq_missing(pl.lit(pair))), where))
    return [*tables, *_losses(run), *_agreement(run), *_annotators(run), *_power(run)]


def _ranking(systems: pl.DataFrame, where: str) -> Table:
    marked = "minor" in systems.columns and systems["minor"].null_count() < systems.height
    kinds = ("minor", "major") if marked else ()
    lines = tuple(
        (
            _ranks(row),
            row["system"],
            number(row["raw"], 1),
            number(row["z"], 3, sign=True),
            str(row["segments"]),
            str(row["ratings"]),
            str(row["wins"]),
            *(number(row[kind], 2) for kind in kinds),
        )
        for row in systems.iter_rows(named=True)
    )
    columns = ("rank", "system", "rating", "z", "segments", "ratings", "wins")
    return Table(f"Ranking{where}", (*columns, *kinds), lines, CLUSTER_NOTE)


def _ranks(row: dict[str, Any]) -> str:
    first, last = row["cluster_start"], row["cluster_end"]
    return str(first) if first == last else f"{first}–{last}"


def _matrix(systems: pl.DataFrame, pairs: pl.DataFrame, where: str) -> Table:
    """p that the row's system is rated higher than the column's, as the WMT findings print it."""
    names = systems["system"].to_list()
    known = {(row["system"], row["than"]): row["p"] for row in pairs.iter_rows(named=True)}
    lines = tuple((name, *("" if name == other else _p(known[(name, other)]) for other in names)) for name in names)
    note = "One-sided rank-sum p that the system of the row is rated higher than that of the column; * below .05."
    return Table(f"Rank-sum tests{where}", ("system", *names), lines, note)


def _p(value: float) -> str:
    text = f"{value:.3f}".lstrip("0") if value >= 0.001 else f"{value:.0e}"
    return text + ("*" if value < 0.05 else "")


def _losses(run: Run) -> list[Table]:
    rows = run.table("degradation").to_dicts()
    if not rows:
        return []
    corrected = {
        (row["scorer"], row["perturbation"], row["group"]): row["p_corrected"]
        for row in run.measures.filter(measure="rating_loss").iter_rows(named=True)
    }
    lines = tuple(
        (
            row["victim"] or "",
            row["recipe"] or "",
            row["year"] or "",
            str(row["n"]),
            number(row["original"], 2, sign=True),
            number(row["perturbed"], 2, sign=True),
            number(row["loss"], 2, sign=True) + stars(corrected.get((row["victim"], row["recipe"], row["year"]))),
        )
        for row in rows
    )
    columns = ("victim", "recipe", "year", "tuples", "original", "perturbed", "loss")
    note = (
        "Mean standardised ratings. * p < .05, ** p < .01, *** p < .001, one-sided signed-rank tests, Holm-corrected."
    )
    return [Table("Perturbed translations, as people rate them", columns, lines, note)]


def _agreement(run: Run) -> list[Table]:
    names = {
        "krippendorff_alpha": "Krippendorff's α",
        "annotator_pearson": "Pearson's r of two annotators",
        "annotator_kendall": "Kendall's τ of two annotators",
    }
    rows = run.measures.filter(pl.col("measure").is_in(list(names))).to_dicts()
    if not rows:
        return []
    lines = tuple(
        (
            row["language_pair"] or "",
            names[row["measure"]] + (f" ({row['group']})" if row["group"] else ""),
            number(row["value"], 3),
            str(row["n"]),
        )
        for row in rows
    )
    return [Table("Agreement between annotators", ("language pair", "agreement", "value", "n"), lines)]


def _annotators(run: Run) -> list[Table]:
    rows = run.table("annotators").to_dicts()
    if not rows:
        return []
    lines = tuple(
        (
            row["annotator"],
            str(row["ratings"]),
            str(row["tasks"]),
            number(row["mean"], 1),
            number(row["sd"], 1),
            number(row["seconds"], 1),
            number(row["repeat_change"], 1),
            number(row["degraded_loss"], 1, sign=True),
            "" if row["p"] is None else f"{row['p']:.4f}",
            {None: "cannot be tested", True: "passed", False: "failed"}[row["passed"]],
            "; ".join(row["suspicions"] or []),
        )
        for row in rows
    )
    columns = (
        "annotator",
        "ratings",
        "tasks",
        "mean",
        "spread",
        "seconds",
        "change on repeats",
        "loss on degraded",
        "p",
        "quality",
        "look closer",
    )
    note = "p: paired t-test that degraded translations were scored lower than the same undamaged, as WMT does."
    return [Table("Annotators", columns, lines, note)]


def _power(run: Run) -> list[Table]:
    rows = run.table("power").filter("neighbours").to_dicts()
    if not rows:
        return []
    lines = tuple(
        (
            row["language_pair"] or "",
            f"{row['system']} > {row['than']}",
            f"{row['p']:.3f}",
            number(100 * row["superiority"], 1),
            "" if row["segments"] is None else f"{row['segments']:,}",
            "no number would do" if row["more_ratings"] is None else f"{row['more_ratings']:,}",
        )
        for row in rows
    )
    columns = ("language pair", "neighbours", "p", "% wins", "segments needed", "more ratings")
    note = "If the difference seen is the true one: segments each for a rank-sum test to find it (Noether 1987)."
    return [Table("Neighbours that do not separate yet", columns, lines, note)]
