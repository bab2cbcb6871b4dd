"""The charts of a run, and their export as images by vl-convert."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import regex

from babelquake.errors import UserError
from babelquake.files import deliver
from babelquake.report.page import views
from babelquake.runs.run import AnyRun, opened

VEGA_LITE = "6.4"
WIDTH = 520
FORMATS = ("png", "svg")
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


def write_images(runs: AnyRun | Sequence[AnyRun], folder: Path | str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """One image per chart and format, named `RUN-VIEW-CHART.png`."""
    for name in formats:
        if name not in FORMATS:
            raise UserError(f"images are written as {' or '.join(FORMATS)}, not as {name}.")
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
