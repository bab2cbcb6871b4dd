"""The attack study on made-up sentences: what it leaves behind, and what does not change it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.studies.attack.toys import FOUR, run_of, same, tuples

from babelquake.engine import Engine, Local
from babelquake.errors import ResumableError, UserError
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack


def test_a_run_holds_every_perturbation_with_edits_scores_and_constraint_values(
    tmp_path: Path, neighbours: Path
) -> None:
    run = run_of(tmp_path / "run", neighbours)
    table = run.table("attacks")
    assert table.height == 12 * 4 * 2 and table["tuple"].n_unique() == table.height
    found = table.filter("success")
    assert set(found["recipe"]) == set(FOUR) and found["gain"].min() > 1
    for row in found.iter_rows(named=True):
        values = json.loads(row["constraints"])
        assert values["perplexity"] < 10 and row["fits"] and row["met"]
        assert row["recipe"] != "deepwordbug" or values["levenshtein"] <= 30
        assert json.loads(row["edits"]) and row["original"] != row["perturbed"]
        assert row["score"] - row["score_perturbed"] == pytest.approx(row["gain"])
        assert row["words_changed"] >= 1
    lines = [json.loads(line) for line in (run.folder / "augmentation.jsonl").read_text("utf-8").splitlines()]
    assert [line["tuple"] for line in lines] == found["tuple"].to_list()
    assert {"source", "references", "edits", "constraints"} <= lines[0].keys()
    success = run.measures.filter(pl.col("group").is_null(), measure="success")
    assert success["n"].to_list() == [12] * 8 and success["changed"].sum() == found.height
    assert {"transfer", "length", "queries_per_success", "edit_share"} <= set(run.measures["measure"])
    assert not (run.folder / ".parts").exists()
    assert run.info.signatures["parts of speech"].startswith("lists:")


@pytest.mark.slow
def test_results_depend_neither_on_the_pool_nor_on_order_nor_on_the_executor(tmp_path: Path, neighbours: Path) -> None:
    first = run_of(tmp_path / "a", neighbours, pool=1)
    assert same(first, run_of(tmp_path / "b", neighbours, pool=7))
    threads = Engine(None, workers=Local(3))
    assert same(first, run_of(tmp_path / "c", neighbours, engine=threads))
    turned = run_of(tmp_path / "d", neighbours, data=tuples().reverse())
    key = ["source", "victim", "recipe"]
    columns = [*key, "perturbed", "success", "queries", "gain", "edits"]
    one, other = (run.table("attacks").select(columns).sort(key) for run in (first, turned))
    assert one.drop("gain").equals(other.drop("gain"))
    assert np.allclose(one["gain"], other["gain"])


def test_constraints_before_the_victim_find_the_same_with_fewer_queries(tmp_path: Path, neighbours: Path) -> None:
    after, before = (
        run_of(
            tmp_path / check,
            neighbours,
            recipes=["clare", "input-reduction"],
            check=check,
            constraints="perplexity[rise=0.1]",
        ).table("attacks")
        for check in ("after", "before")
    )
    columns = ["tuple", "perturbed", "success"]
    assert after.select(columns).equals(before.select(columns))
    assert before["queries"].sum() < after["queries"].sum()


@pytest.mark.parametrize(
    "goal", ["inconsistent[by=0.2,within=3]", "inconsistent[by=0.2,within=3,similarity=symmetric]", "inflate[by=0.05]"]
)
def test_other_goals_keep_their_own_constraints(tmp_path: Path, neighbours: Path, goal: str) -> None:
    free = {"constraints": "none"} if goal.startswith("inflate") else {}
    run = run_of(tmp_path / "run", neighbours, victims="chrf", recipes=["clare", "input-reduction"], goal=goal, **free)
    found = run.table("attacks").filter("success")
    assert found.height
    values = [json.loads(text) for text in found["constraints"]]
    if goal.startswith("inconsistent"):
        assert all(value["self-similarity"] < 3 and "perplexity" not in value for value in values)
        assert found["gain"].min() > 0.2
    else:
        assert (found["score_perturbed"] - found["score"]).min() > 0.05


def test_inconsistency_transfers_to_metrics_that_contradict_themselves_too(tmp_path: Path) -> None:
    """One metric looks at lengths only where it is shown a reference of the data, the other always."""
    data = tuples()
    known = set(data["reference"])

    def inconsistent(translations: Sequence[str], references: Sequence[str]) -> list[float]:
        return [len(text) * float(given in known) for text, given in zip(translations, references, strict=True)]

    def consistent(translations: Sequence[str], references: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in translations]

    victims = [inconsistent, consistent]
    run = attack(
        recipes="input-reduction", victims=victims, data=data, goal="inconsistent", out=tmp_path / "run", resamples=100
    )
    transfer = run.measures.filter(pl.col("measure") == "transfer", pl.col("perturbation").is_null())
    shares = {(row["scorer"].split(":")[-1], row["other"].split(":")[-1]): row["value"] for row in transfer.to_dicts()}
    assert len(shares) == 2 and sorted(shares.values()) == [0.0, 100.0]


@pytest.mark.parametrize("similarity", ["plain", "symmetric"])
def test_the_victim_serves_as_similarity_for_other_goals_too(tmp_path: Path, neighbours: Path, similarity: str) -> None:
    limit = f"self-similarity[within=0.9,symmetric={str(similarity == 'symmetric').lower()}]"
    ways = (
        {"goal": f"inconsistent[within=0.9,similarity={similarity}]"},
        {
            "goal": "overpenalise[by=0.4]",
            "constraints": limit,
        },
    )
    recipes = ["input-reduction", "deepwordbug"]
    one, other = (run_of(tmp_path / way["goal"][:4], neighbours, recipes, **way).table("attacks") for way in ways)
    columns = ["tuple", "perturbed", "success", "queries", "constraints"]
    assert one.select(columns).equals(other.select(columns)) and one["success"].any()


def test_a_budget_of_queries_holds_for_every_sentence(tmp_path: Path, neighbours: Path) -> None:
    run = run_of(tmp_path / "run", neighbours, victims="chrf", max_queries=20)
    table = run.table("attacks")
    assert table["queries"].max() <= 20 and table["spent"].any()
    ended = f"{table['spent'].sum()} of {table.height}"
    assert f"max_queries=20 ended {ended} searches early." in run.info.notes


def test_a_time_limit_ends_a_run_that_the_same_command_continues(tmp_path: Path, neighbours: Path) -> None:
    whole = run_of(tmp_path / "whole", neighbours, victims="chrf")
    for _ in range(100):
        try:
            limited = run_of(tmp_path / "limited", neighbours, victims="chrf", time_limit=1e-6, pool=3)
            break
        except ResumableError as error:
            assert "same command" in str(error)
    assert same(whole, limited)


def test_a_qe_victim_sees_sources_only(tmp_path: Path, neighbours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.scorers import SCORERS
    from babelquake.scorers.base import MeanScorer, Questions

    class Lengths(MeanScorer):
        """Likes translations as long as their source, ten times over."""

        needs = frozenset({"source"})
        signature = "lengths"

        def judge(self, questions: Questions) -> Any:
            """Minus the difference in length."""
            assert questions.references is None and questions.sources is not None
            pairs = zip(questions.translations, questions.sources, strict=True)
            return np.array([-abs(len(text) - 10.0 * len(source)) for text, source in pairs])

    monkeypatch.setitem(SCORERS._things, "lengths", Lengths)
    run = run_of(tmp_path / "run", neighbours, victims="lengths", recipes=["input-reduction"], constraints="none")
    assert run.table("attacks")["success"].any()
    with pytest.raises(UserError, match="does not compare with a reference"):
        run_of(tmp_path / "other", neighbours, victims="lengths", goal="inconsistent")


@pytest.mark.slow
def test_a_system_collapses_under_edits_of_its_source(tmp_path: Path) -> None:
    data = tuples(4).with_columns(source=pl.col("reference"))
    data = pl.concat([data, data.with_columns(system=pl.lit("another"))])
    run = attack(
        recipes="deepwordbug",
        victims=(),
        data=data,
        goal="collapse",
        out=tmp_path / "run",
        systems="command[cmd=rev]",
        resamples=100,
    )
    found = run.table("attacks").filter("success")
    assert found.height and found["victim"].unique().to_list() == ["command[cmd=rev]"]
    assert (found["score"] == 100).all() and (found["score_perturbed"] < 75).all()
    assert found["original"].to_list() == found["source"].to_list()
    assert run.table("attacks")["source"].is_unique().all() and run.table("attacks").height == 4
    made = run.table("renderings").sort("tuple")
    assert made["rendering"].to_list() == [text[::-1] for text in found.sort("tuple")["original"]]
    assert made["rendering_perturbed"].to_list() == [text[::-1] for text in found.sort("tuple")["perturbed"]]
    assert run.info.signatures["system command[cmd=rev]"].startswith("command")
    assert run.info.signatures["system command[cmd=rev]"] in run.measures.filter(measure="success")["signature"][0]
    with pytest.raises(UserError, match=r"translation systems.*systems="):
        attack(recipes="deepwordbug", victims="chrf", data=data, goal="collapse", out=tmp_path / "other")


def test_a_sample_is_balanced_over_columns_named_once(tmp_path: Path, neighbours: Path) -> None:
    few = {"recipes": "input-reduction", "victims": "chrf", "constraints": "none"}
    run = run_of(tmp_path / "run", neighbours, **few, sample=6, stratify=["year", "year"])
    assert dict(run.table("attacks").group_by("year").len().iter_rows()) == {"wmt12": 2, "wmt13": 2, "wmt14": 2}
    assert run.info.config["stratify"] == "year"
    assert run_of(tmp_path / "one", neighbours, **few, sample=6, stratify="year").table("attacks").height == 6
    with pytest.raises(UserError, match=r"size.*sample"):
        run_of(tmp_path / "other", neighbours, **few, stratify=["year"])


def test_tables_are_split_by_columns_of_the_data_whatever_they_are_called(tmp_path: Path) -> None:
    data = tuples().with_columns(score=pl.Series([1.0, 2.0] * 6), goal=pl.Series(["one", "two", "three"] * 4))
    for by, groups in (("score", {"1.0": 6, "2.0": 6}), ("goal", {"one": 4, "two": 4, "three": 4})):
        run = attack(
            recipes="input-reduction",
            victims="chrf",
            data=data,
            constraints="none",
            by=by,
            out=tmp_path / by,
            resamples=100,
        )
        found = run.measures.filter(pl.col("measure") == "success", pl.col("group").is_not_null())
        assert dict(found.select("group", "n").iter_rows()) == groups


def test_every_number_is_signed_with_what_the_search_drew_on(tmp_path: Path, neighbours: Path) -> None:
    run = run_of(tmp_path / "run", neighbours, victims="chrf", max_queries=50)
    for part in ("toy-masked", "toy-causal", "neighbours.tsv-", "constraint:perplexity[rise=10.0]", "max_queries:50"):
        assert run.measures["signature"].str.contains(part, literal=True).all(), part


def test_ratings_join_a_finished_run(tmp_path: Path, neighbours: Path) -> None:
    run = run_of(tmp_path / "run", neighbours)
    assert "overpenalised" not in set(run.measures["measure"])
    names = run.table("attacks").filter("success")["tuple"]
    rng = np.random.default_rng(2)
    ratings = pl.concat(
        pl.DataFrame({"tuple": names, "side": [side] * len(names), "z": rng.normal(0, 1, len(names))})
        for side in ("original", "perturbed")
    )
    again = run_of(tmp_path / "run", neighbours, ratings=ratings)
    assert {"overpenalised", "pearson_perturbed", "spread", "cells_overpenalised"} <= set(again.measures["measure"])
    cells = again.measures.filter(measure="cells_overpenalised")
    sizes = again.table("attacks").filter("success").group_by("victim", "recipe", "year").len()
    assert 0 < cells["n"].item() == (sizes["len"] >= 4).sum() < sizes.height, "fewer than four can never be significant"
    assert again.table("rated").height == len(names)
    fewer = run_of(tmp_path / "run", neighbours, ratings=ratings.filter(pl.col("tuple") != names[0]))
    assert set(fewer.table("rated")["tuple"]) == set(names) - {names[0]}
    material = [json.loads(line) for line in (run.folder / "augmentation.jsonl").read_text("utf-8").splitlines()]
    humans = {line["tuple"]: line["human"] for line in material if "human" in line}
    assert len(material) == len(names) and humans == dict(fewer.table("rated").select("tuple", "human").iter_rows())
    (said,) = [note for note in fewer.info.notes if note.startswith("Human ratings")]
    assert said.startswith(f"Human ratings: {len(names) - 1} of {len(names)} ")
    assert fewer.info.signatures["ratings"] != again.info.signatures["ratings"]


def test_annotation_reads_what_was_found(tmp_path: Path, neighbours: Path) -> None:
    from babelquake.annotate.material import read_material

    run = run_of(tmp_path / "run", neighbours)
    found = run.table("attacks").filter("success")
    material = read_material(run.folder)
    assert [item.id for item in material] == found["tuple"].to_list()
    assert material[0].texts == {"original": found["original"][0], "perturbed": found["perturbed"][0]}
    assert {"victim", "recipe", "year"} <= material[0].groups.keys()


COMMAND = """
import sys
from babelquake.studies.attack.study import attack
attack(
    data=sys.argv[1], recipes="input-reduction[order=least]", victims="ter", constraints="none", out=sys.argv[2],
    pool=2, resamples=100,
)
"""


@pytest.mark.slow
def test_a_run_killed_in_the_middle_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    data = tmp_path / "tuples.tsv"
    tuples(120).write_csv(data, separator="\t")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    subprocess.run([sys.executable, "-c", COMMAND, data, whole], check=True, env=os.environ)
    process = subprocess.Popen([sys.executable, "-c", COMMAND, data, killed], env=os.environ)
    kept = 0
    while kept < 5:
        assert process.poll() is None, "it was over before it could be killed"
        journals = list(killed.glob(".parts/attacks/*.jsonl"))
        kept = journals[0].read_bytes().count(b"\n") if journals else 0
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (journal,) = killed.glob(".parts/attacks/*.jsonl")
    before = journal.read_bytes()
    assert 5 <= before.count(b"\n") < 120
    subprocess.run([sys.executable, "-c", COMMAND, data, killed], check=True, env=os.environ)
    assert same(Run.open(killed), Run.open(whole))
