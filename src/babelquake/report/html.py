"""One self-contained HTML file: verdict, charts, tables and every example, for one run or several.

Texts reach the page in two ways only: escaped by the template, or inside compressed data that a script reads and shows
as text. A content security policy names the two scripts by their hashes and forbids everything else, so nothing that a
text contains can run, and nothing is ever fetched.
"""

import base64
import gzip
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.files import deliver
from babelquake.report.charts import Chart
from babelquake.report.comparison import ComparisonPage, comparison_page
from babelquake.report.examples import example_columns, packed
from babelquake.report.first_screen import first_words, lead_chart, worst_examples, worst_title
from babelquake.report.pages import NOTE, audit_facts, page_of, tables, typed_names, views
from babelquake.report.table import Table, is_numeric
from babelquake.runs.info import Flag, command_lines, signatures
from babelquake.runs.run import AnyRun, Run, opened, run_names
from babelquake.studies.card import STUDIES
from babelquake.studies.comparison import Comparison
from babelquake.version import VERSION

EXAMPLES = 50_000
"""Examples of all runs together that a page holds at most."""
ROOM = 3_600_000
"""Bytes that packed data may take, so that the file stays below 5 MB."""
TABLE_ROWS = 300
EMPTY: dict[str, Any] = {"views_by": "", "views": [], "examples": {"total": 0, "shown": 0, "facets": [], "texts": []}}
"""What a page without its own charts and examples to browse holds."""
SCRIPTS = ("decode.js", "diff.js", "heatmap.js", "charts.js", "examples.js", "page.js")


def write_html(runs: AnyRun | Sequence[AnyRun], path: Path | str, comparison: Comparison | None = None) -> None:
    """Write the report of one or several runs; with several, a selector changes between them.

    What `compare` says of the first two comes first, as its own page.
    """
    if not runs:
        raise UserError("a report needs at least one run folder.")
    given = opened(runs)
    page = None if comparison is None else comparison_page(given[0], given[1], comparison)
    deliver(render(given, page), Path(path))


def render(runs: Sequence[Run], comparison: ComparisonPage | None = None) -> str:
    """The page as text."""
    styles, script = _template("report.css"), "\n".join(_template(name) for name in SCRIPTS)
    script = f"(() => {{\n'use strict';\n{script}\n}})();"
    vega = _vega()
    policy = (
        f"default-src 'none'; script-src {_hash(vega)} {_hash(script)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return rendered(
        "report.html",
        policy=policy,
        styles=Markup(styles),  # noqa: S704 – our own file
        script=Markup(script),  # noqa: S704 – our own files
        vega=Markup(vega),  # noqa: S704 – the shipped bundle
        version=VERSION,
        comparison=comparison,
        comparison_data=_packed_comparison(comparison) if comparison else "",
        runs=[
            _run(run, name, place, len(runs))
            for place, (run, name) in enumerate(zip(runs, run_names(runs), strict=True))
        ],
        is_numeric=is_numeric,
        columns_of=lambda table: list(zip(*table.rows, strict=True)),
    )


def _packed_comparison(comparison: ComparisonPage) -> str:
    """Its one chart; the tables and examples of a comparison are in the page itself."""
    lead = _chart(comparison.chart) if comparison.chart else None
    return packed({**EMPTY, "lead": lead, "typed": comparison.typed})


def _run(run: Run, name: str, place: int, among: int) -> dict[str, Any]:
    """What the template needs to know of a run."""
    info = run.info
    return {
        "id": f"run-{place}",
        "name": name,
        "study": info.study,
        "question": page_of(run).question(run) or STUDIES.get(info.study).question,
        "words": first_words(run),
        "worst": worst_examples(run),
        "worst_title": worst_title(run),
        "lead": lead_chart(run) is not None,
        "advice": page_of(run).advice(run),
        "facts": _facts(run),
        "notes": info.notes,
        "audit": audit_facts(run),
        "audit_note": NOTE,
        "flags": _flags(info.facts.flags),
        "command": command_lines(run),
        "signatures": signatures(run),
        "versions": info.versions,
        "tables": [_cut(table) for table in tables(run)],
        "typed": typed_names(run),
        "packed": _packed(run, EXAMPLES // among, ROOM // among),
    }


def _flags(flags: list[Flag]) -> dict[str, list[str]]:
    """Warnings by scorer and language pair."""
    found: dict[str, list[str]] = {}
    for flag in flags:
        who = " · ".join(filter(None, (flag.scorer, flag.language_pair)))
        found.setdefault(who, []).append(flag.text)
    return found


def _facts(run: Run) -> dict[str, str]:
    """The run at a glance."""
    config = run.info.config
    names, systems, scorers = (run.info.listed(name) for name in ("data", "system", "scorer"))
    shown = {
        "Data": ", ".join(name.rsplit("#", 1)[0] for name in names),
        "Segments": f"{run.height('segments'):,}",
        "Variants": f"{run.height('variants'):,}" if run.has("variants") else "",
        "Systems": str(len(systems) or ""),
        "Scorers": ", ".join(scorers),
        "Seed": str(config.get("seed", "")),
        "Made": (run.info.finished or "unfinished")[:16].replace("T", " "),
    }
    return {name: text for name, text in shown.items() if text}


def _packed(run: Run, most: int, room: int) -> str:
    """Charts and as many examples as there is room for."""
    lead = lead_chart(run)
    charts = [
        {
            "label": view.label,
            "heat": view.heat,
            "charts": [
                _chart(chart)
                for chart in view.charts
                if chart.on_page and (place > 0 or lead is None or chart.name != lead.name)
            ],
        }
        for place, view in enumerate(views(run))
    ]
    shown = {
        "views_by": page_of(run).views_by,
        "views": charts,
        "lead": _chart(lead) if lead else None,
        "typed": typed_names(run),
    }
    while True:
        text = packed({**shown, "examples": example_columns(run, most)})
        if len(text) <= room or most <= 100:
            return text
        most = max(100, int(most * min(0.9, 0.95 * room / len(text))))


def _chart(chart: Chart) -> dict[str, Any]:
    return {"title": chart.title, "description": chart.description, "spec": chart.spec(), "wide": chart.wide}


def _cut(table: Table) -> Table:
    """Long tables end in a line that says where the rest is."""
    if len(table.rows) <= TABLE_ROWS:
        return table
    note = f"The first {TABLE_ROWS} of {len(table.rows)} rows; measures.csv in the run folder has all numbers. "
    return Table(table.title, table.columns, table.rows[:TABLE_ROWS], note + table.note)


def _template(name: str) -> str:
    return (files("babelquake.report") / "templates" / name).read_text("utf-8")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed; see scripts/make_vega_bundle.py."""
    return gzip.decompress((files("babelquake.report") / "assets" / "vega.js.gz").read_bytes()).decode("utf-8")


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def rendered(template: str, **values: Any) -> str:
    """The page that a template makes of values."""
    environment = Environment(
        loader=PackageLoader("babelquake.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    return environment.get_template(template).render(**values)
