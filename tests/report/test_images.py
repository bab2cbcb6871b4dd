"""Charts and slides as pictures, under names that any file system takes, and what to do about what they show."""

import json
from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.report import images
from babelquake.report.charts import curves
from babelquake.report.images import slide, svg, write_images, write_slide
from babelquake.report.pages import views
from babelquake.report.remedies import REMEDIES, against_noise
from babelquake.report.verdict import verdict
from babelquake.runs.findings import Finding
from babelquake.runs.run import Run


def test_every_chart_is_a_valid_specification_with_data(runs: dict[str, Run]) -> None:
    for run in runs.values():
        for view in views(run):
            for chart in view.charts:
                spec = json.loads(json.dumps(chart.spec(), allow_nan=False))
                assert chart.title and {"mark", "layer", "hconcat", "vconcat", "facet"} & spec.keys()


def test_parts_too_small_to_be_tested_are_not_drawn_and_the_weakest_is_on_top(tmp_path: Path) -> None:
    number, texts = range(70), [f"Satz {number} hat ein Wort." for number in range(70)]
    data = {
        "source": texts,
        "perturbed": [text.upper() for text in texts],
        "reference": texts,
        "translation": texts,
        "translation_perturbed": [text if row < 30 else text[:9] for row, text in zip(number, texts, strict=True)],
        "system": ["s"] * 70,
        "kind": ["easy" if row < 30 else "hard" if row < 65 else "rare" for row in number],
    }
    run = bq.mt(data=data, by="kind", scorers="chrf", out=tmp_path / "r", resamples=200, language_pair="de-de")
    (chart,) = [chart for view in views(run) for chart in view.charts if chart.name.startswith("parts-")]
    spec = chart.spec()
    (rows,) = spec["datasets"].values()
    assert {row["label"] for row in rows} == {"easy", "hard"}
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["hard", "easy"]
    assert "1 part " in chart.description and "20" in chart.description


def test_a_study_without_a_page_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no report page is called 'astrology'"):
        views(Run.resume(tmp_path / "r", "astrology", {}))


def test_a_chart_becomes_a_picture_with_its_title(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = views(runs["qe"])[0]
    monkeypatch.setattr(images, "views", lambda run: [type(first)(first.label, first.charts[:1])])
    (picture,) = write_images([runs["qe"]], tmp_path / "new" / "folder", ["svg"])
    assert picture.parent == tmp_path / "new" / "folder" and picture.name.startswith("qe-")
    assert first.charts[0].title.split()[0] in picture.read_text("utf-8")


def test_file_names_are_plain_and_distinct() -> None:
    name = images._file_name("runs/a – ‘b’ · de-en: x?", taken=[])
    assert name == "runs-a-b-de-en-x"
    assert images._file_name(name, taken=[Path(f"{name}.png"), Path(f"{name}.svg")]) == f"{name}-2"
    assert images._file_name(name, taken=[Path(f"{name}.png"), Path(f"{name}-2.png")]) == f"{name}-3"
    assert len(images._file_name("x" * 500, taken=[])) == 100


def test_no_label_is_cut_in_a_picture() -> None:
    long = "a very long name of a kind of noise that nobody would ever want to see cut " * 2
    axis = {"field": "name", "type": "nominal", "axis": {"labelLimit": 80}}
    spec = {"data": {"values": [{"name": long, "value": 1}]}, "mark": "point", "encoding": {"y": axis}}
    assert long.strip() in svg(spec) and "…" not in svg(spec)


@pytest.mark.parametrize(
    ("levels", "scale", "ticks"),
    [
        ([1.0, 2.0, 4.0, 32.0], "log", [1, 2, 4, 32]),
        ([1.0, 2.0, 3.0], None, [1, 2, 3]),
        ([0.0, 0.1, 0.2], None, None),
    ],
)
def test_counts_have_their_own_ticks_and_doubling_ones_equal_steps(
    levels: list[float], scale: str | None, ticks: list[int] | None
) -> None:
    rows = [{"level": level, "value": level, "low": 0.0, "high": 40.0, "name": "chrF"} for level in levels]
    encoding = curves(rows, ["chrF"], "judged by", "candidates", "gain").to_dict()["layer"][0]["encoding"]["x"]
    assert encoding.get("scale", {}).get("type") == scale
    assert encoding["axis"].get("values") == ticks


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
