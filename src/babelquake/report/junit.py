"""JUnit XML of a `check` run: what build servers show – one test case per translation, one failure per kind."""

from collections.abc import Collection
from pathlib import Path
from xml.sax.saxutils import quoteattr

import polars as pl
import regex

from babelquake.files import deliver
from babelquake.runs.run import AnyRun, opened

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
