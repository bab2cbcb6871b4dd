"""One picture for a meeting, 16:9: the question, the answer, one chart, the worst examples."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from babelquake.errors import UserError, setting
from babelquake.escape import visible
from babelquake.files import deliver
from babelquake.report.charts import BAD, Chart
from babelquake.report.first_screen import first_words, lead_chart, worst_examples, worst_title
from babelquake.report.page import page_of
from babelquake.report.phrases import count
from babelquake.report.plots import FONT, svg
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.studies.card import STUDIES
from babelquake.version import VERSION

WIDTH, HEIGHT, MARGIN = 1600, 900, 64
INK, SOFT, LINE, ALARM = "#111827", "#545a68", "#d9dce3", BAD
LEFT = 960
"""How wide the chart may be; the examples stand beside it."""
FORMATS = (".png", ".svg")
CHARACTER = 0.53
"""The width of a character of this font, in sizes, about."""
CAPITAL = 0.4
"""How much wider capitals are."""


def write_slide(run: AnyRun, path: Path) -> Path:
    """Write the slide of a run as PNG or SVG, by the file's ending."""
    if path.suffix not in FORMATS:
        raise UserError(f"{setting('summary', path)}: expected a name that ends in {' or '.join(FORMATS)}.")
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
    lines = list(_text(question, MARGIN, 78, 24, WIDTH - 2 * MARGIN, 1, SOFT))
    y = 136.0
    for line in _wrapped(headline.first, 42, WIDTH - 2 * MARGIN, 3):
        lines.append(_line(line, MARGIN, y, 42, ALARM if headline.alarm else INK, bold=True))
        y += 52
    for line in _wrapped(headline.rest.removeprefix("; "), 24, WIDTH - 2 * MARGIN, 3):
        lines.append(_line(line, MARGIN, y - 6, 24, SOFT))
        y += 34
    for sentence in words.beside[:1]:
        for line in _wrapped(sentence.text, 24, WIDTH - 2 * MARGIN, 1):
            lines.append(_line(line, MARGIN, y, 24, INK))
            y += 34
    top, bottom = y + 4, HEIGHT - 70
    chart = lead_chart(given)
    if chart is not None:
        lines.append(_line(chart.title, MARGIN, top + 24, 22, INK, bold=True))
        lines.append(_filling(chart, MARGIN, top + 44, LEFT - 20, bottom - top - 70))
        lines += _text(chart.description, MARGIN, bottom, 16, LEFT, 1, SOFT)
    x = MARGIN + LEFT + 40 if chart is not None else MARGIN
    lines += _beside(given, x, top, bottom)
    material = " · ".join(filter(None, (data, _segments(given), f"babelquake {VERSION}")))
    lines += _text(material, MARGIN, HEIGHT - 30, 18, WIDTH - 2 * MARGIN, 1, SOFT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="{FONT}"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>{"".join(lines)}</svg>'
    )


def _segments(run: Run) -> str:
    import polars as pl

    if not run.has("segments"):
        return ""
    return count(int(run.scan("segments").select(pl.len()).collect().item()), "segment")


def _beside(run: Run, x: float, top: float, bottom: float) -> Iterator[str]:
    """The worst examples and what to do, as far as there is room."""
    width, y = WIDTH - MARGIN - x, top + 24
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
