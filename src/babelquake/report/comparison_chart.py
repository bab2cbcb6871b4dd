"""What changed from one run to another as a picture: a line per kind of noise, from the old value to the new one."""

from typing import TYPE_CHECKING, Any

import altair as alt

from babelquake.report.charts import BAD, GOOD, NEUTRAL, Chart, data, lines, tooltips
from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text, short_names
from babelquake.report.table import Table, number
from babelquake.report.verdict import sentence_case

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
    title = f"{len(rows)} {kinds if drawn.measure == MEASURES[0] else 'more'} {least}"
    return Table(title, ("noise", old, new, "change", "test"), rows)
