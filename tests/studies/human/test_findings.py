"""What ratings say: standardising, excluding, several language pairs, perturbed sides, and the run it leaves."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import babelquake as bq
from babelquake.data.ratings import Ratings, ratings_frame
from babelquake.errors import UserError
from babelquake.studies.human.findings import findings, for_attack, segment_means, segment_scores, standardised


def campaign(
    seed: int = 1, pair: str | None = "de-en", better: float = 20.0, honest: int = 3
) -> dict[str, list[object]]:
    """Two systems, 40 segments, four annotators of whom all but the honest answer at random; controls included."""
    draw = np.random.default_rng(seed)
    columns: dict[str, list[object]] = {
        name: [] for name in ("language_pair", "hit", "annotator", "system", "segment", "type", "raw", "seconds")
    }
    ahead = {"A": better, "B": 0.0}
    quality = {(name, segment): draw.uniform(30, 60) + ahead[name] for name in ahead for segment in range(40)}
    for person in range(4):
        for (system, segment), true in quality.items():
            kinds = ["SYSTEM"] + (["REPEAT", "BAD_REF"] if segment < 12 else [])
            for kind in kinds:
                score = true - (30 if kind == "BAD_REF" else 0) + draw.normal(0, 5) + 5 * person
                if person >= honest:
                    score = draw.uniform(0, 100)
                row = (pair, f"h{person}", f"a{person}", system, str(segment), kind, float(round(score)), 4.0)
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    return columns


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return Ratings("test", ratings_frame(campaign()))


def test_standardised_scores_have_mean_0_and_deviation_1(ratings: Ratings) -> None:
    scored = standardised(ratings.frame).group_by("annotator").agg(pl.col("z").mean(), sd=pl.col("z").std())
    assert np.allclose(scored["z"].to_numpy(), 0, atol=1e-6)
    assert np.allclose(scored["sd"].to_numpy(), 1, atol=1e-6)


def test_one_score_throughout_says_nothing() -> None:
    frame = ratings_frame(
        {"annotator": ["a", "a", "b"], "system": ["s"] * 3, "segment": ["1", "2", "1"], "raw": [100.0, 100.0, 7.0]}
    )
    assert standardised(frame)["z"].to_list() == [0.0, 0.0, 0.0]


def test_means_by_hand() -> None:
    frame = ratings_frame(
        {
            "annotator": ["a", "a", "a", "b"],
            "system": ["s"] * 4,
            "segment": ["1"] * 4,
            "type": ["SYSTEM", "REPEAT", "BAD_REF", "SYSTEM"],
            "raw": [80.0, 60.0, 10.0, 40.0],
        }
    )
    assert segment_means(frame)["raw"].to_list() == [60.0]
    assert segment_means(frame)["n"].to_list() == [3]
    assert segment_means(frame, ["SYSTEM"])["raw"].to_list() == [60.0]
    assert segment_means(frame, ["SYSTEM"], least=3).is_empty()


def test_quality_control_takes_out_who_did_not_look(ratings: Ratings) -> None:
    kept = findings(ratings, exclude="hits")
    assert kept.ratings["annotator"].unique().sort().to_list() == ["a0", "a1", "a2"]
    assert kept.facts.hits_passed == 0.75
    assert any("removed" in note for note in kept.notes)
    everyone = findings(ratings)
    assert everyone.ratings["annotator"].n_unique() == 4
    assert kept.agreement["de-en"].alpha_z > everyone.agreement["de-en"].alpha_z + 0.2
    assert findings(ratings, exclude="annotators").ratings["annotator"].n_unique() == 3
    assert everyone.annotators.filter(annotator="a3")["suspicions"][0].to_list() != []


def test_language_pairs_are_analysed_on_their_own() -> None:
    one, other = campaign(1, "de-en"), campaign(2, "cs-en", better=-20.0)
    both = Ratings("both", ratings_frame({name: [*one[name], *other[name]] for name in one}))
    found = findings(both)
    best = {row["language_pair"]: row["system"] for row in found.systems.filter(rank=1).to_dicts()}
    assert best == {"de-en": "A", "cs-en": "B"}
    assert set(found.agreement) == {"de-en", "cs-en"}
    alone = findings(Ratings("one", ratings_frame(one)))
    assert found.systems.filter(language_pair="de-en").equals(alone.systems)
    assert found.as_json()["clusters"] == [["A"], ["B"], ["B"], ["A"]]


def test_too_few_ratings_are_told(ratings: Ratings) -> None:
    with pytest.raises(UserError, match="no translation has 9 or more ratings"):
        findings(ratings, least=9)


def test_what_it_would_take_to_separate_two_systems() -> None:
    close = Ratings("close", ratings_frame(campaign(3, better=0.6)))
    needed = findings(close, exclude="hits").power
    assert needed.height == 1
    row = needed.row(0, named=True)
    assert row["segments"] is None or row["segments"] > 40
    assert findings(Ratings("far", ratings_frame(campaign(3)))).power.is_empty()


@pytest.fixture(scope="module")
def tuples() -> Ratings:
    """Perturbed sides that lose much under one recipe and nothing under the other."""
    draw = np.random.default_rng(4)
    columns: dict[str, list[object]] = {name: [] for name in ("hit", "annotator", "system", "segment", "raw")}
    recipes = []
    for person in range(3):
        for number in range(60):
            true, recipe = draw.uniform(50, 90), ("clare", "deepwordbug")[number % 2]
            for side, loss in (("original", 0), ("perturbed", 30 if recipe == "clare" else 0)):
                row = ("h", f"a{person}", side, f"t{number}", true - loss + draw.normal(0, 3))
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
                recipes.append(recipe)
    return Ratings("tuples", ratings_frame(columns).with_columns(group_recipe=pl.Series(recipes)))


def test_perturbed_translations_by_recipe(tuples: Ratings) -> None:
    table = findings(tuples).degradation
    losses = {row["recipe"]: row for row in table.to_dicts()}
    assert losses["clare"]["loss"] > 1 and losses["clare"]["p"] < 1e-4
    assert abs(losses["deepwordbug"]["loss"]) < 0.2 and losses["deepwordbug"]["p"] > 0.01
    assert table["n"].to_list() == [30, 30]
    assert losses["clare"]["low"] < losses["clare"]["loss"] < losses["clare"]["high"]


def test_ratings_for_the_attack_study(tuples: Ratings) -> None:
    table = for_attack(findings(tuples).segments)
    assert table.columns == ["tuple", "side", "z", "mean_raw", "n"]
    assert table.height == 120 and set(table["n"]) == {3}


def test_segment_scores_have_a_line_for_every_segment() -> None:
    means = pl.DataFrame(
        {"system": ["B", "A"], "segment": ["3", "1"], "raw": [5.0, 7.0], "z": [0.5, -0.25], "n": [1, 1]}
    )
    assert segment_scores(means) == [
        ("A", "-0.25"),
        ("A", "None"),
        ("A", "None"),
        ("B", "None"),
        ("B", "None"),
        ("B", "0.5"),
    ]


def test_the_study_leaves_a_run(ratings: Ratings, tmp_path: Path) -> None:
    run = bq.human(data=ratings, out=tmp_path / "run", exclude="hits")
    measures = run.measures
    assert measures.filter(measure="rating_z", system="A")["value"][0] > 0
    difference = measures.filter(measure="rating_z_difference").row(0, named=True)
    assert (difference["system"], difference["other"], difference["verdict"]) == ("A", "B", "significant")
    assert measures.filter(measure="hits_passed")["value"].to_list() == [75.0]
    assert measures.filter(measure="seconds_per_rating")["value"].to_list() == [4.0]
    assert run.table("hits").height == 4
    again = bq.human(data=ratings, out=tmp_path / "run", exclude="hits")
    assert again.measures.equals(measures)
    with pytest.raises(UserError, match="exclude"):
        bq.human(data=ratings, out=tmp_path / "run", exclude="none")


def test_what_is_left_of_ratings_most_of_which_were_rejected_ranks_nobody(tmp_path: Path) -> None:
    """The one honest annotator finds A significantly better; a ranking on that quarter would hide how little it is."""
    data = Ratings("random", ratings_frame(campaign(honest=1)))
    run = bq.human(data=data, out=tmp_path / "run", exclude="hits")
    said = {finding.what: finding for finding in run.info.findings}
    assert said["ratings_rejected"].weight == "alarm" and "rated_best" not in said and "rated" not in said
    assert "384 of 512" in run.verdict[0] and not any(" A " in f" {line} " for line in run.verdict)


def test_a_ranking_by_people_most_of_whom_would_fail_comes_with_an_alarm(tmp_path: Path) -> None:
    for honest, weight in ((1, "alarm"), (4, "answer")):
        data = Ratings("random", ratings_frame(campaign(honest=honest)))
        run = bq.human(data=data, out=tmp_path / str(honest), exclude="none")
        first, *_ = run.info.findings
        assert first.weight == weight and (first.what == "annotators_passed") == (weight == "alarm")
        assert ("25 % of 4 annotators" in run.verdict[0]) == (weight == "alarm")


def test_two_ratings_cannot_separate_systems(tmp_path: Path) -> None:
    frame = ratings_frame(
        {
            "annotator": ["a"] * 4,
            "system": ["A", "A", "B", "B"],
            "segment": ["1", "2"] * 2,
            "raw": [90.0, 80.0, 20.0, 10.0],
        }
    )
    run = bq.human(data=Ratings("few", frame), out=tmp_path / "few")
    assert run.measures.filter(measure="rating_z_difference")["verdict"].to_list() == ["cannot be tested"]
