"""Old against new: what two runs say of each measure, and the segments on which they part most."""

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from babelquake.report.comparing import comparison_table
from babelquake.report.phrases import labelled, run_names
from babelquake.report.table import Table, number
from babelquake.report.verdict import in_words
from babelquake.runs.run import Run

if TYPE_CHECKING:
    from babelquake.studies.comparison import Comparison

MOST = 40
"""Segments that are shown."""
PLACE = ("id", "perturbation", "level", "replicate")


def versus_tables(old: Run, new: Run, comparison: "Comparison") -> list[Table]:
    """The comparison of every measure, then segment by segment: the largest losses first, then the largest gains."""
    before, after = run_names([old, new])
    table = comparison_table(comparison, before, after)
    return [_with_verdict(table, comparison), *_segments(old, new, (before, after))]


def _with_verdict(table: Table, comparison: "Comparison") -> Table:
    """The table of every measure with the verdict below it."""
    return replace(table, note=" ".join([*(sentence.text for sentence in in_words(comparison.findings)), table.note]))


def _segments(old: Run, new: Run, names: tuple[str, str]) -> list[Table]:
    if not (old.has("scores") and new.has("scores")):
        return []
    shared = [name for name in (*PLACE, "scorer") if all(name in _columns(run, "scores") for run in (old, new))]
    if not {"id", "scorer"} <= set(shared):
        return []
    sides = []
    for run in (old, new):
        scores = run.scan("scores").select(*shared, "score").drop_nulls("score")
        sides.append(scores.unique(shared, keep="first", maintain_order=True))
    errors = new.info.facts.lower_is_better
    gain = pl.col("score_new") - pl.col("score")
    joined = (
        sides[0]
        .join(sides[1], on=shared, nulls_equal=True, suffix="_new", maintain_order="left")
        .with_columns(gain=pl.when(pl.col("scorer").is_in(errors)).then(-gain).otherwise(gain))
        .filter(pl.col("gain") != 0)
        .collect()
    )
    if not joined.height:
        return []
    ordered = joined.sort("gain")
    ends = {"Lost most": ordered.head(MOST), "Gained most": ordered.tail(MOST).reverse()}
    texts = [_texts(run) for run in (old, new)]
    wanted = {"Lost most": pl.col("gain") < 0, "Gained most": pl.col("gain") > 0}
    kept = {title: part.filter(wanted[title]) for title, part in ends.items()}
    return [_table(f"{title}, segment by segment", part, texts, names) for title, part in kept.items() if part.height]


def _table(title: str, rows: pl.DataFrame, texts: list[dict[tuple[object, ...], str]], names: tuple[str, str]) -> Table:
    named = labelled(rows["perturbation"] if "perturbation" in rows.columns else ())
    lines = tuple(
        (
            row["id"],
            named(row.get("perturbation"), row.get("level")) or "clean",
            row["scorer"],
            number(row["score"], 1),
            number(row["score_new"], 1),
            number(row["gain"], 1, sign=True),
            *(found.get(tuple(row.get(name) for name in PLACE), "") for found in texts),
        )
        for row in rows.iter_rows(named=True)
    )
    said = tuple(f"{name} says" for name in names)
    columns = ("segment", "perturbation", "scorer", *names, "better by", *said)
    return Table(title, columns, lines)


def _columns(run: Run, table: str) -> list[str]:
    return run.scan(table).collect_schema().names()


def _texts(run: Run) -> dict[tuple[object, ...], str]:
    """What a system made of each text, where the run has translations."""
    if not run.has("translations"):
        return {}
    table = run.scan("translations").select(*PLACE, "translation").unique(PLACE, keep="first").collect()
    return {row[:-1]: row[-1] or "" for row in table.iter_rows()}
