"""Attacks on a judge over the network: scores that it refuses, and the budget while searches ask."""

from pathlib import Path

import polars as pl
import pytest
from tests.scorers.test_llm_judge import Server
from tests.scorers.test_llm_judge import server as server
from tests.studies.attack.toys import run_of

from babelquake.engine import Engine
from babelquake.errors import ResumableError
from babelquake.runs.run import Run


def judge(prompt: str) -> str:
    """The longer the better; of texts with a king or a hut it would rather not speak."""
    said = prompt.rsplit("Translation: ")[-1]
    return "I would rather not." if "king" in said or "hut" in said else str(min(len(said), 100))


def attacked(server: Server, out: Path, neighbours: Path, budget: int | None = None) -> Run:
    server.reply = judge
    victims = [f"llm-judge[model=m,base_url={server.url}]", "chrf"]
    recipes = ["input-reduction", "faster-genetic[population=4,iterations=3]"]
    engine = Engine(quiet=True, budget=budget)
    return run_of(out, neighbours, recipes, victims, constraints="none", engine=engine)


def test_texts_without_a_score_are_noted_and_no_perturbation_rests_on_them(
    server: Server, tmp_path: Path, neighbours: Path
) -> None:
    run = attacked(server, tmp_path / "run", neighbours)
    scores = run.table("scores").filter(pl.col("scorer").str.starts_with("llm-judge"))
    silent = scores.filter(pl.col("score").is_nan())
    assert 0 < silent.height < scores.height
    assert any(f"gave no score to {silent.height} of {scores.height} texts" in note for note in run.info.notes)
    attacks = run.table("attacks").filter(pl.col("victim").str.starts_with("llm-judge"))
    unjudged = attacks.filter(pl.col("row").is_in(silent["row"].implode()))
    assert not unjudged["success"].any() and (unjudged["queries"] == 1).all()
    found = attacks.filter("success")
    assert found.height and found.select(pl.col("score_perturbed", "gain").is_finite().all()).row(0) == (True, True)
    drops = run.measures.filter(measure="transfer_drop")
    assert drops.height and drops["value"].null_count() == 0


def test_the_budget_holds_while_searches_ask(server: Server, tmp_path: Path, neighbours: Path) -> None:
    whole = attacked(server, tmp_path / "whole", neighbours)
    needed = len(server.asked)
    server.asked.clear()
    with pytest.raises(ResumableError, match="the budget is used up"):
        attacked(server, tmp_path / "run", neighbours, budget=2_500)
    assert whole.table("scores").height // 2 < len(server.asked) < needed
    continued = attacked(server, tmp_path / "run", neighbours, budget=10**6)
    assert continued.table("attacks").equals(whole.table("attacks"))
