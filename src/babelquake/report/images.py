"""Pictures: the charts of a run as files, and one slide for a meeting – question, answer, chart, worst examples."""

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import regex

from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.files import deliver, require_ending
from babelquake.report.charts import BAD, Chart
from babelquake.report.first_screen import first_words, lead_chart, worst_examples, worst_title
from babelquake.report.names import count
from babelquake.report.pages import page_of, views
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.studies.card import STUDIES
from babelquake.version import VERSION

VEGA_LITE = "6.4"
WIDTH = 520
IMAGES = ("png", "svg")
FONT = "Helvetica, Arial, sans-serif"
CONFIG: dict[str, Any] = {
    "background": "white",
    "font": FONT,
    "axis": {
        "labelLimit": 0,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#E4E4E7",
    },
    "legend": {"labelLimit": 0, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "title": {"fontSize": 15, "anchor": "start", "offset": 12},
    "view": {"stroke": None},
}


def write_images(runs: AnyRun | Sequence[AnyRun], folder: Path | str, formats: Sequence[str] = IMAGES) -> list[Path]:
    """One image per chart and format, named `RUN-VIEW-CHART.png`."""
    for name in formats:
        if name not in IMAGES:
            raise UserError(f"images are written as {' or '.join(IMAGES)}, not as {name}.")
    folder = Path(folder)
    written: list[Path] = []
    for run in opened(runs):
        for view in views(run):
            for chart in view.charts:
                spec = {**chart.spec(), "width": WIDTH, "title": chart.title}
                stem = _file_name(f"{run.folder.name}-{view.label}-{chart.name}", taken=written)
                for name in formats:
                    path = folder / f"{stem}.{name}"
                    write_image(spec, path)
                    written.append(path)
    return written


def write_image(spec: dict[str, Any], path: Path) -> None:
    """A Vega-Lite chart as PNG, where the file is called so, or else as SVG."""
    import vl_convert

    if path.suffix == ".png":
        deliver(vl_convert.vegalite_to_png(_drawn(spec), vl_version=VEGA_LITE, scale=2), path)
    else:
        deliver(svg(spec), path)


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite chart as SVG."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(_drawn(spec), vl_version=VEGA_LITE)
    return drawn


def _drawn(spec: dict[str, Any]) -> str:
    """The chart as JSON; no label is cut, for a picture is as wide as it needs to be."""
    return json.dumps({**_uncut(spec), "config": CONFIG})


def _uncut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: 0 if name == "labelLimit" else _uncut(inner) for name, inner in value.items()}
    return [_uncut(inner) for inner in value] if isinstance(value, list) else value


def _file_name(text: str, taken: Sequence[Path]) -> str:
    """Letters, digits and hyphens; numbered where two charts would share a name."""
    plain = str(regex.sub(r"[^A-Za-z0-9.]+", "-", text)).strip("-.")[:100]
    stems = {path.stem for path in taken}
    name, number = plain, 2
    while name in stems:
        name, number = f"{plain}-{number}", number + 1
    return name


ACROSS, DOWN, MARGIN = 1600, 900, 64
INK, SOFT, LINE, ALARM = "#111827", "#545a68", "#d9dce3", BAD
LEFT = 960
"""How wide the chart may be; the examples stand beside it."""
SLIDES = (".png", ".svg")
CHARACTER = 0.53
"""The width of a character of this font, in sizes, about."""
CAPITAL = 0.4
"""How much wider capitals are."""


def write_slide(run: AnyRun, path: Path | str) -> Path:
    """Write a run as one slide, PNG or SVG, by the file's ending."""
    path = Path(path)
    require_ending(path, SLIDES, "summary")
    import vl_convert

    drawn = slide(run)
    deliver(drawn if path.suffix == ".svg" else vl_convert.svg_to_png(drawn, scale=1.0), path)
    return path


def slide(run: AnyRun) -> str:
    """The slide as SVG."""
    (given,) = opened(run)
    question = page_of(given).question(given) or STUDIES.get(given.info.study).question
    data = ", ".join(name.rsplit("#", 1)[0].rsplit("/", 1)[-1] for name in given.info.listed("data"))
    words = first_words(given)
    headline = words.headline
    lines = list(_text(question, MARGIN, 78, 24, ACROSS - 2 * MARGIN, 1, SOFT))
    y = 136.0
    for line in _wrapped(headline.first, 42, ACROSS - 2 * MARGIN, 3):
        lines.append(_line(line, MARGIN, y, 42, ALARM if headline.alarm else INK, bold=True))
        y += 52
    for line in _wrapped(headline.rest.removeprefix("; "), 24, ACROSS - 2 * MARGIN, 3):
        lines.append(_line(line, MARGIN, y - 6, 24, SOFT))
        y += 34
    for sentence in words.beside[:1]:
        for line in _wrapped(sentence.text, 24, ACROSS - 2 * MARGIN, 1):
            lines.append(_line(line, MARGIN, y, 24, INK))
            y += 34
    top, bottom = y + 4, DOWN - 70
    chart = lead_chart(given)
    if chart is not None:
        lines.append(_line(chart.title, MARGIN, top + 24, 22, INK, bold=True))
        lines.append(_filling(chart, MARGIN, top + 44, LEFT - 20, bottom - top - 70))
        lines += _text(chart.description, MARGIN, bottom, 16, LEFT, 1, SOFT)
    x = MARGIN + LEFT + 40 if chart is not None else MARGIN
    lines += _beside(given, x, top, bottom)
    segments = count(given.height("segments"), "segment") if given.has("segments") else ""
    material = " · ".join(filter(None, (data, segments, f"babelquake {VERSION}")))
    lines += _text(material, MARGIN, DOWN - 30, 18, ACROSS - 2 * MARGIN, 1, SOFT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{ACROSS}" height="{DOWN}" viewBox="0 0 {ACROSS} {DOWN}" '
        f'font-family="{FONT}"><rect width="{ACROSS}" height="{DOWN}" fill="white"/>{"".join(lines)}</svg>'
    )


