"""Attacks that raise scores: what is found, on whom it is measured, and what must not rise with it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.failures import detect
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack


@pytest.fixture(scope="module")
def rated() -> Dataset:
    return read("sample:rated").first(60)


def loves_budgets(translation: str, reference: str) -> float:
    """Likes length a little, and one word very much."""
    return len(translation) / 1000 + translation.count("Commission")


def inflated(data: Dataset, out: Path, *recipes: str, **options: Any) -> Run:
    given: dict[str, Any] = {"engine": Engine(quiet=True), "constraints": "none"} | options
    return attack(data=data, recipes=recipes, goal="inflate", out=out, **given)


def value(run: Run, measure: str, recipe: str, scorer: str | None = None) -> dict[str, Any]:
    rows = run.measures.filter(pl.col("measure") == measure, pl.col("perturbation") == recipe)
    return rows.filter(pl.lit(True) if scorer is None else pl.col("scorer") == scorer).row(0, named=True)


def test_a_universal_suffix_is_found_on_one_half_and_measured_on_the_other(rated: Dataset, tmp_path: Path) -> None:
    """A word that the scorer loves is in the pool: every held-out sentence rises, and none of those searched on."""
    recipe = "universal-suffix[pool=200,sentences=8,words=1]"
    run = inflated(rated, tmp_path / "run", recipe, victims=[loves_budgets])
    attacks = run.table("attacks")
    assert attacks["perturbed"].str.ends_with(" Commission").all() or attacks["gain"].min() > 0
    assert 0 < attacks.height < 180
    sources = set(attacks["source"])
    assert not sources & (set(rated.segments["source"]) - sources)
    rise = value(run, "mean_rise", recipe)
    assert rise["low"] > 0 and rise["n"] == len(sources)
    assert any("questions on 8 sentences" in note for note in run.info.notes)


def test_no_word_raises_bleu_for_all_and_the_note_says_so(rated: Dataset, tmp_path: Path) -> None:
    run = inflated(rated, tmp_path / "run", "universal-prefix[pool=3,sentences=4]", victims=["bleu"])
    assert any("nothing better than" in note for note in run.info.notes)
    assert value(run, "mean_rise", "universal-prefix[pool=3,sentences=4]")["high"] < 0


def test_words_of_the_reference_raise_chrf_while_ter_finds_the_text_no_better(rated: Dataset, tmp_path: Path) -> None:
    kept = inflated(rated, tmp_path / "kept", "reference-words", victims=["chrf"], constraints="quality[scorer=ter]")
    free = inflated(rated, tmp_path / "free", "reference-words", victims=["chrf"])
    values = [float(text.split(":")[1].rstrip("}")) for text in kept.table("attacks")["constraints"]]
    assert max(values) <= 0
    assert value(kept, "success", "reference-words")["value"] < value(free, "success", "reference-words")["value"]


def test_detectors_say_that_what_raises_a_score_is_worse(rated: Dataset, tmp_path: Path) -> None:
    free = inflated(rated, tmp_path / "free", "delete-disliked", victims=["bleu"])
    kept = inflated(rated, tmp_path / "kept", "delete-disliked", victims=["bleu"], constraints="failures")
    won = kept.table("attacks").filter("success")
    assert won.height < free.table("attacks")["success"].sum()
    for row in kept.table("attacks").filter(pl.col("original") != pl.col("perturbed")).iter_rows(named=True):
        before, after = (detect(row["source"], row[side], "de-en") for side in ("original", "perturbed"))
        assert len(after) > len(before)
    with pytest.raises(UserError, match="failures"):
        attack(data=rated, recipes="deepwordbug", goal="collapse", systems="command[cmd=cat]", constraints="failures")


@pytest.mark.slow
def test_greedy_searches_never_end_below_where_they_began(rated: Dataset, tmp_path: Path) -> None:
    recipes = ("delete-disliked", "reference-words", "greedy-inflate")
    run = inflated(rated.first(12), tmp_path / "run", *recipes, victims=["bleu"], max_queries=40)
    assert set(run.table("attacks")["recipe"]) == set(recipes)
    assert value(run, "mean_rise", "greedy-inflate")["value"] > 0
    assert run.table("attacks")["gain"].min() >= 0
    assert run.table("attacks")["queries"].max() <= 40


def test_a_metric_that_is_no_victim_keeps_the_quality_unless_told_otherwise(rated: Dataset, tmp_path: Path) -> None:
    run = inflated(rated, tmp_path / "run", "delete-disliked", victims=["chrf"], constraints=None)
    assert "quality[scorer=bleu,rise=0.0]" in str(run.info.config)
    with pytest.raises(UserError, match="chrf is a victim"):
        inflated(rated, tmp_path / "no", "delete-disliked", victims=["chrf"], constraints="quality[scorer=chrf]")


def test_people_say_whether_what_raised_a_score_is_better(rated: Dataset, tmp_path: Path) -> None:
    """People find every text found worse: the metric's rise goes further than theirs, which is a fall."""
    given = {"victims": ["chrf"], "max_queries": 60}
    found = inflated(rated, tmp_path / "run", "reference-words", **given).table("attacks").filter("success")
    sides = [(name, side, z) for name in found["tuple"] for side, z in (("original", 0.1), ("perturbed", -0.4))]
    ratings = pl.DataFrame(sides, schema=["tuple", "side", "z"], orient="row")
    run = inflated(rated, tmp_path / "run", "reference-words", **given, ratings=ratings)
    assert value(run, "degradation_human", "reference-words")["value"] == pytest.approx(-0.5)
    assert value(run, "degradation", "reference-words")["value"] > 1
    assert value(run, "overpenalised", "reference-words")["p"] < 0.05


def test_a_text_for_all_needs_a_scorer_to_raise(rated: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="inflate"):
        attack(
            data=rated, recipes=["universal-suffix"], goal="collapse", systems=["command[cmd=cat]"], out=tmp_path / "r"
        )
