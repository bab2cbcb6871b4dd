"""Charts as pictures: one file per chart and format, under names that any file system takes."""

import json
from pathlib import Path

import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.report import plots
from babelquake.report.charts import curves
from babelquake.report.page import views
from babelquake.report.plots import svg, write_images
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
    monkeypatch.setattr(plots, "views", lambda run: [type(first)(first.label, first.charts[:1])])
    (picture,) = write_images([runs["qe"]], tmp_path / "new" / "folder", ["svg"])
    assert picture.parent == tmp_path / "new" / "folder" and picture.name.startswith("qe-")
    assert first.charts[0].title.split()[0] in picture.read_text("utf-8")


def test_file_names_are_plain_and_distinct() -> None:
    name = plots._file_name("runs/a – ‘b’ · de-en: x?", taken=[])
    assert name == "runs-a-b-de-en-x"
    assert plots._file_name(name, taken=[Path(f"{name}.png"), Path(f"{name}.svg")]) == f"{name}-2"
    assert plots._file_name(name, taken=[Path(f"{name}.png"), Path(f"{name}-2.png")]) == f"{name}-3"
    assert len(plots._file_name("x" * 500, taken=[])) == 100


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
