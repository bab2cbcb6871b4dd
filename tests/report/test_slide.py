"""One picture for a meeting, and what to do about what it shows."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.errors import UserError
from babelquake.report.remedies import REMEDIES, against_noise
from babelquake.report.slide import slide, write_slide
from babelquake.report.verdict import verdict
from babelquake.runs.findings import Finding
from babelquake.runs.run import Run

DOCS = Path(__file__).parents[2] / "docs" / "weaknesses"


@pytest.mark.parametrize("study", ["mt", "metric", "qe"])
def test_a_slide_is_sixteen_by_nine_and_says_the_answer(runs: dict[str, Run], tmp_path: Path, study: str) -> None:
    picture = write_slide(runs[study], tmp_path / "slide.png").read_bytes()
    assert picture[:4] == b"\x89PNG"
    wide, high = (int.from_bytes(picture[start : start + 4]) for start in (16, 20))
    assert wide * 9 == high * 16 and wide >= 1600
    drawn = slide(runs[study])
    assert verdict(runs[study])[0].split()[0] in drawn and "<text" in drawn
    assert "()" not in drawn, "advice without a figure has no brackets"


def test_a_slide_is_a_picture(runs: dict[str, Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.png or \.svg"):
        write_slide(runs["mt"], tmp_path / "slide.pptx")


@pytest.mark.parametrize("family", REMEDIES)
def test_every_remedy_has_its_page_in_the_documentation(family: str) -> None:
    text = (DOCS / f"{family}.md").read_text("utf-8")
    defence = REMEDIES[family].defence
    assert defence is None or f"--defence {defence}" in text


def test_only_significant_losses_get_advice_and_a_measured_defence_says_what_it_won_back(
    runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs["mt"]
    same = {"study": "mt", "language_pair": "de-en", "scorer": "chrf", "level": 1.0, "measure": "delta", "n": 100}
    row = {**dict.fromkeys(run.measures.columns), **same, "better": "up"}
    lost = {**row, "p_corrected": 0.001, "verdict": "significant"}
    rows = [
        {**lost, "system": "a", "perturbation": "case[to=upper]", "value": -20.0},
        {**lost, "system": "a + truecase", "perturbation": "case[to=upper]", "value": -5.0},
        {**lost, "system": "a", "perturbation": "homoglyph", "value": -10.0},
        {**lost, "system": "a + truecase", "perturbation": "homoglyph", "value": -9.9},
        {**row, "system": "a", "perturbation": "misspell", "value": -1.0, "p_corrected": 0.4},
    ]
    table = pl.DataFrame(rows, schema=run.measures.schema)
    monkeypatch.setattr(Run, "measures", property(lambda self: table))
    first, second = against_noise(run)
    assert (first.title, first.measured, first.untried) == ("Capitals", "--defence truecase won back 75 %", "")
    assert (second.title, second.helped, second.untried) == ("Unicode and spacing", False, "--defence fold")
    assert "truecase" in second.measured
    more = {**lost, "system": "a + fold+truecase", "perturbation": "case[to=upper]", "value": -4.0}
    table = pl.DataFrame([*rows, more], schema=run.measures.schema)
    assert against_noise(run)[0].measured == "--defence fold+truecase won back 80 %"
    found = [Finding(what="defence_helps", facts={"chain": "truecase"})]
    monkeypatch.setattr("babelquake.report.remedies.findings_of", lambda run: found)
    assert against_noise(run)[0].measured == "--defence truecase won back 75 %", "what the run recommends comes first"
