"""Real campaigns: what WMT published comes out of the ratings it published."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from babelquake.data.ratings import read_ratings
from babelquake.studies.human.findings import Findings, findings, standardised
from babelquake.studies.human.people import campaign_agreement


@pytest.fixture(scope="module")
def wmt22(shared_data: Path) -> Path:
    folder = shared_data / "wmt22-ratings"
    if not folder.is_dir():
        pytest.skip("needs the WMT22 direct assessments (wmt22-ratings)")
    return folder


@pytest.fixture(scope="module")
def esa(shared_data: Path) -> Path:
    folder = shared_data / "esa-ratings"
    if not folder.is_dir():
        pytest.skip("needs the two ESA campaigns (esa-ratings)")
    return folder


@pytest.fixture(scope="module")
def found(wmt22: Path) -> dict[str, Findings]:
    return {pair: findings(read_ratings(wmt22 / f"{pair}.ratings.tsv.gz")) for pair in ("cs-en", "de-en")}


def table(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, separator="\t", quote_char=None, infer_schema_length=None)


@pytest.mark.parametrize("pair", ["cs-en", "de-en"])
def test_standardised_scores_come_from_the_raw_ones(wmt22: Path, pair: str) -> None:
    ratings = read_ratings(wmt22 / f"{pair}.ratings.tsv.gz").frame
    assert (standardised(ratings)["z"] - ratings["z"]).abs().max() < 1e-6  # type: ignore[operator]


@pytest.mark.parametrize(("pair", "missing"), [("cs-en", 0), ("de-en", 65)])
def test_segment_means_are_the_published_ones(wmt22: Path, found: dict[str, Findings], pair: str, missing: int) -> None:
    published = table(wmt22 / f"{pair}.segments.tsv").with_columns(pl.col("segment").cast(pl.String))
    both = published.join(found[pair].segments, on=["system", "segment"], how="left", suffix="_ours")
    assert both["z_ours"].null_count() == missing
    assert found[pair].segments.height == published.height - missing
    known = both.drop_nulls("z_ours")
    assert (known["z"] - known["z_ours"]).abs().max() < 1e-6  # type: ignore[operator]
    assert (known["raw"] - known["raw_ours"]).abs().max() < 1e-9  # type: ignore[operator]
    assert (known["n"] == known["n_ours"]).all()


def test_the_ranking_of_cs_en(wmt22: Path, found: dict[str, Findings]) -> None:
    published = table(wmt22 / "cs-en.systems.tsv")
    systems = found["cs-en"].systems
    assert systems["system"].to_list() == published["system"].to_list()
    assert systems["z"].round(3).to_list() == published["z"].to_list()
    assert systems["raw"].round(1).to_list() == published["raw"].to_list()
    assert systems["segments"].to_list() == published["segments"].to_list()
    assert systems["ratings"].to_list() == published["ratings"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["cs-en", "de-en"])
def test_the_rank_sum_matrix_of_published_means(wmt22: Path, pair: str) -> None:
    """The published matrix prints .12 for whatever is above .05."""
    pairs = findings(read_ratings(wmt22 / f"{pair}.segments.tsv")).pairs
    lines = (wmt22 / f"{pair}.wilcoxon.tsv").read_text().splitlines()
    columns = lines[0].split("\t")
    published = {
        (cells[0], than): float(p)
        for cells in (line.split("\t") for line in lines[1:])
        for than, p in zip(columns, cells[1:], strict=True)
    }
    assert len(pairs) == len(columns) * (len(columns) - 1)
    for row in pairs.iter_rows(named=True):
        printed = published[(row["system"], row["than"])]
        if printed == 0.12:
            assert row["p"] > 0.05
        else:
            assert row["p"] == pytest.approx(printed, rel=1e-9)


def test_p_of_the_first_pair_to_the_last_digit(wmt22: Path, found: dict[str, Findings]) -> None:
    assert found["cs-en"].pairs["p"][0] == pytest.approx(0.0165819538231206, rel=1e-12)
    assert findings(read_ratings(wmt22 / "de-en.segments.tsv")).pairs["p"][0] == pytest.approx(0.0181599821, abs=1e-10)


@pytest.mark.parametrize("pair", ["cs-en", "de-en"])
def test_wins_and_clusters(wmt22: Path, found: dict[str, Findings], pair: str) -> None:
    published = table(wmt22 / "clusters.tsv").filter(pl.format("{}-{}", "SRC", "TRG") == pair)
    means = findings(read_ratings(wmt22 / f"{pair}.segments.tsv"))
    for systems in (found[pair].systems, means.systems):
        ours = {row["system"]: (row["wins"], row["cluster_start"], row["cluster_end"]) for row in systems.to_dicts()}
        theirs = {
            row["SYSTEM"]: (row["WINS"], row["CLUSTER_START"], row["CLUSTER_END"]) for row in published.to_dicts()
        }
        assert {name: place[1:] for name, place in ours.items()} == {name: place[1:] for name, place in theirs.items()}
    assert ours == theirs


def test_annotators_quality_control_is_wmts_paired_t_test(wmt22: Path) -> None:
    """Annotators whose degraded items are all in our two pairs: their p is the published one."""
    from babelquake.studies.human.people import annotator_quality

    ratings = pl.concat([read_ratings(wmt22 / f"{pair}.ratings.tsv.gz").frame for pair in ("cs-en", "de-en")])
    lines = (wmt22 / "annotator-p.tsv").read_text().splitlines()[1:]
    published = {cells[0]: (float(cells[1]), int(cells[3])) for cells in (re.split(r"\s+", line) for line in lines)}
    checked = 0
    for row in annotator_quality(ratings).iter_rows(named=True):
        p, n = published[row["annotator"]]
        if n == row["degraded"]:
            assert row["p"] == pytest.approx(p, rel=1e-5)
            assert row["passed"] is True
            checked += 1
    assert checked == 42


@pytest.mark.parametrize(("campaign", "scores"), [("240315rc5ESA", "en-de.ESA-1"), ("240520rc6ESA", "en-de.ESA-2")])
def test_system_means_of_appraise_campaigns_are_the_published_ones(esa: Path, campaign: str, scores: str) -> None:
    ours = findings(read_ratings(esa / f"{campaign}.scores.csv")).systems
    published = findings(read_ratings(esa / f"{scores}.seg.score")).systems
    means = dict(published.select("system", "raw").iter_rows())
    assert dict(ours.select("system", "raw").iter_rows()) == pytest.approx(means, abs=1e-9)
    assert ours["segments"].to_list() == [207] * 13
    if scores == "en-de.ESA-1":
        assert [round(means[name], 2) for name in ("GPT4-5shot", "ONLINE-A", "NLLB_MBR_BLEU")] == [88.60, 86.01, 69.92]


def test_two_campaigns_agree_as_published(esa: Path) -> None:
    both = [findings(read_ratings(esa / f"{name}.scores.csv")).segments for name in ("240315rc5ESA", "240520rc6ESA")]
    agreement = campaign_agreement(*both)
    assert agreement.n == 2691
    assert agreement.pearson == pytest.approx(0.481, abs=5e-4)
    assert agreement.tau_c == pytest.approx(0.259, abs=5e-4)


def test_bad_items_are_attention_checks(esa: Path) -> None:
    found = findings(read_ratings(esa / "240315rc5ESA.scores.csv"))
    assert found.annotators["degraded"].min() >= 10  # type: ignore[operator]
    assert found.facts.annotators_passed == 1.0
    assert np.all(found.annotators["degraded_loss"].to_numpy() > 0)
