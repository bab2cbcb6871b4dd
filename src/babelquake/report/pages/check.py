"""The page of `check`: which failures there are, how often, and the translations that have them.

The same as JUnit XML for build servers: one test case per translation, one failure per kind.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import altair as alt
import polars as pl
import regex

from babelquake.failures.base import description_of
from babelquake.files import deliver
from babelquake.report.charts import FAILURES, NEUTRAL, PALETTE, Chart, data, lines, points, tooltips, where_known
from babelquake.report.examples import Packed
from babelquake.report.names import OWN_RULES, failure_label, family_of, results_of, short_names
from babelquake.report.pages import Examples, Page
from babelquake.report.remedies import about_failures
from babelquake.report.table import Table, number, of
from babelquake.report.verdict import sentence_case
from babelquake.runs.measures import Results, Row, apart, largest_first, values
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.studies.check.study import MOST_NAMED, flagged, of_systems
from babelquake.studies.detection import ANY


def check_tables(run: Run) -> list[Table]:
    """Per language pair: systems with their rates and commonest failures; then every kind, with the system it hits."""
    results = results_of(run)
    pairs = values(results.where("failures"), "language_pair")
    return [table for pair in pairs for table in (_systems(results, pair), _kinds(results, pair)) if table.rows]


def _systems(results: Results, pair: str | None) -> Table:
    rows = of_systems(results, pair, scorer=ANY)
    parts = any(row["perturbation"] for row in rows)
    lines = tuple(
        (
            row["system"] or "",
            *([row["perturbation"] or "clean"] if parts else []),
            f"{row['n']:,}",
            percent(row),
            f"[{number(row['low'], 2)}, {number(row['high'], 2)}]",
            "; ".join(f"{failure_label(kind['scorer'])} {percent(kind)}" for kind in _commonest(results, row)),
        )
        for row in largest_first(rows)
    )
    columns = (
        "system",
        *(["source"] if parts else []),
        "translations",
        "% with a failure",
        "95 % interval",
        "commonest",
    )
    return Table(f"Failures by system{of(pair)}", columns, lines, spare=("95 % interval",))


def _commonest(results: Results, row: Row) -> list[Row]:
    same = {name: row[name] for name in ("language_pair", "system", "perturbation", "group")}
    found = [kind for kind in results.where("failures", **same) if kind["scorer"] != ANY and kind["value"]]
    return largest_first(found)[:MOST_NAMED]


def _kinds(results: Results, pair: str | None) -> Table:
    rows = [row for row in of_systems(results, pair) if row["scorer"] != ANY]
    lines = []
    for (kind,), here in apart(rows, "scorer"):
        count = flagged(here)
        total = sum(row["n"] for row in here)
        worst = max(here, key=lambda row: row["value"])
        if count:
            most = f"{worst['system']} {percent(worst)}" if worst["system"] and len(here) > 1 else ""
            lines.append((kind, description_of(kind), f"{count:,}", f"{100 * count / total:.2f}", most))
    lines.sort(key=lambda line: -float(line[3]))
    columns = ("kind", "what it is", "translations", "%", "most")
    return Table(f"Kinds of failure{of(pair)}", columns, tuple(lines), spare=("what it is", "most"))


def percent(row: Row) -> str:
    """A rate with two places."""
    return number(row["value"], 2)


def check_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Every failure with its evidence and texts; the damage is its score."""
    segments = run.scan("segments").filter(wanted)
    found = run.scan("failures").filter(wanted).join(segments, on="row", how="left", maintain_order="left")
    return found.with_columns(
        pl.col("perturbation").fill_null("clean"),
        named=pl.col("system"),
        noise=pl.col("perturbation"),
        level=pl.lit(None, pl.Float64),
        replicate=pl.lit(0),
        drop=100 * pl.col("score"),
        text=pl.col("source"),
        original=pl.col("source"),
        before=pl.col("evidence"),
        after=pl.col("translation"),
        system=pl.col("system").fill_null("all"),
    )


LISTED = {
    "kind": "failure",
    "named": "system",
    "noise": "perturbation",
    "drop": "score",
    "text": "source",
    "after": "translation",
    "before": "seen",
}
FACETS = (("kind", "Kind of failure"), ("system", "System"), ("language_pair", "Language pair"), ("cell", "Source"))


def check_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """Source, translation and what was seen in it."""
    short = short_names(table["system"])
    packed = Packed(table.with_columns(pl.col("system").replace(short)))
    packed.beside("Source", "text")
    packed.beside("Translation", "after")
    packed.beside("What was seen", "before")
    return packed.columns("how much of it there is, in %", FACETS)


