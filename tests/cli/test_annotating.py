"""`babelquake annotate` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    """Two systems, twenty segments, three annotators who agree that A is better."""
    lines = ["annotator\tsystem\tsegment\tscore"]
    for annotator, shift in (("ann", 0), ("bob", 10), ("cleo", -10)):
        for segment in range(1, 21):
            lines += [f"{annotator}\tA\t{segment}\t{70 + shift + segment % 5}"]
            lines += [f"{annotator}\tB\t{segment}\t{40 + shift + segment % 7}"]
    (tmp_path / "ratings.tsv").write_text("\n".join(lines) + "\n")
    return "ratings.tsv"


def test_analysis_as_json(cli: Command, ratings: str) -> None:
    found = json.loads(cli("annotate", "analyse", ratings, "--json").stdout)
    assert [row["system"] for row in found["systems"]] == ["A", "B"]
    assert found["clusters"] == [["A"], ["B"]]
    assert found["systems"][0]["raw"] == pytest.approx(72.0)
    assert len(found["segments"]) == 40
    assert found["segments"][0]["n"] == 3
    assert found["agreement"]["pearson"] == pytest.approx(1.0)
    assert found["agreement"]["alpha_z"] > 0.95 > found["agreement"]["alpha_raw"], "z takes out strictness"
    assert found["hits_passed"] is None, "without control items nothing can be tested"


def test_analysis_in_words(cli: Command, ratings: str) -> None:
    text = cli("annotate", "analyse", ratings).stdout
    assert "120 ratings by 3 annotators" in text
    assert "cluster_start" in text


def test_exports(cli: Command, ratings: str, tmp_path: Path) -> None:
    cli(
        "annotate",
        "analyse",
        ratings,
        "--export",
        "m.tsv",
        "--export",
        "m.parquet",
        "--export",
        "m.seg.score",
        "--score",
        "raw",
    )
    lines = (tmp_path / "m.seg.score").read_text().splitlines()
    assert lines[:2] == ["A\t71.0", "A\t72.0"]
    assert len(lines) == 40
    assert pl.read_parquet(tmp_path / "m.parquet").shape == (40, 6)
    assert (tmp_path / "m.tsv").read_text().startswith("language_pair\tsystem\tsegment\traw\tz\tn\n")
    again = json.loads(cli("annotate", "analyse", "m.seg.score", "--json").stdout)
    assert again["systems"][0]["raw"] == pytest.approx(72.0)


def test_two_campaigns_are_compared(cli: Command, ratings: str) -> None:
    found = json.loads(cli("annotate", "analyse", ratings, ratings, "--json").stdout)
    assert found["between"]["n"] == 40
    assert found["between"]["pearson"] == pytest.approx(1.0)
    assert "τ-c" in cli("annotate", "analyse", ratings, ratings).stdout


def test_wrong_options_are_told(cli: Command, ratings: str) -> None:
    assert "expected none, hits" in cli("annotate", "analyse", ratings, "--exclude", "all", status=2).stderr
    assert "expected z or raw" in cli("annotate", "analyse", ratings, "--score", "mean", status=2).stderr
    assert "no ratings of original" in cli("annotate", "analyse", ratings, "--for-attack", "a.tsv", status=2).stderr
    assert "does not exist" in cli("annotate", "analyse", "rating.tsv", status=2).stderr
