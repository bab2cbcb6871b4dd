"""What the charts of all studies share: a chart with its words, a view that holds several, one palette.

A colour means the same on every page: blue is good or harmless, vermilion is bad or harmful, grey is undecided, and the
colours of `PALETTE` tell systems, scorers and families of failures apart without a judgement. They are Okabe and Ito's
or near them, so that people with colour-blindness can tell them; shapes, dashes and words repeat what they say.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import altair as alt

from babelquake.perturb.labels import known_card
from babelquake.report.names import labelled, scorer_text
from babelquake.runs.measures import Row, values

GOOD, BAD, NEUTRAL = "#0072B2", "#B54708", "#6B7280"
"""A judgement; dark enough to be text."""
PALETTE = ("#7B4B94", "#009E73", "#E69F00", "#5C4033", "#CC79A7", "#B5A000", "#56B4E9", "#2F3B52")
"""Names, without a judgement."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES: list[list[int]] = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 3], [3, 1]]
MEANINGS = {"preserving": GOOD, "altering": BAD, "depends": NEUTRAL}
"""What a change does to the meaning."""
HARM = {"preserving": "harmless", "altering": "harmful", "depends": "it depends"}
"""The same in words."""
FAILURES = {
    "copying": "#E69F00",
    "language": "#7B4B94",
    "talk": "#009E73",
    "length": "#CC79A7",
    "repetition": "#5C4033",
    "content": "#56B4E9",
    "markup": "#B5A000",
    "meaning": "#2F3B52",
    "injection": "#A0522D",
    "exchange": "#6B7A1E",
}
"""Families of failures; what a rule of the user's own finds is grey."""
SHADES = ["#FDF3EC", "#E06E28"]
"""Of a heat map, the worse the darker; black text can be read on all of them."""
HEIGHT = 260
LEGEND = 72
"""Characters that names of a legend may take beside each other; on a phone the page sets them below each other."""
BANDS = 6
"""Lines of one chart whose bands can still be told apart."""
MOST_TICKS = 8
"""Levels that each have their own tick."""
LINE = 24
"""Height of one line of a dot plot."""


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart and the words that go with it."""

    name: str
    title: str
    description: str
    """What it shows, for those who cannot see it."""
    chart: Any
    """An Altair chart without a title."""
    on_page: bool = True
    """Whether the HTML report draws it; those it shows as a table instead are for export alone."""
    wide: bool = False

    def spec(self) -> dict[str, Any]:
        """Vega-Lite, as wide as its container."""
        return {**bare(self.chart), "width": "container"}


@dataclass(frozen=True)
class View:
    """Charts that are read together: one language pair, one scorer."""

    label: str
    charts: list[Chart]
    heat: dict[str, Any] | None = None
    """The heat map of the MT study: systems, perturbations and the measures of each cell."""
    key: dict[str, Any] = field(default_factory=dict)


def bare(chart: Any) -> dict[str, Any]:
    """Vega-Lite without schema and style, which pages and images bring themselves."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return {name: value for name, value in spec.items() if name not in ("$schema", "config")}


def data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))


def points(rows: Sequence[Row], **shown: Callable[[Row], Any]) -> list[dict[str, Any]]:
    """One point a row: its value and interval, and every further field beside what it shows of the row."""
    return [
        {**{name: show(row) for name, show in shown.items()}, **{name: row[name] for name in ("value", "low", "high")}}
        for row in rows
    ]


def colour(field_name: str, names: Sequence[str], title: str) -> dict[str, Any]:
    """Colour and shape by name, the same in every chart of a view; no legend where there is one name only."""
    legend = _legend(names, title)
    return {
        "color": alt.Color(
            field_name,
            type="nominal",
            legend=legend,
            scale=alt.Scale(domain=list(names), range=_cycled(PALETTE, names)),
        ),
        "shape": alt.Shape(
            field_name,
            type="nominal",
            legend=legend,
            scale=alt.Scale(domain=list(names), range=_cycled(SHAPES, names, 1)),
        ),
    }


def where_known(rows: Sequence[dict[str, Any]], intervals: Any) -> list[Any]:
    """The layer of intervals, where any row has one: too few segments have none."""
    return [intervals] if any(row["low"] is not None for row in rows) else []


def _over_levels(levels: Sequence[float], title: str) -> Any:
    """The axis of levels: with a tick at each where they are counts, and as far apart where they double."""
    counts = sorted(set(levels))
    if len(counts) > MOST_TICKS or not all(level >= 1 and level == int(level) for level in counts):
        return alt.X("level:Q", title=title, axis=alt.Axis(tickCount=6))
    doubling = len(counts) > 2 and all(later >= 2 * earlier for earlier, later in pairwise(counts))
    scale = alt.Scale(type="log", base=2) if doubling else alt.Scale(zero=False)
    return alt.X("level:Q", title=title, scale=scale, axis=alt.Axis(values=counts, format="d"))