def check_lead(run: Run) -> Chart | None:
    """Several systems: how many translations of each have a failure; one: how many have each kind."""
    results = results_of(run)
    pairs = values(results.where("failures"), "language_pair")
    rows = of_systems(results, pairs[0]) if pairs else []
    rows = [row for row in rows if not row["perturbation"]] or rows
    overall = [row for row in rows if row["scorer"] == ANY]
    if len(overall) > 1:
        return _by_system(overall)
    kinds = largest_first(row for row in rows if row["scorer"] != ANY and row["value"])
    if not kinds:
        return None
    shown = points(kinds, label=lambda row: sentence_case(failure_label(row["scorer"])), family=_family)
    present = [family for family in (*FAILURES, OWN_RULES) if any(point["family"] == family for point in shown)]
    coloured = alt.Color(
        "family:N",
        legend=None,
        scale=alt.Scale(domain=present, range=[FAILURES.get(family, NEUTRAL) for family in present]),
    )
    described = "Each kind of failure with its 95 % interval; one translation may have several. Colours are families."
    return Chart("failures", "How often each kind of failure occurs", described, _bars(shown, coloured))


def _family(row: Row) -> str:
    return family_of(row["scorer"])


def _by_system(rows: list[Row]) -> Chart:
    shown = points(largest_first(rows), label=lambda row: str(row["system"]))
    described = "Translations with at least one failure, the most first, with 95 % intervals."
    return Chart("failures", "Translations with a failure", described, _bars(shown, alt.value(PALETTE[0])))


def _bars(shown: list[dict[str, Any]], coloured: Any) -> Any:
    base = alt.Chart(data(shown)).encode(
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        tooltip=tooltips(label="", value="% of translations", low="95 % from", high="to"),
    )
    bars = base.mark_bar(opacity=0.8, height={"band": 0.62}).encode(
        x=alt.X("value:Q", title="% of translations"), color=coloured
    )
    ends = base.mark_rule(strokeWidth=2, color="#2F3B52").encode(x="low:Q", x2="high:Q")
    return alt.layer(bars, *where_known(shown, ends)).properties(height=lines(shown))


def _title(kind: str) -> str:
    return sentence_case(failure_label(kind))


PAGE = Page(
    check_tables,
    examples=Examples(
        check_examples,
        "system",
        check_columns,
        sides=("seen", "output"),
        kind="kind",
        titled=_title,
        commonest=True,
        title="Examples of the commonest failures",
        listed=LISTED,
    ),
    lead=check_lead,
    advice=about_failures,
)


NOT_XML = regex.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def write_junit(run: AnyRun, path: Path | str, kinds: Collection[str] | None = None) -> None:
    """Write a test suite per system and language pair; of these kinds alone where some are named."""
    deliver(junit(run, kinds), Path(path))


def junit(run: AnyRun, kinds: Collection[str] | None = None) -> str:
    """The document as text."""
    (given,) = opened(run)
    segments, failures = given.table("segments"), given.table("failures")
    if kinds is not None:
        failures = failures.filter(pl.col("kind").is_in(list(kinds)))
    found: dict[int, list[tuple[str, str]]] = {}
    for row, kind, evidence in failures.select("row", "kind", "evidence").iter_rows():
        found.setdefault(row, []).append((kind, evidence))
    suites = []
    for (system, pair), here in segments.group_by(["system", "language_pair"], maintain_order=True):
        name = " ".join(filter(None, (system, pair))) or "translations"
        cases = [
            _case(name, f"{segment} {perturbation}" if perturbation else segment, found.get(row, []), translation)
            for row, segment, perturbation, translation in here.select(
                "row", "id", "perturbation", "translation"
            ).iter_rows()
        ]
        failed = sum(row in found for row in here["row"])
        suites.append(
            f'<testsuite name={_attribute(name)} tests="{here.height}" failures="{failed}" errors="0">\n'
            + "".join(cases)
            + "</testsuite>\n"
        )
    failed = sum(row in found for row in segments["row"])
    head = f'<testsuites name="babelquake check" tests="{segments.height}" failures="{failed}">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{"".join(suites)}</testsuites>\n'


def _case(suite: str, name: str, failures: list[tuple[str, str]], translation: str) -> str:
    start = f"<testcase classname={_attribute(suite)} name={_attribute(name)}"
    if not failures:
        return f"{start}/>\n"
    kinds = ", ".join(kind for kind, _ in failures)
    message = "; ".join(f"{kind}: {evidence}" for kind, evidence in failures)
    said = _attribute(message[:1000])
    text = NOT_XML.sub("\ufffd", translation[:2000]).replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    return f"{start}><failure type={_attribute(kinds)} message={said}>{text}</failure></testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(NOT_XML.sub("\ufffd", text))
