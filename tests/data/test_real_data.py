"""Real public files: the counts and correlations that others measured."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read, segment_scores
from babelquake.errors import UserError


@pytest.mark.parametrize(
    ("language", "good", "pearson"),
    [("ru", 1245, 0.540), ("et", 766, 0.485), ("si", 404, 0.407), ("ne", 100, 0.453), ("ro", 1089, 0.638)],
)
def test_mlqe_pe(shared_data: Path, language: str, good: int, pearson: float) -> None:
    """Kanojia 2021 Table 1: segments with mean DA ≥ 70; and the log-probability's Pearson with mean DA.

    CSV quoting would swallow rows: 95 of Romanian's 2,000, whose correlation would then be .641.
    """
    data = read([shared_data / "mlqe-pe" / f"{part}.{language}en.df.short.tsv" for part in ("dev", "test20")])
    assert data.language_pairs == [f"{language}-en"]
    assert len(data) == 2000 and data.segments["id"].n_unique() == 2000
    assert data.segments.filter(pl.col("score") >= 70).height == good
    assert data.segments.select(pl.corr("score", "model_scores")).item() == pytest.approx(pearson, abs=0.0006)
    assert (data.segments["scores"].list.mean() - data.segments["score"]).abs().max() == pytest.approx(0)


def test_better_and_worse_translations_of_wmt19(shared_data: Path) -> None:
    data = read(shared_data / "wmt19-darr" / "lt-en")
    assert data.preferences is not None and data.preferences.height == 21862
    assert len(data) == data.segments.select("id", "system").n_unique() == 10293
    assert data.language_pairs == ["lt-en"]
    better, worse = (data.segments[data.preferences[side].to_list()] for side in ("better", "worse"))
    assert better["source"].equals(worse["source"]) and not (better["system"] == worse["system"]).any()
    assert len(data.attacked) == 15
    attacked = data.attacked["visual", 0.3]()
    references = [some[0] for some in data.segments["references"]]
    assert len(attacked) == len(data)
    assert all(len(one) == len(other) for one, other in zip(attacked, references, strict=True))


def test_the_metrics_task_folder(shared_data: Path) -> None:
    folder = shared_data / "wmt21.flores"
    both, one = read(folder), read(f"{folder}/xh-zu")
    assert both.language_pairs == ["hi-bn", "xh-zu"]
    assert len(both) == 9 * 509 + 6 * 503 and len(one) == 6 * 503
    assert one.segments["score"].drop_nulls().len() == 2968
    assert both.segments["score"].drop_nulls().len() == 4512 + 2968
    assert both.segments["score_z"].null_count() == both.segments["score"].null_count()
    assert "ref-A" not in both.segments["system"].unique()
    assert sorted(level for _, level in both.attacked) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert len(both.attacked["visual", 0.5]()) == len(both)
    assert one.segments["document"][0] == "doc_99"
    with pytest.raises(UserError, match="no language pair 'hi-zu'"):
        read(f"{folder}/hi-zu")


def test_scores_of_a_metric_belong_to_segments_in_order(shared_data: Path) -> None:
    scores = segment_scores(shared_data / "wmt21.flores" / "metric-scores" / "xh-zu" / "chrF-ref-A.seg.score")
    systems = read(shared_data / "wmt21.flores" / "xh-zu").segments["system"]
    assert scores["HuaweiTSC"][:2] == pytest.approx([0.635512930, 0.453517694])
    assert {len(values) for values in scores.values()} == {systems.value_counts()["count"].max()}


def test_joining_shifts_the_judgements(shared_data: Path) -> None:
    sentences, judged = shared_data / "europarl" / "dev.de-en.tsv", shared_data / "wmt19-darr" / "lt-en"
    alone, joined = read(judged), read([sentences, judged])
    assert alone.preferences is not None and joined.preferences is not None
    assert (joined.preferences["better"] - alone.preferences["better"]).unique().to_list() == [1000]
    assert not joined.attacked and any("left out" in note for note in joined.notes)


def test_tuples_of_three_years_share_no_segment_by_mistake(shared_data: Path) -> None:
    data = read(shared_data / "metric-attacks" / "de-en.tuples.tsv.gz")
    assert len(data) == 18000 and data.segments["system"].n_unique() == 36
    assert data.segments.group_by("id").agg(pl.col("source").n_unique())["source"].max() == 1
    assert data.segments.select("id", "system").n_unique() == 18000
