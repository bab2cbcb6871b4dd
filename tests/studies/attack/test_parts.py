"""Sampling, journal, shares, lengths, transfer and human ratings, each on its own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import levene

from babelquake.attacks.goal import Inflate, Overpenalise
from babelquake.attacks.goal import goal as goal_of
from babelquake.attacks.victim import Scale
from babelquake.errors import UserError
from babelquake.runs.tables import Journal
from babelquake.scorers.base import Scorer
from babelquake.scorers.bleurt import Bleurt
from babelquake.scorers.comet import Comet
from babelquake.scorers.cross_encoder import CrossEncoder
from babelquake.scorers.strings.chrf import ChrF
from babelquake.stats.intervals import wilson
from babelquake.studies.attack.campaign import column_of, sampled
from babelquake.studies.attack.measures import (
    coverage,
    human_measures,
    length_measures,
    rated,
    ratings_table,
    read_ratings,
    success_measures,
    transfer_measures,
    transfer_table,
)
from babelquake.studies.attack.searching import likeness


def segments(years: dict[str, int]) -> pl.DataFrame:
    rows = [
        {"id": f"{year}:{place}", "system": f"s{place % 2}", "translation": "t", "source": "s", "year": year}
        for year, count in years.items()
        for place in range(count)
    ]
    return pl.DataFrame(rows)


def test_a_sample_is_even_over_strata_and_small_ones_give_what_they_have() -> None:
    drawn = sampled(segments({"12": 50, "17": 3, "22": 50}), 23, ["year"], seed=1)
    assert dict(drawn.group_by("year").len().iter_rows()) == {"12": 10, "17": 3, "22": 10}


def test_a_sample_does_not_depend_on_the_order_of_the_file() -> None:
    table = segments({"12": 30, "22": 30})
    one = sampled(table, 20, ["system", "year"], seed=3)
    other = sampled(table.reverse(), 20, ["system", "year"], seed=3)
    assert set(one["id"]) == set(other["id"])
    assert set(one["id"]) != set(sampled(table, 20, ["system", "year"], seed=4)["id"])
    assert one["id"].to_list() == [name for name in table["id"] if name in set(one["id"])]


def test_of_more_strata_than_are_wanted_some_are_drawn_whatever_their_names() -> None:
    table = segments({f"{year:02}": 4 for year in range(40)})
    chosen = [sampled(table, 8, ["year"], seed)["year"] for seed in range(6)]
    assert all(years.n_unique() == 8 for years in chosen)
    assert len({tuple(years) for years in chosen}) == 6
    assert min(years.min() for years in chosen) < "10" and max(years.max() for years in chosen) > "29"  # type: ignore[type-var, operator]


def test_an_unknown_stratum_is_named() -> None:
    table = segments({"12": 3}).with_columns(references=pl.lit([["a"]]))
    assert column_of("year", table, "--by") == "year"
    with pytest.raises(UserError, match=r"yaer.*Did you mean 'year'"):
        column_of("yaer", table, "--stratify")
    with pytest.raises(UserError, match=r"by.*references.*: the data have no such column"):
        column_of("references", table, "--by")


def test_a_torn_line_of_the_journal_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "j.jsonl")
    assert journal.read() == []
    with journal:
        journal.write({"row": 1, "text": "ä"})
        journal.write({"row": 2, "text": "b"})
    with journal.file.open("ab") as file:
        file.write(b'{"row": 3, "te')
    assert [row["row"] for row in journal.read()] == [1, 2]
    with journal:
        journal.write({"row": 4, "text": ""})
    assert [row["row"] for row in journal.read()] == [1, 2, 4]


def attacks() -> pl.DataFrame:
    rows = []
    for place in range(40):
        success = place % 4 != 0
        rows.append(
            {
                "tuple": f"t{place}",
                "row": place,
                "year": "12" if place < 20 else "22",
                "victim": "m",
                "recipe": "r",
                "success": success,
                "queries": 10,
                "words_changed": 2,
                "gain": 1.0 + place / 100,
                "edits": json.dumps([{"kind": "delete"}, {"kind": "insert" if place % 2 else "delete"}]),
                "original": "word " * (place % 7 + 3),
                "score": float(place % 5),
                "score_perturbed": float(place % 5) - 1 - place / 100,
            }
        )
    return pl.DataFrame(rows)


def by_kind(measures: Any, **key: Any) -> dict[str, Any]:
    return {m.kind.name: m for m in measures if all(getattr(m, name) == value for name, value in key.items())}


def test_shares_state_their_denominators() -> None:
    found = list(success_measures(attacks(), "year"))
    every = by_kind(found, group=None, other=None)
    assert (every["success"].value, every["success"].changed, every["success"].n) == (75.0, 30, 40)
    assert every["queries_per_success"].value == pytest.approx(400 / 30)
    assert every["words_changed"].value == 2
    part = by_kind(found, group="22")["success"]
    assert (part.value, part.changed, part.n) == (75.0, 15, 20)
    kinds = {m.other: m.value for m in found if m.kind.name == "edit_share"}
    assert kinds == {"delete": pytest.approx(100 * 40 / 60), "insert": pytest.approx(100 * 20 / 60)}


def test_wilson_intervals_are_those_of_the_textbook() -> None:
    assert wilson(1, 10) == pytest.approx((0.017876, 0.404150), abs=1e-5)
    assert wilson(0, 10) == pytest.approx((0.0, 0.277533), abs=1e-5)


def test_shorter_texts_are_found_by_a_rank_sum_test() -> None:
    table = attacks().with_columns(gain=-pl.col("original").str.len_chars().cast(pl.Float64))
    found = list(length_measures(table, "year", None, seed=0))
    lengths = {m.group: m for m in found if m.kind.name == "length"}
    assert lengths["all"].n == 40 and lengths["eligible"].n == 30 and lengths["top gain"].n == 15
    assert lengths["top gain"].value < lengths["eligible"].value
    assert all(m.p < 0.05 and m.value < 0 for m in found if m.kind.name == "shorter")


def test_transfer_counts_whom_else_a_perturbation_fools() -> None:
    table = attacks()
    names = table.filter("success")["tuple"].to_list()
    scored = pl.DataFrame(
        {
            "tuple": names * 2,
            "other": ["m"] * 30 + ["n"] * 30,
            "before": [2.0] * 60,
            "after": [0.5] * 30 + [0.5] * 10 + [1.5] * 20,
            "alike": [True] * 60,
        }
    )
    found = list(transfer_measures(transfer_table(table, scored, Overpenalise())))
    shares = {
        (m.scorer, m.other): (m.value, m.n) for m in found if m.kind.name == "transfer" and m.perturbation is None
    }
    assert shares == {("m", "m"): (100.0, 30), ("m", "n"): (pytest.approx(100 / 3), 30)}
    drops = {m.other: m.value for m in found if m.kind.name == "transfer_drop" and m.perturbation == "r"}
    assert drops == {"m": pytest.approx(1.5), "n": pytest.approx(25 / 30)}


def ratings(table: pl.DataFrame, human_drop: float) -> pl.DataFrame:
    noise = np.random.default_rng(1).normal(0, 0.1, table.height)
    rows = []
    for row, bit in zip(table.iter_rows(named=True), noise, strict=True):
        z = row["score"] / 2
        rows += [
            {"tuple": row["tuple"], "side": "original", "z": z},
            {"tuple": row["tuple"], "side": "perturbed", "z": z - human_drop + bit},
        ]
    return pl.DataFrame(rows)


def test_metrics_that_fall_further_than_people_are_found_in_every_cell() -> None:
    table = attacks()
    joined = rated(table, ratings(table, 0.5), "r.tsv", Overpenalise())
    found = list(human_measures(joined, "year", seed=0, resamples=200))
    cells = by_kind(found, scorer=None)["cells_overpenalised"]
    assert (cells.value, cells.n) == (2.0, 2)
    one = by_kind(found, group="12")
    assert one["pearson_original"].value == pytest.approx(1.0)
    assert one["pearson_original"].sd is not None
    assert one["degradation_human"].value == pytest.approx(0.5, abs=0.06)
    assert one["degradation"].value > 1 and one["overpenalised"].p < 0.001
    assert one["spread"].value == pytest.approx(one["degradation"].sd / one["degradation_human"].sd)
    inside = joined.filter(pl.col("year").cast(pl.String) == "12")
    expected = levene(inside["metric_drop"], inside["human_drop"], center="median").pvalue
    assert one["spread"].p == pytest.approx(expected)
    mild = list(human_measures(rated(table, ratings(table, 3.0), "r", Overpenalise()), "year", seed=0, resamples=200))
    assert by_kind(mild, scorer=None)["cells_overpenalised"].value == 0


def test_victims_that_tell_translation_and_reference_apart_are_asked_both_ways() -> None:
    """Huang 2023, Appendix C."""
    scale = Scale(0.0, 1.0)

    def asked_both_ways(goal: str, victim: Scorer) -> bool:
        limit = likeness(goal_of(goal), victim, scale, None)
        assert limit is not None
        return limit.symmetric

    assert not asked_both_ways("inconsistent", ChrF())
    assert asked_both_ways("inconsistent", OneWay())
    assert not asked_both_ways("inconsistent[similarity=plain]", OneWay())
    assert asked_both_ways("inconsistent[similarity=symmetric]", ChrF())
    assert all(kind.tells_sides_apart for kind in (Bleurt, Comet, CrossEncoder))


class OneWay(ChrF):
    """A scorer that was trained to judge translations by references."""

    tells_sides_apart = True


def test_cells_too_small_for_any_outcome_to_be_significant_are_not_counted() -> None:
    table = attacks()
    few = table.filter("success").group_by("year", maintain_order=True).head(3)
    found = list(human_measures(rated(few, ratings(table, 0.5), "r", Overpenalise()), "year", seed=0, resamples=100))
    assert {measure.verdict for measure in found if measure.kind.name == "overpenalised"} == {"cannot be tested"}
    cells = by_kind(found, scorer=None)["cells_overpenalised"]
    assert (cells.value, cells.n) == (None, 0)
    four = table.filter("success").group_by("year", maintain_order=True).head(4)
    found = list(human_measures(rated(four, ratings(table, 0.5), "r", Overpenalise()), "year", seed=0, resamples=100))
    assert by_kind(found, scorer=None)["cells_overpenalised"].n == few["year"].n_unique()


def test_ratings_are_read_and_wrong_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.tsv"
    file.write_text("tuple\tside\tz\tn\nt1\toriginal\t0.5\t3\nt1\tperturbed\t-0.25\t3\n", "utf-8")
    joined = rated(attacks(), read_ratings(file), "r.tsv", Overpenalise())
    assert joined["human_drop"].to_list() == [0.75]
    for strange, message in (
        (pl.DataFrame({"tuple": ["t1"], "z": [1.0]}), "no column 'side'"),
        (pl.DataFrame({"tuple": ["t1"], "side": ["left"], "z": [1.0]}), "side is 'left'"),
    ):
        with pytest.raises(UserError, match=message):
            ratings_table(strange)
    for wrong, message in (
        (pl.DataFrame({"tuple": ["t1"], "side": ["original"], "z": [1.0]}), "one side only"),
        (pl.DataFrame({"tuple": ["x", "x"], "side": ["original", "perturbed"], "z": [1.0, 1.0]}), "rates none"),
    ):
        with pytest.raises(UserError, match=message):
            rated(attacks(), wrong, "r.tsv", Overpenalise())


@pytest.mark.parametrize("wrong", ["good", "nan", "inf", "1,5"])
def test_ratings_that_are_no_numbers_are_named_and_counted(tmp_path: Path, wrong: str) -> None:
    table = pl.DataFrame(
        {"tuple": ["t1"] * 3, "side": ["original", "perturbed", "perturbed"], "z": ["1", wrong, wrong]}
    )
    for file, write in (("r.tsv", table.write_csv), ("r.csv", table.write_csv), ("r.parquet", table.write_parquet)):
        write(tmp_path / file, **({"separator": "\t"} if file == "r.tsv" else {}))
        with pytest.raises(UserError, match=f"z of t1, perturbed, is '{wrong}', not a number .and 1 more"):
            rated(attacks(), read_ratings(tmp_path / file), file, Overpenalise())


def test_scores_that_should_not_rise_are_compared_with_people_by_their_rise() -> None:
    rows = [(name, side, z) for name in ("t1", "t2", "t3") for side, z in (("original", 0.5), ("perturbed", 0.6))]
    given = pl.DataFrame(rows, schema=["tuple", "side", "z"], orient="row")
    risen = attacks().with_columns(score="score_perturbed", score_perturbed="score")
    joined = rated(risen, given, "r", Inflate())
    assert joined["human_drop"].to_list() == pytest.approx([0.1] * 3)
    assert joined["metric_drop"].to_list() == pytest.approx([1.01, 1.02, 1.03])
    (test,) = [m for m in human_measures(joined, None, seed=0, resamples=100) if m.kind.name == "overpenalised"]
    assert test.p is not None and test.p < 0.1


def test_what_ratings_do_not_cover_is_said() -> None:
    rows = [("t1", "original", 0.5), ("t1", "perturbed", 0.0), ("t2", "original", 0.5), ("x", "original", 1.0)]
    given = pl.DataFrame(rows, schema=["tuple", "side", "z"], orient="row")
    found = attacks()
    assert {"t1", "t2"} <= set(found.filter("success")["tuple"])
    assert coverage(found, given, rated(found, given, "r", Overpenalise())) == (
        f"Human ratings: 1 of {found['success'].sum()} eligible perturbations are rated on both sides; "
        "left out: 1 rated on one side only, 1 that this run did not find."
    )
