"""What changed from one run to another as pictures: a line per kind of noise from the old value to the new one; a heat
map with old, new and the difference of every cell, the harm of each as a shade.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from babelquake.report.charts import BAD, GOOD, NEUTRAL, Chart, data, lines, tooltips
from babelquake.report.page import page_of
from babelquake.report.phrases import labelled
from babelquake.report.results import results_of, scorer_text, short_names
from babelquake.report.table import Table, number
from babelquake.report.verdict import sentence_case
from babelquake.runs.results import Results, Row, apart, values
from babelquake.runs.run import Run, run_names
from babelquake.studies.card import STUDIES

if TYPE_CHECKING:
    from babelquake.studies.comparison import Change, Comparison

MEASURES = ("quality_perturbed", "delta", "detection_accuracy", "success", "discrimination")
"""What is drawn, the first that a comparison has; else whatever measure comes first."""
SCORES = ("quality_perturbed", "delta")
"""Those on the scale of one scorer, so that scorers cannot share a picture."""
WHOLE = {"quality": "clean text", "overall_quality_perturbed": "all noise together"}
"""Lines that are drawn whether they changed or not."""
MOST = 20
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
        moved = sorted((one for one in here if one.outcome in ("better", "worse")), key=_size)[:MOST]
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


def _size(change: "Change") -> float:
    return -abs(change.difference or 0.0)


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
    rows = tuple(
        (
            drawn.label(change),
            number(change.old, 2),
            number(change.new, 2),
            number(change.difference, 2, sign=True),
            words.get(change.outcome, ""),
        )
        for change in drawn.folded
    )
    if not rows:
        return None
    kinds = "kind of noise" if len(rows) == 1 else "kinds of noise"
    least = "without a significant change" if len(drawn.shown) < MOST else "that changed less or not significantly"
    noun = "measure" if len(rows) == 1 else "measures"
    counted = kinds if drawn.measure == MEASURES[0] else "more" if drawn.shown else noun
    title = f"{len(rows)} {counted} {least}"
    return Table(title, ("noise", old, new, "change", "test"), rows)


Place = tuple[str, float | None, str | None]
"""A perturbation, its level, and the group of segments."""


@dataclass(frozen=True)
class Tile:
    """One number: as text, with its shade from 0 to 1, and whether it is significantly better, worse or neither."""

    text: str
    share: float = 0.0
    tone: str = "plain"


@dataclass(frozen=True)
class HeatMap:
    """A measure of both runs: three tiles – old, new, difference – for every perturbation and subject."""

    title: str
    subjects: tuple[str, ...]
    """Systems or scorers; where the two runs name theirs differently, both names."""
    names: tuple[str, str]
    """What the runs are called."""
    rows: tuple[tuple[str, tuple[tuple[Tile, Tile, Tile], ...]], ...]


def versus_heat(old: Run, new: Run, changes: "Sequence[Change]") -> list[HeatMap]:
    """One map per measure, language pair and – where systems are under test – scorer."""
    study = STUDIES.get(new.info.study)
    kinds = {kind.name: kind for kind in study.measures}
    results = results_of(old), results_of(new)
    short = short_names(row["system"] for row in new.measures.to_dicts() if row["system"] is not None)
    tones = {
        (
            change.language_pair,
            short.get(change.system or "", change.system),
            change.scorer,
            change.perturbation,
            change.level,
            change.group,
            change.measure,
        ): "worse" if change.regression else "better"
        for change in changes
        if change.regression or change.outcome == "better"
    }
    before, after = run_names([old, new])
    found = []
    for measure in page_of(new).compared or study.gated:
        rows = [row for row in results[1].known(measure) if row["perturbation"] is not None]
        by = ("language_pair", "scorer") if study.subject == "system" else ("language_pair",)
        for key, part in apart(rows, *by):
            here = dict(zip(by, key, strict=True))
            cells = list(_cells(part, results[0], study.subject))
            if cells:
                said = " · ".join(filter(None, [here["language_pair"], scorer_text(here.get("scorer") or "")]))
                called = kinds[measure].column if measure in kinds else study.label(measure)
                title = f"{called}{f' ({said})' if said else ''}"
                better = kinds[measure].better if measure in kinds else None
                found.append(_map(title, cells, (before, after), better, tones, measure))
    return found


@dataclass(frozen=True)
class _Cell:
    place: Place
    subject: str
    old: float
    row: Row

    @property
    def new(self) -> float:
        return float(self.row["value"])


def _cells(rows: Sequence[Row], old: Results, subject: str) -> Iterator[_Cell]:
    """Cells that both runs have: subjects of one name, or the only ones."""
    mine = values(rows, subject)
    theirs = [name for name in values(old.known(rows[0]["measure"]), subject) if name is not None] if rows else []
    renamed: Mapping[str, str] = {mine[0]: theirs[0]} if len(mine) == len(theirs) == 1 else {}
    for row in rows:
        other = renamed.get(row[subject], row[subject])
        before = old.beside({**row, subject: other}, row["measure"])
        if before is not None and before["value"] is not None:
            label = row[subject] if other == row[subject] else f"{other} → {row[subject]}"
            yield _Cell((row["perturbation"], row["level"], row["group"]), label, float(before["value"]), row)


def _map(
    title: str,
    cells: Sequence[_Cell],
    names: tuple[str, str],
    better: str | None,
    tones: Mapping[Any, str],
    measure: str,
) -> HeatMap:
    known = [value for cell in cells for value in (cell.old, cell.new)]
    low, high = min(known), max(known)
    widest = max(abs(cell.new - cell.old) for cell in cells) or 1.0
    digits = 1 if high - low > 2 or high > 2 else 3
    subjects = tuple(dict.fromkeys(cell.subject for cell in cells))
    table = {(cell.place, cell.subject): cell for cell in cells}

    def value(number_: float) -> Tile:
        share = (number_ - low) / (high - low or 1.0)
        return Tile(number(number_, digits), share if better == "down" else 1 - share if better == "up" else 0.0)

    def tiles(cell: _Cell | None) -> tuple[Tile, Tile, Tile]:
        if cell is None:
            return Tile("–"), Tile("–"), Tile("–")
        gain = cell.new - cell.old
        row = cell.row
        key = (row["language_pair"], row["system"], row["scorer"], *cell.place, measure)
        text = number(gain, digits, sign=True) or number(0.0, digits)
        tone = tones.get(key, "plain")
        return value(cell.old), value(cell.new), Tile(text, abs(gain) / widest if tone != "plain" else 0.0, tone)

    places = dict.fromkeys(cell.place for cell in cells)
    named = labelled(place[0] for place in places)
    rows = tuple(
        (
            " ".join(filter(None, [named(*place[:2]), place[2]])),
            tuple(tiles(table.get((place, subject))) for subject in subjects),
        )
        for place in places
    )
    return HeatMap(title, subjects, names, rows)
