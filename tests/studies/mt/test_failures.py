"""Failures in the MT study: rates clean and perturbed, their difference, and Lee et al.'s hallucinations."""

from pathlib import Path

import polars as pl
import pytest

import babelquake as bq

SOURCES = [f"The committee met {number} times in the spring and the summer of that year." for number in range(12, 42)]


def translate(texts: list[str]) -> list[str]:
    """A system that loses the number of sources in capitals, and cannot stop there."""
    made = []
    for text in texts:
        number = text.split()[3]
        shouted = text.isupper()
        made.append("Výbor se sešel " + ("krát " * 12 if shouted else f"{number}krát na jaře a v létě toho roku."))
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> bq.Run:
    """Thirty sentences, clean, in capitals and with a doubled full stop."""
    data = pl.DataFrame({"source": SOURCES, "language_pair": ["en-cs"] * len(SOURCES)})
    suite = ["case[level=1,to=upper]", "word-repeat"]
    out = tmp_path_factory.mktemp("mt") / "run"
    return bq.mt(data=data, systems=[translate], suite=suite, scorers=["chrf"], out=out, resamples=2000)


def measured(run: bq.Run, measure: str, kind: str | None, perturbation: str | None) -> dict[str, object]:
    place = [
        pl.col(name).eq_missing(pl.lit(value)) for name, value in (("scorer", kind), ("perturbation", perturbation))
    ]
    (row,) = run.measures.filter(pl.col("measure") == measure, *place).to_dicts()
    return row


def test_rates_are_of_clean_and_perturbed_translations(run: bq.Run) -> None:
    assert measured(run, "failures", "number", None)["value"] == 0
    assert measured(run, "failures", "off-target", None)["value"] == 0
    assert measured(run, "failures", "loop", "case[to=upper]")["value"] == 100
    assert measured(run, "failures", "loop", "word-repeat")["value"] == 0


def test_the_difference_is_tested_in_one_family(run: bq.Run) -> None:
    loops = measured(run, "failures_delta", "loop", "case[to=upper]")
    assert loops["value"] == 100 and loops["verdict"] == "significant"
    families = run.measures.filter(measure="failures_delta")["family"].unique().to_list()
    assert len(families) == 1


def test_what_was_fine_and_loops_now_is_a_hallucination(run: bq.Run) -> None:
    assert measured(run, "hallucination", None, "case[to=upper]")["value"] == 100
    assert measured(run, "hallucination", None, "word-repeat")["value"] == 0


def test_every_failure_is_kept_with_its_evidence(run: bq.Run) -> None:
    kept = run.table("failures").filter(kind="loop")
    assert kept.height == len(SOURCES) and "krát" in kept["evidence"][0]
    assert kept["perturbation"].unique().to_list() == ["case[to=upper]"]


def test_the_page_names_them_and_a_gate_can_ask(run: bq.Run, tmp_path: Path) -> None:
    from babelquake.report.pages import tables
    from babelquake.studies.comparison import Requirement

    (table,) = [table for table in tables(run) if table.title.startswith("Failures")]
    assert any("loop" in line and "100.0" in " ".join(line) for line in table.rows)
    rows = run.measures.to_dicts()
    assert all(answer.met for answer in Requirement.parse("failures[off-target] <= 0.5").check(rows))
    assert not all(answer.met for answer in Requirement.parse("failures[loop,case] <= 0.5").check(rows))


def test_a_system_that_loops_under_noise_is_worse_in_a_comparison(run: bq.Run, tmp_path: Path) -> None:
    data = pl.DataFrame({"source": SOURCES, "language_pair": ["en-cs"] * len(SOURCES)})
    suite = ["case[level=1,to=upper]", "word-repeat"]

    def steady(texts: list[str]) -> list[str]:
        return translate([text.capitalize() for text in texts])

    good = bq.mt(data=data, systems=[steady], suite=suite, scorers=["chrf"], out=tmp_path / "good", resamples=2000)
    changes = {(change.measure, change.scorer): change for change in bq.compare(good, run)}
    loops = changes["failures_perturbed", "loop"]
    assert loops.outcome == "worse" and loops.paired and loops.old == 0
    assert ("failures", "loop") not in changes


def test_the_verdict_names_what_noise_breaks(run: bq.Run) -> None:
    (found,) = (finding for finding in run.findings if finding.what == "failures_rise")
    assert found.facts["kind"] in ("detached", "loop", "number") and found.perturbation == "case[to=upper]"
    assert found.test is not None and found.test.significant
    assert any("100 %" in line and "ailure" in line for line in run.verdict), run.verdict
