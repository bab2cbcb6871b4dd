"""Matrices of token similarities as pictures: one beside the other, in one scale of colours."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
from markupsafe import Markup

from babelquake.escape import visible
from babelquake.files import deliver, require_ending
from babelquake.report.charts import bare, data
from babelquake.report.html import rendered
from babelquake.report.images import svg, write_image
from babelquake.report.names import scorer_text
from babelquake.report.table import Table, number
from babelquake.scorers.bertscore import Similarities

CELL = 30
"""Pixels of a token."""
WRITTEN = 30
"""Tokens of the longer text up to which cells hold their numbers."""
ACROSS = 2
FORMATS = (".png", ".svg", ".html")


def write_similarities(found: Sequence[Similarities], path: Path) -> Path:
    """All matrices in one file: PNG, SVG or a page, by the file's ending."""
    require_ending(path, FORMATS, "out")
    spec = similarity_chart(found)
    if path.suffix != ".html":
        write_image(spec, path)
        return path
    drawn = Markup(svg(spec))  # noqa: S704 – made by vl-convert, which escapes the texts
    deliver(rendered("similarities.html", picture=drawn, found=found), path)
    return path


def similarity_chart(found: Sequence[Similarities]) -> dict[str, Any]:
    """Vega-Lite: two matrices a row, a caption above each, the same colours for the same cosines in all of them."""
    low = min((float(one.cosines.min()) for one in found if one.cosines.size), default=0.0)
    names = [one.scorer for one in found]
    charts = [_matrix(one, min(low, 0.0), scorer_text(one.scorer, names)) for one in found]
    rows = [alt.hconcat(*charts[start : start + ACROSS]) for start in range(0, len(charts), ACROSS)]
    return bare(alt.vconcat(*rows))


def match_table(one: Similarities) -> Table:
    """What BERTScore takes from a matrix: for each token of the translation the closest one of the reference."""
    best = one.cosines.argmax(axis=1) if one.cosines.size else []
    lines = tuple(
        (token, one.reference_tokens[place], number(float(one.cosines[row, place]), 3))
        for row, (token, place) in enumerate(zip(one.translation_tokens, best, strict=True))
    )
    return Table(caption(one), ("translation", "closest in the reference", "cosine"), lines)


def caption(one: Similarities, scorer: str | None = None) -> str:
    """Which scorer, what was done to the reference, and the score."""
    perturbation = one.perturbation or "reference as it is"
    return f"{scorer or one.scorer} · {perturbation} · {number(one.score, 3)}"


def _matrix(one: Similarities, low: float, scorer: str) -> Any:
    rows, columns = _keys(one.translation_tokens), _keys(one.reference_tokens)
    cells = [
        {"row": row, "column": column, "value": round(float(one.cosines[y, x]), 4)}
        for y, row in enumerate(rows)
        for x, column in enumerate(columns)
    ]
    label: dict[str, Any] = {
        "labelExpr": f"slice(datum.label, {PLACES + 1})",
        "labelLimit": 120,
        "ticks": False,
        "domain": False,
    }
    base = alt.Chart(data(cells)).encode(
        x=alt.X("column:N", title="reference", sort=columns, axis=alt.Axis(labelAngle=-90, **label)),
        y=alt.Y("row:N", title="translation", sort=rows, axis=alt.Axis(**label)),
    )
    heat = base.mark_rect().encode(
        color=alt.Color(
            "value:Q", scale=alt.Scale(scheme="blues", domain=[low, 1]), legend=alt.Legend(title="cosine", format=".1f")
        )
    )
    layers = [heat]
    if max(len(rows), len(columns)) <= WRITTEN:
        dark = f"datum.value > {low + 0.65 * (1 - low):.3f} ? 'white' : '#222'"
        layers.append(
            base.mark_text(fontSize=9).encode(text=alt.Text("value:Q", format=".2f"), color=alt.value({"expr": dark}))
        )
    return alt.layer(*layers).properties(
        width=CELL * max(1, len(columns)),
        height=0.75 * CELL * max(1, len(rows)),
        title=alt.Title(visible(caption(one, scorer)), fontSize=12, anchor="start"),
    )


PLACES = 4


def _keys(tokens: Sequence[str]) -> list[str]:
    """Tokens made distinct by their place, which the axis does not show."""
    return [f"{place:0{PLACES}d} {visible(token)}" for place, token in enumerate(tokens)]