def curves(rows: Sequence[dict[str, Any]], names: Sequence[str], who: str, x: str, y: str) -> Any:
    """Lines with 95 % intervals over noise levels; rows hold level, value, low, high and name."""
    base = alt.Chart(data(rows)).encode(x=_over_levels([row["level"] for row in rows], x))
    scales = colour("name", names, who)
    few = len(names) <= BANDS
    interval = (base.mark_area(opacity=0.18) if few else base.mark_rule(opacity=0.5)).encode(
        y=alt.Y("low:Q", title=y, scale=alt.Scale(zero=False)), y2="high", color=scales["color"]
    )
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("value:Q", title=y, scale=alt.Scale(zero=False)),
        color=scales["color"],
        strokeDash=alt.StrokeDash(
            "name:N", legend=_legend(names, who), scale=alt.Scale(domain=list(names), range=_cycled(DASHES, names, 1))
        ),
    )
    point = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=alt.Y("value:Q", title=y), tooltip=tooltips(name=who, level=x, value=y, low="95 % from", high="to"), **scales
    )
    return alt.layer(*where_known(rows, interval), line, point).properties(height=HEIGHT)


def dots(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    who: str,
    x: str,
    scale: Any,
    interval: str = "95 %",
    room: int = 200,
    **tips: str,
) -> Any:
    """A dot with its interval for every name, one line per label; rows hold label, name, value, low, high.

    `room` is how wide labels may be.
    """
    scales = colour("name", names, who)
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=room)),
        yOffset=alt.YOffset("name:N", sort=list(names)),
    )
    ends = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=x, scale=scale), x2="high", color=scales["color"]
    )
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value:Q", title=x, scale=scale),
        tooltip=tooltips(name=who, **tips, low=f"{interval} from", high="to"),
        **scales,
    )
    height = lines({row["label"] for row in rows}) * max(1, (len(names) + 1) // 2)
    return alt.layer(*where_known(rows, ends), marks).properties(height=height)


def forest(shown: list[dict[str, Any]], title: str) -> Any:
    """A forest plot: one line per change, coloured by what it does to the meaning; filled where significant."""
    present = [name for name in MEANINGS if any(point["meaning"] == HARM[name] for point in shown)]
    words = [HARM[name] for name in present]
    legend = alt.Legend(orient="top", title=None) if len(present) > 1 else None
    order = values(shown, "label")
    base = alt.Chart(data(shown)).encode(
        y=alt.Y("label:N", title=None, sort=order, axis=alt.Axis(labelLimit=260)),
        color=alt.Color(
            "meaning:N", scale=alt.Scale(domain=words, range=[MEANINGS[name] for name in present]), legend=legend
        ),
    )
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(strokeDash=[3, 3], color=NEUTRAL).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high")
    shape = alt.Shape(
        "meaning:N",
        legend=legend,
        scale=alt.Scale(domain=words, range=["circle", "triangle-up", "square"][: len(present)]),
    )
    tips = tooltips(label="perturbation", meaning="meaning", value="Δ", low="95 % from", high="to", verdict="corrected")
    marks = [
        base.transform_filter(f"datum.verdict == '{said}'")
        .mark_point(size=80, strokeWidth=2, filled=filled, opacity=1)
        .encode(x=alt.X("value:Q", title=title), shape=shape, tooltip=tips)
        for said, filled in (("significant", True), ("not significant", False))
        if any(point["verdict"] == said for point in shown)
    ]
    return alt.layer(zero, *where_known(shown, bars), *marks).properties(height=lines(shown))


def tooltips(**fields: str) -> list[Any]:
    """What a pointer sees: field names and their titles."""
    return [
        alt.Tooltip(name, type="nominal", title=title)
        if name in TEXTS
        else alt.Tooltip(name, type="quantitative", title=title, format=".4~g")
        for name, title in fields.items()
    ]


TEXTS = frozenset({"name", "label", "typed", "kind", "meaning", "verdict"})
"""Fields that hold words."""


def lines(rows: Collection[Any]) -> int:
    """The height of a dot plot with one line per row."""
    return max(60, LINE * len(rows))


def _legend(names: Sequence[str], title: str) -> Any:
    if not names[1:]:
        return None
    columns = next((most for most in (4, 3, 2) if most * max(map(len, names)) <= LEGEND), 1)
    return alt.Legend(title=None, orient="top", columns=columns, labelLimit=260, symbolOpacity=1, description=title)


def _cycled(items: Sequence[Any], names: Sequence[str], shift: int = 0) -> list[Any]:
    """One item a name, from the start again when all are used; `shift` starts each round further on.

    So a colour that comes a second time comes with another shape and dash.
    """
    whole = len(items)
    return [items[(place + shift * (place // whole)) % whole] for place in range(len(names))]


def sweeps(rows: Sequence[Row], who: str, label: str, title: str, y: str, described: str) -> list[Chart]:
    """A chart per perturbation, a line per system, scorer or tokenizer; `described` has a gap for the perturbation."""
    charts = []
    among = values(rows, who)
    shown = {name: name if who == "system" else scorer_text(name, among) for name in among}
    named = labelled(values(rows, "perturbation"))
    for perturbation in values(rows, "perturbation"):
        here = [row for row in rows if row["perturbation"] == perturbation and row["level"] is not None]
        if len({row["level"] for row in here}) < 2:
            continue
        card, called = known_card(perturbation), named(perturbation, None)
        drawn = points(here, name=lambda row: shown[row[who]], level=lambda row: row["level"])
        chart = curves(drawn, list(shown.values()), who, card.unit if card and card.unit else "level", y)
        charts.append(Chart(f"{label}-{perturbation}", f"{title}: {called}", described.format(called), chart))
    return charts
