"""What the attack study refuses, and what it says of things that nobody needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.attack.toys import run_of, tuples

from babelquake.errors import UserError
from babelquake.studies.attack.study import attack


def test_a_text_for_all_that_raises_scores_is_refused_where_they_are_to_fall(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"universal-suffix raises scores.*inflate"):
        attack(recipes="universal-suffix", victims="chrf", data=tuples(3), out=tmp_path / "run")


def test_the_victim_as_similarity_is_refused_where_it_means_nothing(tmp_path: Path) -> None:
    few: dict[str, Any] = {"constraints": "self-similarity", "out": tmp_path / "run"}
    with pytest.raises(UserError, match="the goal inconsistent brings its own"):
        attack(recipes="input-reduction", victims="chrf", data=tuples(3), goal="inconsistent", **few)
    with pytest.raises(UserError, match="the goal collapse has no metric"):
        attack(
            recipes="input-reduction", victims=(), data=tuples(3), goal="collapse", systems="command[cmd=cat]", **few
        )

    def alone(translations: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in translations]

    with pytest.raises(UserError, match="does not compare with a reference"):
        attack(recipes="input-reduction", victims=alone, data=tuples(3), **few)


def test_models_that_nobody_asks_are_named(tmp_path: Path, neighbours: Path) -> None:
    run = run_of(tmp_path / "run", neighbours, recipes="clare", victims="chrf", constraints="none", max_queries=3)
    said = [note for note in run.info.notes if note.startswith("No recipe")]
    assert said == [f"No recipe and no constraint of this run asks {name}." for name in ("toy", neighbours)]


@pytest.mark.slow
def test_segments_that_lack_a_text_are_counted_and_left_out(tmp_path: Path) -> None:
    whole = tuples(8)
    holes = whole.with_row_index("n").with_columns(
        translation=pl.when(pl.col("n") == 1).then(pl.lit(" ")).when(pl.col("n") != 2).then("translation"),
        reference=pl.when(pl.col("n") != 4).then("reference"),
        source=pl.when(pl.col("n") != 6).then("source"),
    )
    few = {"constraints": "none", "resamples": 100}
    run = attack(recipes="input-reduction", victims="chrf", data=holes.drop("n"), out=tmp_path / "run", **few)
    assert run.table("attacks").height == run.table("scores").height == 5
    said = "3 of 8 segments have no translation or reference and are left out, the first table:2."
    assert f"table: {said}" in run.info.notes
    system = attack(
        recipes="deepwordbug",
        data=holes.drop("n"),
        goal="collapse",
        systems="command[cmd=rev]",
        out=tmp_path / "system",
        **few,
    )
    assert system.table("attacks").height == 7
    empty = whole.with_columns(translation=pl.lit(""))
    with pytest.raises(UserError, match=r"8 of 8 segments have no translation or reference: there is nothing"):
        attack(recipes="input-reduction", victims="chrf", data=empty, out=tmp_path / "other", **few)


def test_ratings_are_looked_at_before_anything_is_attacked(tmp_path: Path) -> None:
    project = tmp_path / "project.db"
    project.write_bytes(b"SQLite format 3\0 and so on")
    strange = pl.DataFrame({"tuple": ["a"], "z": [1.0]})
    for ratings, said in (
        (tmp_path / "nowhere.tsv", "nowhere.tsv does not exist"),
        (project, "project.db is a database"),
        (strange, "has no column 'side'"),
    ):
        with pytest.raises(UserError, match=said):
            attack(
                recipes="input-reduction",
                victims="chrf",
                data=tuples(4),
                constraints="none",
                out=tmp_path / "run",
                ratings=ratings,
            )
    assert not (tmp_path / "run").exists()


def test_ready_made_scores_and_victims_without_scores_are_refused(tmp_path: Path) -> None:
    data = tuples(4).with_columns(score=pl.Series([1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(UserError, match="ready-made"):
        attack(
            recipes="input-reduction",
            victims="scores[column=score]",
            data=data,
            constraints="none",
            out=tmp_path / "run",
        )

    def silent(translations: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [float("nan") if number == 1 else float(number) for number, _ in enumerate(translations)]

    with pytest.raises(UserError, match="has no score for 1 of 4 translations"):
        attack(recipes="input-reduction", victims=silent, data=data, constraints="none", out=tmp_path / "other")


def test_systems_of_one_name_and_victims_without_a_place_are_refused(tmp_path: Path) -> None:
    data, twins = tuples(4), ["command[cmd=rev,name=a]", "command[cmd=cat,name=a]"]
    with pytest.raises(UserError, match="two systems are called 'a'"):
        attack(recipes="deepwordbug", victims=(), data=data, goal="collapse", out=tmp_path / "run", systems=twins)
    with pytest.raises(UserError, match=r"Leave .*victim.* out"):
        attack(
            recipes="deepwordbug", victims="ter", data=data, goal="collapse", out=tmp_path / "run", systems=twins[:1]
        )


def test_a_recipe_named_twice_counts_once(tmp_path: Path, neighbours: Path) -> None:
    run = run_of(tmp_path / "run", neighbours, ["input-reduction", "input-reduction[]"], ["chrf"], constraints="none")
    assert run.table("attacks").height == tuples().height
    shares = run.measures.filter(pl.col("measure") == "success", pl.col("group").is_null())
    assert shares["n"].to_list() == [tuples().height]


@pytest.mark.parametrize("wrong", [{"pool": 0}, {"max_queries": 0}, {"time_limit": -1.0}, {"check": "never"}])
def test_numbers_that_mean_nothing_are_refused_in_python_too(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"{next(iter(wrong))}=.*expected"):
        attack(
            recipes="input-reduction", victims="chrf", data=tuples(3), constraints="none", out=tmp_path / "run", **wrong
        )


def test_no_constraint_and_a_constraint_exclude_each_other(tmp_path: Path, neighbours: Path) -> None:
    with pytest.raises(UserError, match="exclude each other"):
        run_of(tmp_path / "run", neighbours, constraints=["none", "words"])