def _beside(run: Run, x: float, top: float, bottom: float) -> Iterator[str]:
    """The worst examples and what to do, as far as there is room."""
    width, y = ACROSS - MARGIN - x, top + 24
    worst, advice = worst_examples(run), page_of(run).advice(run)[:2]
    end = bottom - (40 + 86 * len(advice) if advice else 0)
    if worst:
        yield _line(worst_title(run), x, y, 22, INK, bold=True)
        y += 34
    for example in worst:
        before, after = (
            f"{said}: {example[key]}" for said, key in zip(example["sides"], ("before", "after"), strict=True)
        )
        parts = [(example["label"], INK, True), (str(example["source"]), INK, False), (before, SOFT, False)]
        parts.append((after, ALARM, False))
        drawn = [(line, colour, bold) for text, colour, bold in parts for line in _wrapped(text, 18, width, 1)]
        if y + 25 * len(drawn) > end:
            break
        for line, colour, bold in drawn:
            yield _line(line, x, y, 18, colour, bold)
            y += 25
        y += 12
    if advice:
        y += 16
        yield _line("What to do", x, y, 22, INK, bold=True)
    for one in advice:
        y += 30
        yield _line(f"{one.title} ({one.loss})" if one.loss else one.title, x, y, 18, INK, bold=True)
        y += 25
        said = one.measured if one.helped else f"{one.advice}{f': {one.untried}' if one.untried else ''}"
        yield from _text(said, x, y, 18, width, 2, INK)
        y += 25 * (len(_wrapped(said, 18, width, 2)) - 1)


def _wrapped(text: str, size: float, width: float, most: int) -> list[str]:
    """Lines that fit; what does not is cut with an ellipsis at the end of the last one."""
    left = " ".join(visible(text).split())
    lines: list[str] = []
    capitals = sum(char.isupper() for char in left) / max(1, len(left))
    room = int(width / (CHARACTER * (1 + CAPITAL * capitals) * size))
    while left and len(lines) < most:
        if len(left) <= room:
            lines.append(left)
            break
        if len(lines) == most - 1:
            lines.append(left[: room - 1].rstrip() + "…")
            break
        cut = left.rfind(" ", 0, room + 1)
        cut = cut if cut > 0 else room
        lines.append(left[:cut])
        left = left[cut:].strip()
    return lines


def _text(text: str, x: float, y: float, size: float, width: float, most: int, colour: str) -> Iterator[str]:
    for place, line in enumerate(_wrapped(text, size, width, most)):
        yield _line(line, x, y + place * 1.3 * size, size, colour)


def _line(text: str, x: float, y: float, size: float, colour: str, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}"{weight}>{escape(visible(text))}</text>'


PLOT = 620
"""How wide a plot is drawn without its labels, unless it is so high that there is room for more."""


def _filling(chart: Chart, x: float, y: float, width: float, height: float) -> str:
    """A chart as wide as there is room for at its height."""
    drawn = svg({**chart.spec(), "width": PLOT})
    wide, high = _size(drawn)
    if (spare := high * width / height - wide) > 0:
        drawn = svg({**chart.spec(), "width": PLOT + int(spare)})
    return _placed(drawn, x, y, width, height)


def _placed(drawn: str, x: float, y: float, width: float, height: float) -> str:
    """A chart's SVG as a part of this one, as large as fits and whole."""
    wide, high = _size(drawn)
    scale = min(width / wide, height / high)
    inside = drawn[drawn.index(">") + 1 :]
    return (
        f'<svg x="{x:g}" y="{y:g}" width="{wide * scale:g}" height="{high * scale:g}" '
        f'viewBox="0 0 {wide:g} {high:g}">{inside}'
    )


def _size(drawn: str) -> tuple[float, float]:
    """Width and height of an SVG."""
    found = re.match(r'<svg[^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
    if found is None:
        raise ValueError("the chart has no viewBox")
    return float(found[1]), float(found[2])
