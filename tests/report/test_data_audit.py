"""What is wrong with the test set reaches everybody who reads the results."""

from pathlib import Path

import pytest

from babelquake.report.html import render
from babelquake.report.markdown import to_markdown
from babelquake.report.pages import audit_facts, audit_tables
from babelquake.runs.info import Audit
from babelquake.runs.run import Run

AUDIT = {
    "segments": 1500,
    "mismatched_endings": 4.267,
    "duplicate_sources": 0.0,
    "blank_sources": 12.5,
    "endings": {"none": 200, "stop": 1200, "question": 100},
}


@pytest.fixture
def audited(runs: dict[str, Run]) -> Run:
    run = Run(runs["mt"].folder, runs["mt"].info.model_copy(deep=True))
    run.info.facts.audit = Audit.model_validate(AUDIT)
    return run


def test_shares_in_per_cent_and_endings_in_words(audited: Run) -> None:
    assert audit_facts(audited) == {
        "source and reference end in different kinds of marks": "4.3 %",
        "duplicate sources": "0.0 %",
        "blank sources": "12.5 %",
        "sources end in": "a full stop 1,200, a question mark 100, no mark 200",
    }


def test_without_references_no_endings_can_differ(audited: Run) -> None:
    audited.info.facts.audit = Audit.model_validate(AUDIT | {"mismatched_endings": None})
    assert list(audit_facts(audited)) == ["duplicate sources", "blank sources", "sources end in"]


def test_the_page_and_the_markdown_show_them(audited: Run) -> None:
    page = render([audited])
    assert "<h2>Test set</h2>" in page and "<dd>4.3 %</dd>" in page
    assert "## Test set" in to_markdown([audited]) and "4.3 %" in to_markdown([audited])


def test_other_runs_have_no_such_section(runs: dict[str, Run], tmp_path: Path) -> None:
    for name in ("metric", "qe"):
        assert audit_tables(runs[name]) == []
        assert "<h2>Test set</h2>" not in render([runs[name]])
