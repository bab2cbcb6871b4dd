"""A language model as judge with flaws that are known: every recipe that raises scores finds the one it can find."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.chat_server import Behaviour, ChatServer, chance
from tests.studies.attack.toys import run_of, tuples

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import ResumableError
from babelquake.report.pages import tables
from babelquake.runs.run import Run
from babelquake.studies.attack import AttackOptions
from babelquake.studies.attack.study import plan

UNDER_WAY = 8
"""Questions of `llm-judge` that are sent or about to be sent at a time: twice its four threads."""
FLAWS = {  # recipe: what the judge loves, or with a minus what it cannot stand
    "greedy-inflate": "green",
    "reference-words": "bread",
    "delete-disliked": "-many",
    "universal-suffix[pool=6,words=1,sentences=6]": "(verified)",
    "universal-prefix[pool=6,words=2,sentences=6]": "(verified)",
}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)


def translation_in(prompt: str) -> str:
    return prompt.rpartition("Translation: ")[2].strip()


def judge(prompt: str, before: int) -> str:
    """30 to 40, whatever the other words say; 20 more for each word that it loves, 20 less for what it cannot stand."""
    said = set(translation_in(prompt).lower().replace(".", "").split())
    loved = said & {*FLAWS.values()}
    base = 30 + 10 * chance(" ".join(sorted(said - loved - {"many"})), "judge")
    return str(round(base) + 20 * len(loved) - 20 * ("many" in said))


def attacked(server: ChatServer, out: Path, neighbours: Path, recipes: Any, **options: Any) -> Run:
    victims = [f"llm-judge[model=m,base_url={server.url}]", "chrf"]
    given = {"goal": "inflate", "constraints": "none", "engine": Engine(quiet=True), "check": "after"} | options
    return run_of(out, neighbours, recipes, victims, **given)


def against_the_judge(run: Run) -> pl.DataFrame:
    return run.table("attacks").filter(pl.col("victim").str.starts_with("llm-judge"))


def transfers(run: Run, measure: str) -> dict[str, float]:
    """What was found against the judge, by who judges it then."""
    rows = run.measures.filter(pl.col("scorer").str.starts_with("llm-judge"), measure=measure).to_dicts()
    return {row["other"].partition("[")[0]: row["value"] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", FLAWS)
def test_a_recipe_finds_what_the_judge_loves_and_chrf_is_not_fooled(
    recipe: str, tmp_path: Path, neighbours: Path
) -> None:
    with ChatServer(Behaviour(judge=judge)) as server:
        run = attacked(server, tmp_path / "run", neighbours, recipe)
        assert max(map(len, server.did.values())) == 1, "no question is paid for twice"
    found = against_the_judge(run).filter("success")
    assert found.height >= 3
    word, before, after = FLAWS[recipe], *(found[side].str.to_lowercase() for side in ("original", "perturbed"))
    if word.startswith("-"):
        assert (before.str.contains(word[1:]) & ~after.str.contains(word[1:])).any()
    else:
        assert (after.str.contains(word, literal=True) & ~before.str.contains(word, literal=True)).any()
    shares, rises = transfers(run, "transfer"), transfers(run, "transfer_drop")
    assert shares["llm-judge"] == 100 and rises["llm-judge"] > 1
    assert recipe == "reference-words" or (shares["chrf"] == 0 and rises["chrf"] < 0)
    (table,) = [table for table in tables(run) if table.title == "Transfer"]
    assert any("llm-judge" in str(row[0]) for row in table.rows)
    if word == "(verified)":
        assert found.height == against_the_judge(run).height
        assert any("(verified)" in note and "found “" in note for note in run.info.notes)


def test_a_text_that_makes_the_judge_fall_silent_is_not_taken_for_one_it_loves(
    tmp_path: Path, neighbours: Path
) -> None:
    """With “accurate” only the best translation gets a number: the mean of what is left would be the highest of all."""

    def silent(prompt: str, before: int) -> str:
        said = translation_in(prompt)
        score = round(20 + 60 * chance(said.removesuffix(" accurate"), "judge"))
        return str(score) if not said.endswith("accurate") or score >= 70 else "I would rather not say."

    with ChatServer(Behaviour(judge=silent)) as server:
        recipe = "universal-suffix[pool=8,words=1,sentences=12]"
        run = attacked(server, tmp_path / "run", neighbours, recipe, data=tuples(30))
    note = next(note for note in run.info.notes if "llm-judge" in note and "questions on" in note)
    assert "“accurate”" not in note
    scores = against_the_judge(run)["gain"]
    assert scores.is_finite().all()


def test_a_judge_that_never_answers_a_text_for_all_has_a_finite_rise(tmp_path: Path, neighbours: Path) -> None:
    def silent(prompt: str, before: int) -> str:
        said = translation_in(prompt)
        return str(round(20 + 60 * chance(said, "judge"))) if said.endswith(".") and "." not in said[:-1] else "No."

    with ChatServer(Behaviour(judge=silent)) as server:
        run = attacked(server, tmp_path / "run", neighbours, "universal-suffix[pool=3,words=1,sentences=4]")
    (note,) = [note for note in run.info.notes if "llm-judge" in note and "questions on" in note]
    assert "+0.00 standard deviations" in note
    assert (against_the_judge(run)["gain"] == 0).all()


@pytest.mark.slow
def test_constraints_come_before_questions_that_cost_money(tmp_path: Path, neighbours: Path) -> None:
    """TER finds many deletions better, which the constraint forbids: the judge is not asked about those."""
    asked = {}
    for check in ("auto", "before", "after"):
        with ChatServer(Behaviour(judge=judge)) as server:
            run = attacked(
                server,
                tmp_path / check,
                neighbours,
                "delete-disliked",
                check=check,
                constraints="quality[scorer=ter]",
                data=read("sample:rated").first(6),
            )
            asked[check] = len(server.requests), against_the_judge(run).select("original", "perturbed").rows()
    assert asked["auto"] == asked["before"]
    assert asked["auto"][1] == asked["after"][1] and asked["auto"][0] < asked["after"][0]


def test_a_dry_run_counts_what_the_search_for_one_text_asks(tmp_path: Path) -> None:
    recipes = ("universal-suffix[pool=6,words=2,sentences=4]", "reference-words")
    options = AttackOptions(
        data=tuples(), recipes=recipes, victims=("chrf", "ter"), goal="inflate", max_queries=10, out=tmp_path / "r"
    )
    forecast = plan(options).forecast()
    assert forecast.most_questions == 12 * 2 * 2 * 10
    assert forecast.shared_questions == 2 * 4 * (1 + 2 * 6)
    assert "104 for one text for all sentences" in str(forecast).splitlines()[-1]
    run = run_of(tmp_path / "run", tmp_path / "none", recipes[:1], goal="inflate", constraints="none")
    assert any("52 questions on 4 sentences" in note for note in run.info.notes)


def test_the_budget_ends_a_search_for_one_text_and_it_goes_on(tmp_path: Path, neighbours: Path) -> None:
    recipe = "universal-suffix[pool=6,words=1,sentences=6]"
    with ChatServer(Behaviour(judge=judge)) as server:
        whole = attacked(server, tmp_path / "whole", neighbours, recipe)
        needed = len(server.requests)
    with ChatServer(Behaviour(judge=judge)) as server:
        options = {"engine": Engine(quiet=True, budget=1_200)}
        with pytest.raises(ResumableError, match="budget"):
            attacked(server, tmp_path / "run", neighbours, recipe, **options)
        assert 12 < len(server.requests) < needed
        again = attacked(server, tmp_path / "run", neighbours, recipe)
    columns = ["original", "perturbed", "gain", "success"]
    assert against_the_judge(again).select(columns).equals(against_the_judge(whole).select(columns))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_paid_for_is_not_asked_again_after_a_kill(how: signal.Signals, tmp_path: Path) -> None:
    """In the search for one text, and in the searches of single sentences; a kill -9 loses what is under way."""
    tuples(10).write_csv(tmp_path / "d.tsv", separator="\t")
    with ChatServer(Behaviour(judge=judge, delay=0.005)) as server:
        words = "attack --goal inflate --recipe universal-suffix[pool=6,words=1,sentences=4] --recipe reference-words"
        words += f" --victim llm-judge[model=m,base_url={server.url}] --constraint none -d d.tsv -q --out run"
        command = [sys.executable, "-m", "babelquake", *words.split()]
        env = {**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")}
        for enough in (15, 60):
            process = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE)
            until = time.monotonic() + 120
            while len(server.requests) < enough:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.002)
            process.send_signal(how)
            process.communicate(timeout=120)
            assert process.returncode in (3, -how)
        done = subprocess.run(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        twice = [text for text, times in server.did.items() if len(times) > 1]
    assert len(twice) <= (0 if how == signal.SIGTERM else 2 * UNDER_WAY)
    assert Run.open(tmp_path / "run").table("attacks")["success"].any()
