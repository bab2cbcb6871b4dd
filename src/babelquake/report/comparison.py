"""Two runs side by side: tables for the terminal and pull requests, what changed as pictures, and a separate page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import polars as pl

from babelquake.report.charts import BAD, GOOD, NEUTRAL, Chart, data, lines, tooltips
from babelquake.report.first_screen import Headline, cut
from babelquake.report.markdown import escape, table_lines
from babelquake.report.names import count, labelled, results_of, scorer_text, short_names
from babelquake.report.pages import page_of, typed_names
from babelquake.report.table import Table, number
from babelquake.report.verdict import RATES, Sentence, in_words, measure_called, sentence_case
from babelquake.runs.measures import Results, Row, apart, values
from babelquake.runs.run import Run, run_names
from babelquake.stats.pvalues import p_words
from babelquake.studies.card import STUDIES

if TYPE_CHECKING:
    from babelquake.studies.comparison import Change, Comparison

CORRECTED = {
    "max-t": "corrected by step-down max-T over the whole comparison",
    "bh": "Benjamini–Hochberg over the whole comparison",
    "none": "uncorrected",
}
ORDER = ("collapsed", "worse", "better", "cannot be tested", "same")
MARKS = {"collapsed": "GONE", "worse": "WORSE", "better": "better", "cannot be tested": "too few", "same": ""}


def comparison_table(comparison: "Comparison", old: str, new: str) -> Table:
    """Every measure that changed: what collapsed, then what got worse and better, what could not be tested, the rest.

    Measures that are the same to the last digit shown are counted below the table.
    """
    changed = [change for change in comparison if change.outcome != "same" or _shown(change.difference) != _shown(0.0)]
    table = _table(f"{new} against {old}", changed, comparison, old, new)
    if folded := len(comparison) - len(changed):
        counted = f"{folded} of {len(comparison)} measures are unchanged and not listed."
        table = replace(table, note=f"{counted} {table.note}")
    return table


def comparison_tables(comparison: "Comparison", old: str, new: str) -> list[Table]:
    """Two tables: what changed or could not be tested, and all that did not change significantly."""
    parts = {
        f"{new} against {old}: what changed": [change for change in comparison if change.outcome != "same"],
        "Not significantly different": [change for change in comparison if change.outcome == "same"],
    }
    return [_table(title, part, comparison, old, new) for title, part in parts.items() if part]


def _table(title: str, changes: Sequence["Change"], comparison: "Comparison", old: str, new: str) -> Table:
    def order(change: "Change") -> tuple[int, bool, float, float]:
        """Of one outcome, the quality of all first, then what is most certain."""
        p = 1.0 if change.p_corrected is None else change.p_corrected
        return ORDER.index(change.outcome), change.measure not in WHOLE, p, -abs(change.difference or 0.0)

    changed = sorted(changes, key=order)
    short = short_names(change.system for change in comparison if change.system)
    named = labelled(change.perturbation for change in comparison)
    rows = tuple(
        (
            f"({MARKS[change.outcome]})" if comparison.hollow(change) else MARKS[change.outcome],
            " ".join(part for part in (change.language_pair, short.get(change.system or "")) if part),
            "" if change.measure in RATES else change.scorer or "",
            " ".join(filter(None, (named(change.perturbation, change.level), change.group))),
            measure_called(change.measure, change.scorer, change.called),
            number(change.old, 2),
            number(change.new, 2),
            _shown(change.difference),
            number(change.visible, 2),
            p_words(change.p_corrected).removeprefix("p = ").removeprefix("p ")
            if change.testable and change.p_corrected is not None
            else "",
        )
        for change in changed
    )
    columns = ("", "system", "scorer", "perturbation", "measure", old, new, "change", "visible", "p")
    paired = all(change.paired for change in comparison)
    how = "paired tests" if paired else "tests, normal approximation where unpaired"
    note = (
        f"Two-sided {how}, {CORRECTED[comparison.correction]}; α = {comparison.alpha:g}. "
        "Visible: the smallest difference that would have been significant; empty where too few segments differ."
    )
    if any(map(comparison.hollow, changed)):
        note += " (better): only relative to a quality that got worse."
    alone = len({row[1] for row in rows}) <= 1
    return Table(title, columns, rows, note, spare=("system", old, new) if alone else (old, new))


def comparison_markdown(comparison: "Comparison", old: str, new: str) -> str:
    """The verdict, then the table."""
    table = comparison_table(comparison, old, new)
    first, *others = (sentence.text for sentence in in_words(comparison.findings))
    lines = [f"### babelquake: {table.title}", "", f"**{escape(first)}**", ""]
    lines += [*(f"- {escape(sentence)}" for sentence in others), *([""] if others else [])]
    return "\n".join([*lines, *(table_lines(table) if table.rows else []), "", table.note, ""])


def _shown(difference: float | None) -> str:
    return number(difference, 2, sign=True)


MEASURES = ("quality_perturbed", "delta", "detection_accuracy", "success", "discrimination")
"""What is drawn, the first that a comparison has; else whatever measure comes first."""
SCORES = ("quality_perturbed", "delta")
"""Those on the scale of one scorer, so that scorers cannot share a picture."""
WHOLE = {"quality": "clean text", "overall_quality_perturbed": "all noise together"}
"""Quality of all texts: rows that come first, and lines that are drawn whether they changed or not."""
MOST_LINES = 20
"""Lines that a picture has at most: of more, those that changed most."""
COLOURS = {"better": GOOD, "worse": BAD, "no significant change": NEUTRAL}


class Drawn:
    """The changes of one measure, and which of them are worth a line."""

    def __init__(self, comparison: "Comparison") -> None:
        present = [change.measure for change in comparison if change.new is not None]
        self.measure = next((name for name in MEASURES if name in present), present[0] if present else "")
        here = [change for change in comparison if change.measure == self.measure and change.new is not None]
        spoken_of = [finding.scorer for finding in comparison.findings[:1]]
        known = [change.scorer for change in here]
        self.scorer = next((name for name in [*spoken_of, *known] if name in known), None)
        if self.measure in SCORES:
            here = [change for change in here if change.scorer == self.scorer]
        whole = [change for change in comparison if change.measure in WHOLE and change.scorer == self.scorer]
        self.whole = [change for change in whole if change.new is not None] if self.measure == MEASURES[0] else []
        self._named = labelled(change.perturbation for change in comparison)
        self._several = {
            name: len({getattr(change, name) for change in here}) > 1 for name in ("language_pair", "system", "scorer")
        }
        self._short = short_names(change.system for change in here if change.system)
        moved = [change for change in here if change.outcome in ("better", "worse")]
        moved = sorted(moved, key=lambda change: -abs(change.difference or 0.0))[:MOST_LINES]
        self.shown = sorted([*moved, *self.whole], key=lambda change: -(change.difference or 0.0))
        self.folded = [change for change in here if change not in moved]

    def label(self, change: "Change") -> str:
        """The kind of noise; whose it is where there are several."""
        of = {
            "language_pair": change.language_pair,
            "system": self._short.get(change.system or ""),
            "scorer": scorer_text(change.scorer) if change.scorer and self.measure not in SCORES else None,
        }
        noise = self._named(change.perturbation, change.level) or WHOLE.get(change.measure, "")
        parts = [noise, change.group, *(text for name, text in of.items() if text and self._several[name])]
        return sentence_case(" · ".join(filter(None, parts)) or change.called)

    @property
    def unit(self) -> str:
        """What the axis shows."""
        if self.measure in SCORES and self.scorer:
            return scorer_text(self.scorer) if self.measure == MEASURES[0] else f"Δ {scorer_text(self.scorer)}"
        return next((change.called for change in self.folded + self.shown if change.measure == self.measure), "")


def change_chart(comparison: "Comparison", old: str, new: str) -> Chart | None:
    """A circle where the old run is, an arrowhead where the new one is; blue is better, vermilion worse."""
    drawn = Drawn(comparison)
    if not drawn.shown:
        return None
    digits = 1 if max(abs(change.old) for change in drawn.shown) > 5 else 3
    rows = [
        {
            "label": drawn.label(change),
            "old": change.old,
            "new": change.new,
            "end": max(change.old, change.new or change.old),
            "change": number(change.difference, digits, sign=True),
            "kind": change.outcome if change.outcome in COLOURS else "no significant change",
            "up": (change.difference or 0.0) > 0,
        }
        for change in drawn.shown
    ]
    described = f"Circle: {old}; arrowhead: {new}; the figure is the difference."
    return Chart("changes", f"What changed, {old} → {new} ({drawn.unit})", described, _dumbbells(rows, drawn.unit))


def _dumbbells(rows: list[dict[str, Any]], unit: str) -> Any:
    present = [kind for kind in COLOURS if any(row["kind"] == kind for row in rows)]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=present, range=[COLOURS[kind] for kind in present]),
        legend=alt.Legend(title=None, orient="bottom") if len(present) > 1 else None,
    )
    scale = alt.Scale(zero=False, nice=True, padding=40)
    y = alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=300))
    base = alt.Chart(data(rows)).encode(y=y, color=colour)
    tips = tooltips(label="noise", old="old", new="new", kind="change")
    line = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("old:Q", title=unit, scale=scale), x2="new:Q")
    start = base.mark_point(size=60, strokeWidth=2, fill="white", opacity=1).encode(x="old:Q", tooltip=tips)
    heads = [
        base.transform_filter("datum.kind != 'no significant change'")
        .transform_filter(f"{'' if up else '!'}datum.up")
        .mark_point(shape=f"triangle-{'right' if up else 'left'}", filled=True, size=110, opacity=1)
        .encode(x="new:Q", tooltip=tips)
        for up in (True, False)
        if any(row["up"] == up and row["kind"] != "no significant change" for row in rows)
    ]
    text = base.mark_text(align="left", dx=11, fontSize=12).encode(x="end:Q", text="change:N")
    return alt.layer(line, start, *heads, text).properties(height=lines(rows) + 10 * len(rows))


def folded_table(comparison: "Comparison", old: str, new: str) -> Table | None:
    """The kinds of noise of the same measure that are not in the picture."""
    drawn = Drawn(comparison)
    words = {"better": "better", "worse": "worse", "same": "not significant", "cannot be tested": "too few"}
    rows = []
    for change in drawn.folded:
        values_of = number(change.old, 2), number(change.new, 2), _shown(change.difference)
        rows.append((drawn.label(change), *values_of, words.get(change.outcome, "")))
    if not rows:
        return None
    kinds = "kind of noise" if len(rows) == 1 else "kinds of noise"
    least = (
        "without a significant change" if len(drawn.shown) < MOST_LINES else "that changed less or not significantly"
    )
    noun = "measure" if len(rows) == 1 else "measures"
    counted = kinds if drawn.measure == MEASURES[0] else "more" if drawn.shown else noun
    title = f"{len(rows)} {counted} {least}"
    return Table(title, ("noise", old, new, "change", "test"), tuple(rows))


PLACE = ("perturbation", "level", "group")
WHERE = ("language_pair", "system", "scorer", *PLACE, "measure")


class Tile(NamedTuple):
    """One number: as text, with its shade from 0 to 1, and whether it is significantly better, worse or neither."""

    text: str
    share: float = 0.0
    tone: str = "plain"


class HeatMap(NamedTuple):
    """A measure of both runs: three tiles – old, new, difference – for every perturbation and subject."""

    title: str
    subjects: tuple[str, ...]
    """Systems or scorers; where the two runs name theirs differently, both names."""
    names: tuple[str, ...]
    """What the runs are called."""
    rows: tuple[tuple[str, tuple[tuple[Tile, Tile, Tile], ...]], ...]


def versus_heat(old: Run, new: Run, changes: "Sequence[Change]") -> list[HeatMap]:
    """One map per measure, language pair and – where systems are under test – scorer."""
    study = STUDIES.get(new.info.study)
    kinds = {kind.name: kind for kind in study.measures}
    before, after = results_of(old), results_of(new)
    short = short_names(row["system"] for row in new.measures.to_dicts() if row["system"] is not None)
    tones: dict[tuple[Any, ...], str] = {}
    for change in changes:
        if change.regression or change.outcome == "better":
            of = {name: getattr(change, name) for name in WHERE} | {
                "system": short.get(change.system or "", change.system)
            }
            tones[tuple(of.values())] = "worse" if change.regression else "better"
    found = []
    for measure in page_of(new).compared or study.gated:
        rows = [row for row in after.known(measure) if row["perturbation"] is not None]
        by = ("language_pair", "scorer") if study.subject == "system" else ("language_pair",)
        for (pair, *scorer), part in apart(rows, *by):
            if cells := _in_both(part, before, study.subject):
                said = " · ".join(filter(None, [pair, *map(scorer_text, scorer)]))
                called = kinds[measure].column if measure in kinds else study.label(measure)
                better = kinds[measure].better if measure in kinds else None
                title = f"{called}{f' ({said})' if said else ''}"
                found.append(_map(title, cells, run_names([old, new]), better, tones))
    return found


def _in_both(rows: Sequence[Row], old: Results, subject: str) -> list[Row]:
    """Rows that the other run has too, with its value as `old`: of subjects of one name, or the only ones."""
    mine = values(rows, subject)
    theirs = [name for name in values(old.known(rows[0]["measure"]), subject) if name is not None]
    renamed: Mapping[str, str] = {mine[0]: theirs[0]} if len(mine) == len(theirs) == 1 else {}
    found = []
    for row in rows:
        other = renamed.get(row[subject], row[subject])
        before = old.beside({**row, subject: other}, row["measure"])
        if before is not None and before["value"] is not None:
            label = row[subject] if other == row[subject] else f"{other} → {row[subject]}"
            found.append({**row, "subject": label, "old": before["value"]})
    return found


def _map(
    title: str, rows: Sequence[Row], names: Sequence[str], better: str | None, tones: Mapping[tuple[Any, ...], str]
) -> HeatMap:
    known = [row[name] for row in rows for name in ("old", "value")]
    low, high = min(known), max(known)
    widest = max(abs(row["value"] - row["old"]) for row in rows) or 1.0
    digits = 1 if high - low > 2 or high > 2 else 3

    def value(shown: float) -> Tile:
        share = (shown - low) / (high - low or 1.0)
        return Tile(number(shown, digits), share if better == "down" else 1 - share if better == "up" else 0.0)

    def tiles(row: Row | None) -> tuple[Tile, Tile, Tile]:
        if row is None:
            return Tile("–"), Tile("–"), Tile("–")
        gain = row["value"] - row["old"]
        tone = tones.get(tuple(row[name] for name in WHERE), "plain")
        text = number(gain, digits, sign=True) or number(0.0, digits)
        return value(row["old"]), value(row["value"]), Tile(text, abs(gain) / widest if tone != "plain" else 0.0, tone)

    subjects, named = values(rows, "subject"), labelled(values(rows, "perturbation"))
    lines = []
    for (perturbation, level, group), here in apart(rows, *PLACE):
        by_subject = {row["subject"]: row for row in here}
        label = " ".join(filter(None, [named(perturbation, level), group]))
        lines.append((label, tuple(tiles(by_subject.get(subject)) for subject in subjects)))
    return HeatMap(title, tuple(subjects), tuple(names), tuple(lines))


MOST_SEGMENTS = 40
"""Segments in each of the tables of those that changed most."""
FLIPPED = 2
"""Examples on the first screen that broke, and as many that were mended."""
TEXT = ("id", "perturbation", "level", "replicate")
"""What tells one judged text from another."""


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
    """What a reader must know beside the headline: whether quality itself changed, and obedience."""
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


BESIDE = ("partly_worse", "only_worse", "nothing_worse", "no_difference", "quality_same", "obedience", "obedience_same")
"""Findings that stand beside the headline, or are it."""


def comparison_page(old: Run, new: Run, comparison: "Comparison") -> ComparisonPage:
    """Two runs of one study, set against each other."""
    before, after = run_names([old, new])
    findings = comparison.findings
    said = in_words(findings)
    beside = [place for place, finding in enumerate(findings) if finding.what in BESIDE and place]
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
    segments = run.height("segments")
    said = pairs[0] if len(pairs) == 1 else count(len(pairs), "language pair") if pairs else ""
    return "".join(f"{part} · " for part in (said, count(segments, "segment") if segments else "") if part)


def _joined(old: Run, new: Run) -> pl.DataFrame:
    """Every segment that both runs scored differently: both scores, what was gained, and what both systems said."""
    if not (old.has("scores") and new.has("scores")):
        return pl.DataFrame()
    shared = [name for name in (*TEXT, "scorer") if all(name in run.columns("scores") for run in (old, new))]
    if not {"id", "scorer"} <= set(shared):
        return pl.DataFrame()
    errors = new.info.facts.lower_is_better
    gain = pl.col("score_new") - pl.col("score")
    systems = [run.info.listed("system") for run in (old, new)]
    alike = systems[0] == systems[1] and all("system" in run.columns("scores") for run in (old, new))
    on = [*shared, "system"] if alike else shared  # else each run has one system
    return (
        _scored(old, shared)
        .join(_scored(new, shared), on=on, nulls_equal=True, suffix="_new", maintain_order="left")
        .with_columns(gain=pl.when(pl.col("scorer").is_in(errors)).then(-gain).otherwise(gain))
        .filter(pl.col("gain") != 0)
        .sort("gain", maintain_order=True)
        .collect()
    )


def _scored(run: Run, shared: list[str]) -> pl.LazyFrame:
    """The scores of a run, with the text that was scored and, where it translated, what it said."""
    who = ["system"] if "system" in run.columns("scores") else []
    scores = run.scan("scores").select(*shared, *who, "score").drop_nulls("score")
    scores = scores.unique([*shared, *who], keep="first", maintain_order=True)
    on, nothing = [name for name in TEXT if name in shared], pl.lit(None, pl.String)
    if run.has("translations"):
        on += who
        texts = run.scan("translations").select(*on, text="source", said="translation")
    elif run.has("variants"):
        texts = run.scan("variants").select(*on, "text", said=nothing)
    else:
        return scores.with_columns(text=nothing, said=nothing)
    return scores.join(texts.unique(on, keep="first"), on=on, how="left", nulls_equal=True, maintain_order="left")


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
    tables = []
    for title, part in (
        ("Broke most, segment by segment", joined.filter(pl.col("gain") < 0).head(MOST_SEGMENTS)),
        ("Mended most, segment by segment", joined.filter(pl.col("gain") > 0).tail(MOST_SEGMENTS).reverse()),
    ):
        named = labelled(part["perturbation"] if "perturbation" in part.columns else ())
        lines = tuple(
            (
                row["id"],
                named(row.get("perturbation"), row.get("level")) or "clean text",
                row["scorer"],
                *(number(row[name], 1, sign=name == "gain") for name in ("score", "score_new", "gain")),
                *(row[name] or "" for name in ("said", "said_new")),
            )
            for row in part.iter_rows(named=True)
        )
        columns = ("segment", "perturbation", "scorer", *names, "better by", *(f"{name} says" for name in names))
        tables += [Table(title, columns, lines)] if lines else []
    return tables
