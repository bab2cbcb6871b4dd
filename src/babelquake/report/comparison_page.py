"""Old against new as a separate page: verdict and gate, what changed, the examples that flipped, the tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from babelquake.report.charts import Chart
from babelquake.report.comparing import comparison_tables
from babelquake.report.comparison_chart import Drawn, HeatMap, change_chart, folded_table, versus_heat
from babelquake.report.first_screen import Headline, cut
from babelquake.report.page import typed_names
from babelquake.report.phrases import count, labelled
from babelquake.report.table import Table, number
from babelquake.report.verdict import Sentence, in_words, sentence_case
from babelquake.runs.run import Run, run_names

if TYPE_CHECKING:
    from babelquake.studies.comparison import Comparison

MOST = 40
"""Segments in each of the tables of those that changed most."""
FLIPPED = 2
"""Examples on the first screen that broke, and as many that were mended."""
PLACE = ("id", "perturbation", "level", "replicate")


class Flip(NamedTuple):
    """A text that the two runs treat differently."""

    label: str
    text: str
    old: str
    new: str


@dataclass(frozen=True)
class ComparisonPage:
    """What the page of two runs shows, in its order."""

    names: tuple[str, str]
    question: str
    about: str
    passed: bool
    why: tuple[Sentence, ...]
    """What the gate stops for."""
    headline: Headline
    beside: tuple[Sentence, ...]
    """What a reader must know beside the headline: whether quality itself changed."""
    details: tuple[Sentence, ...]
    chart: Chart | None
    folded: Table | None
    """The lines that the chart leaves out."""
    broke: tuple[Flip, ...]
    mended: tuple[Flip, ...]
    heat: tuple[HeatMap, ...]
    tables: tuple[Table, ...]
    typed: dict[str, str]
    """What labels are called in the data."""


def comparison_page(old: Run, new: Run, comparison: "Comparison") -> ComparisonPage:
    """Two runs of one study, set against each other."""
    before, after = run_names([old, new])
    findings = comparison.findings
    said = in_words(findings)
    beside = [place for place, finding in enumerate(findings) if finding.what == "quality_same"]
    alarms = [place for place, finding in enumerate(findings) if finding.weight == "alarm" and place]
    rest = [place for place in range(1, len(said)) if place not in {*beside, *alarms}]
    joined = _joined(old, new)
    tests = sum(change.testable for change in comparison)
    return ComparisonPage(
        (before, after),
        f"Is {after} as good as {before}?",
        f"{_material(new)}one gate over {count(tests, 'measure')}, α = {comparison.alpha:g}",
        not comparison.failures,
        tuple(said[place] for place in alarms),
        Headline.of(said[0]),
        tuple(said[place] for place in beside),
        tuple(said[place] for place in rest),
        change_chart(comparison, before, after),
        folded_table(comparison, before, after),
        _flips(new, joined, "broke", comparison),
        _flips(new, joined, "mended", comparison),
        tuple(versus_heat(old, new, comparison)),
        (*comparison_tables(comparison, before, after), *_segments(joined, (before, after))),
        typed_names(old, new),
    )


def _material(run: Run) -> str:
    """The language pairs and how many segments, each with a dot behind it."""
    pairs = run.measures["language_pair"].drop_nulls().unique(maintain_order=True).to_list()
    pairs = [pair for pair in pairs if pair != "average"]
    segments = int(run.scan("segments").select(pl.len()).collect().item()) if run.has("segments") else 0
    said = pairs[0] if len(pairs) == 1 else count(len(pairs), "language pair") if pairs else ""
    return "".join(f"{part} · " for part in (said, count(segments, "segment") if segments else "") if part)


def _joined(old: Run, new: Run) -> pl.DataFrame:
    """Every segment that both runs scored differently: both scores, what was gained, and what both systems said."""
    if not (old.has("scores") and new.has("scores")):
        return pl.DataFrame()
    shared = [name for name in (*PLACE, "scorer") if all(name in _columns(run, "scores") for run in (old, new))]
    if not {"id", "scorer"} <= set(shared):
        return pl.DataFrame()
    errors = new.info.facts.lower_is_better
    gain = pl.col("score_new") - pl.col("score")
    return (
        _scored(old, shared)
        .join(_scored(new, shared), on=_keys(old, new, shared), nulls_equal=True, suffix="_new", maintain_order="left")
        .with_columns(gain=pl.when(pl.col("scorer").is_in(errors)).then(-gain).otherwise(gain))
        .filter(pl.col("gain") != 0)
        .sort("gain", maintain_order=True)
        .collect()
    )


def _keys(old: Run, new: Run, shared: list[str]) -> list[str]:
    """Systems are told apart by name where both runs have the same ones; else each has one."""
    both = [run.info.listed("system") for run in (old, new)]
    alike = both[0] == both[1] and all("system" in _columns(run, "scores") for run in (old, new))
    return [*shared, "system"] if alike else shared


def _scored(run: Run, shared: list[str]) -> pl.LazyFrame:
    """The scores of a run, with the text that was scored and, where it translated, what it said."""
    there = _columns(run, "scores")
    who = ["system"] if "system" in there else []
    scores = run.scan("scores").select(*shared, *who, "score").drop_nulls("score")
    scores = scores.unique([*shared, *who], keep="first", maintain_order=True)
    keys = [name for name in PLACE if name in shared]
    if run.has("translations"):
        texts = run.scan("translations").select(*keys, *who, text="source", said="translation")
    elif run.has("variants"):
        return scores.join(
            run.scan("variants").select(*keys, "text", said=pl.lit(None, pl.String)).unique(keys, keep="first"),
            on=keys,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
    else:
        return scores.with_columns(text=pl.lit(None, pl.String), said=pl.lit(None, pl.String))
    texts = texts.unique([*keys, *who], keep="first")
    return scores.join(texts, on=[*keys, *who], how="left", nulls_equal=True, maintain_order="left")


def _flips(new: Run, joined: pl.DataFrame, which: str, comparison: "Comparison") -> tuple[Flip, ...]:
    """The examples that changed most, no two of one perturbation or of one segment; significant changes first."""
    if not joined.height or "text" not in joined.columns:
        return ()
    outcome = "worse" if which == "broke" else "better"
    moved = {change.perturbation for change in Drawn(comparison).shown if change.outcome == outcome}
    rows = joined.filter(pl.col("gain") < 0) if which == "broke" else joined.filter(pl.col("gain") > 0).reverse()
    rows = rows.filter(pl.col("text").is_not_null())
    if "perturbation" in rows.columns and moved:
        rows = pl.concat([rows.filter(pl.col("perturbation").is_in(list(moved))), rows])
    named = labelled(new.measures["perturbation"])
    chosen: dict[tuple[Any, ...], Flip] = {}
    for row in rows.iter_rows(named=True):
        if len(chosen) == FLIPPED:
            break
        if any(row.get("perturbation") == seen[0] or row["id"] == seen[1] for seen in chosen):
            continue
        label = named(row.get("perturbation"), row.get("level")) or "clean text"
        sides = [row["said"], row["said_new"]]
        if None in sides:
            sides = [f"{row['scorer']} {number(row[name], 3)}" for name in ("score", "score_new")]
        chosen[row.get("perturbation"), row["id"]] = Flip(sentence_case(label), cut(row["text"]), *map(cut, sides))
    return tuple(chosen.values())


def _segments(joined: pl.DataFrame, names: tuple[str, str]) -> list[Table]:
    """Segment by segment: the largest losses first, then the largest gains."""
    if not joined.height:
        return []
    kept = {
        "Broke most": joined.filter(pl.col("gain") < 0).head(MOST),
        "Mended most": joined.filter(pl.col("gain") > 0).tail(MOST).reverse(),
    }
    return [_table(f"{title}, segment by segment", part, names) for title, part in kept.items() if part.height]


def _table(title: str, rows: pl.DataFrame, names: tuple[str, str]) -> Table:
    named = labelled(rows["perturbation"] if "perturbation" in rows.columns else ())
    lines = tuple(
        (
            row["id"],
            named(row.get("perturbation"), row.get("level")) or "clean text",
            row["scorer"],
            number(row["score"], 1),
            number(row["score_new"], 1),
            number(row["gain"], 1, sign=True),
            row["said"] or "",
            row["said_new"] or "",
        )
        for row in rows.iter_rows(named=True)
    )
    said = tuple(f"{name} says" for name in names)
    columns = ("segment", "perturbation", "scorer", *names, "better by", *said)
    return Table(title, columns, lines)


def _columns(run: Run, table: str) -> list[str]:
    return run.scan(table).collect_schema().names()
