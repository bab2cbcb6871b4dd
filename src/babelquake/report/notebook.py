"""A run in a notebook or a prompt: the verdict, the first tables, the first charts."""

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import escape

from babelquake.errors import UserError, did_you_mean
from babelquake.escape import visible
from babelquake.runs.findings import Finding
from babelquake.runs.run import Run

SENTENCES = 5
TABLES = 2
ROWS = 30
CHARTS = 2


class Notebook:
    """Draws finished runs from their measures alone."""

    def text(self, run: Run) -> str:
        """The verdict, in at most five lines."""
        if not run.info.finished:
            return f"{run.info.study} run in {run.folder}, unfinished: run the same command again to continue."
        from babelquake.report.verdict import verdict

        lines = [visible(sentence) for sentence in verdict(run)[:SENTENCES]]
        return "\n".join([f"{run.info.study} run in {run.folder}", *lines])

    def html(self, run: Run) -> str:
        """Verdict, the first tables and the first charts, as one fragment that needs no script."""
        if not run.info.finished:
            return f"<pre>{escape(self.text(run))}</pre>"
        return "\n".join(self._parts(run))

    def verdict(self, run: Run) -> list[str]:
        """What it found, in sentences."""
        from babelquake.report.verdict import verdict

        return verdict(run)

    def findings(self, run: Run) -> list[Finding]:
        """What it found, as data."""
        from babelquake.studies.card import findings_of

        return findings_of(run)

    def words(self, findings: Sequence[Finding]) -> list[str]:
        """Findings in sentences."""
        from babelquake.report.verdict import in_words

        return [sentence.text for sentence in in_words(findings)]

    def plot(self, run: Run, kind: str | None) -> Any:
        """One of its charts, with its title."""
        from babelquake.report.pages import views

        charts = {chart.name: chart for view in views(run) for chart in view.charts}
        if not charts:
            raise UserError(f"a {run.info.study} run like this one has no charts.")
        found = next(iter(charts.values())) if kind is None else charts.get(kind)
        if found is None:
            raise UserError(f"no chart is called '{kind}'. {did_you_mean(str(kind), charts)}")
        return found.chart.properties(title=found.title)

    def examples(self, run: Run, worst: int) -> pl.DataFrame:
        """The texts behind its numbers, the largest damage first."""
        from babelquake.report.examples import examples, with_texts

        if worst < 1:
            raise UserError(f"worst={worst}: expected a positive number.")
        order = examples(run).sort("drop", descending=True, nulls_last=True, maintain_order=True)
        return with_texts(run, order.head(worst).collect())

    def report(self, run: Run, path: Path) -> Path:
        """Write its report."""
        from babelquake.report.html import write_html

        write_html(run, path)
        return path

    def latex(self, run: Run) -> str:
        """Its tables for a paper."""
        from babelquake.report.latex import to_latex

        return to_latex(run)

    def _parts(self, run: Run) -> Iterator[str]:
        from babelquake.report.pages import tables, views
        from babelquake.report.verdict import verdict

        yield f"<h3>{escape(run.info.study)} · {escape(visible(run.folder.name))}</h3>"
        said = "".join(f"<li>{escape(visible(sentence))}</li>" for sentence in verdict(run)[:SENTENCES])
        yield f"<ul>{said}</ul>"
        for table in tables(run)[:TABLES]:
            head = "".join(f"<th>{escape(visible(column))}</th>" for column in table.columns)
            body = "".join(
                "<tr>" + "".join(f"<td>{escape(visible(cell))}</td>" for cell in row) + "</tr>"
                for row in table.rows[:ROWS]
            )
            caption = escape(visible(table.title))
            yield f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        charts = [chart for view in views(run)[:1] for chart in view.charts][:CHARTS]
        yield from (_picture(json.dumps(chart.spec() | {"width": 520, "title": chart.title})) for chart in charts)


def _picture(spec: str) -> str:
    """A chart as an image inside the page."""
    import vl_convert

    from babelquake.report.images import VEGA_LITE

    drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()
    return f'<img alt="chart" src="data:image/svg+xml;base64,{base64.b64encode(drawn).decode("ascii")}">'
