"""The QE study from data to flags."""

import json
from pathlib import Path

import polars as pl
import pytest

from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import suite
from babelquake.runs.run import Run
from babelquake.studies import plans
from babelquake.studies.qe.study import judged_segments, qe, select

from ..conftest import SEGMENTS, Write


def studied(data: Dataset, out: Path, *scorers: str, **options: object) -> Run:
    given = {"replicates": 2, "resamples": 100, "masked_lm": "none", "engine": Engine(quiet=True)} | options
    return qe(scorers=scorers or ["chrf"], data=data, out=out, **given)  # type: ignore[arg-type]


def value(run: Run, measure: str, scorer: str = "chrf", probe: str | None = None) -> float:
    here = (pl.col("measure") == measure) & (pl.col("scorer") == scorer)
    if probe:
        here &= pl.col("perturbation") == probe
    return float(run.measures.filter(here)["value"].item())


def test_good_translations_are_chosen_by_their_human_score(judged: Dataset) -> None:
    selected, note = select(judged_segments(judged), 70)
    assert selected["score"].to_list() == [92, 75, 88, 71, 95, 70] and selected["row"].to_list() == list(range(6))
    assert note == "6 of 8 segments have a human score of 70 or more: these are probed."
    with pytest.raises(
        UserError, match=r"no segment has a human score of 99 or more \(the highest is 95\).*lower threshold"
    ):
        select(judged_segments(judged), 99)


def test_measures_of_a_run(judged: Dataset, tmp_path: Path) -> None:
    run = studied(judged, tmp_path / "run")
    assert run.segments.height == 6
    drops = run.measures.filter(pl.col("measure") == "drop")
    assert len(drops) == 13 and value(run, "drop", probe="source-copy") < -80
    kept, altered = (
        drops.filter(pl.col("perturbation").is_in(names))["value"].mean()
        for names in (
            [name for name, probe in run.info.facts.probes.items() if probe.meaning == meaning]
            for meaning in ("preserving", "altering")
        )
    )
    assert value(run, "discrimination") == pytest.approx(altered - kept)
    assert value(run, "score_mpp") == pytest.approx(value(run, "score_mt") - kept)
    assert drops.filter(pl.col("perturbation") == "negation-remove")["n"].item() == 1
    assert "7 of 8 meaning-altering probes: mask-replace was left out" in run.info.notes[-1]
    assert "chrf compared translations with their sources." in run.info.notes
    assert run.measures["signature"].str.contains("seed:0").all()


def test_pearson_is_taken_over_all_segments_not_only_good_ones(judged: Dataset, tmp_path: Path) -> None:
    run = studied(judged, tmp_path / "run")
    assert run.measures.filter(pl.col("measure") == "pearson")["n"].item() == 8


def test_references_stand_for_translations_and_that_is_said(write: Write, tmp_path: Path) -> None:
    run = studied(write("source reference", [row[:2] for row in SEGMENTS]), tmp_path / "run")
    assert run.segments["translation"].to_list() == [row[1] for row in SEGMENTS]
    assert any("references are probed" in note for note in run.info.notes)


def test_without_human_scores_everything_is_probed_and_said_so(write: Write, tmp_path: Path) -> None:
    run = studied(write("source translation", [row[:2] for row in SEGMENTS]), tmp_path / "run")
    assert run.segments.height == 8
    assert "no human scores: all 8 translations count as good and are probed." in run.info.notes
    assert "pearson" not in set(run.measures["measure"])


def test_references_of_parallel_data_stand_for_good_translations(write: Write, tmp_path: Path) -> None:
    run = studied(write("source reference", [row[:2] for row in SEGMENTS]), tmp_path / "run")
    assert run.segments["text"].to_list() == [row[1] for row in SEGMENTS]
    assert run.segments["references"].list.first().to_list() == [row[0] for row in SEGMENTS]


def test_data_without_sources_cannot_be_judged(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no sources"):
        studied(write("translation score", [("A.", 80)]), tmp_path / "run")


def test_as_many_variants_as_counted(judged: Dataset, tmp_path: Path) -> None:
    for changes in ("kanojia2021", "misspell[level=0.1|0.3],negation-remove"):
        planned = plans.qe(data=judged, suite=suite(changes, 2), masked_lm="none", scorers="chrf")
        counted = planned.forecast().variants
        run = studied(judged, tmp_path / changes[:4], suite=suite(changes, 2))
        assert counted == run.variants.height


def ready(tmp_path: Path, texts: list[tuple[str, str, float]]) -> str:
    file = tmp_path / "ready.tsv"
    lines = ["source\ttranslation\tscore", *(f"{source}\t{text}\t{score}" for source, text, score in texts)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return f"scores[file={file},name=Mine]"


def test_ready_scores_of_clean_texts_have_a_mean_and_a_pearson(judged: Dataset, tmp_path: Path) -> None:
    mine = ready(tmp_path, [(source, text, score / 100) for source, text, score in SEGMENTS])
    run = studied(judged, tmp_path / "run", "chrf", mine)
    assert set(run.measures.filter(pl.col("scorer") == "Mine")["measure"]) == {"score_mt", "pearson", "rank_pearson"}
    assert value(run, "pearson", "Mine") == pytest.approx(1)
    assert "Mine has no scores for perturbed texts: only its mean and its Pearson are reported." in run.info.notes


def test_a_column_of_the_data_knows_no_perturbed_text_even_where_one_comes_out_unchanged(
    write: Write, tmp_path: Path
) -> None:
    data = write("source translation score log", [("OK", "OK", 80, -0.1), ("Das Haus.", "The house.", 90, -0.3)])
    run = studied(data, tmp_path / "run", "chrf", "scores[column=log]")
    mine = run.measures.filter(pl.col("scorer") == "scores[column=log]")
    assert "drop" not in set(mine["measure"]) and value(run, "score_mt", "scores[column=log]") == pytest.approx(-0.2)


def test_scores_for_every_perturbed_text_are_as_good_as_a_model(judged: Dataset, tmp_path: Path) -> None:
    first = studied(judged, tmp_path / "first")
    variants = first.variants.join(first.segments.select("row", "source"), on="row")
    texts = [(source, text, len(text)) for source, text in variants.select("source", "text").iter_rows()]
    texts += [(source, text, len(text)) for source, text, _ in SEGMENTS]
    run = studied(judged, tmp_path / "run", ready(tmp_path, texts))
    assert value(run, "score_mt", "Mine") == pytest.approx(first.segments["text"].str.len_chars().mean())
    assert value(run, "drop", "Mine", "punct-remove") > 0
    assert run.info.notes == first.info.notes[:1] + first.info.notes[-1:]


def test_scores_for_some_perturbed_texts_are_refused_and_the_missing_named(judged: Dataset, tmp_path: Path) -> None:
    first = studied(judged, tmp_path / "first")
    variants = first.variants.join(first.segments.select("row", "source"), on="row")
    some = variants.filter(pl.col("perturbation") != "word-drop")
    texts = [(source, text, 1.0) for source, text in some.select("source", "text").iter_rows()]
    texts += [(source, text, 1.0) for source, text, _ in SEGMENTS]
    dropped = variants.filter(pl.col("perturbation") == "word-drop")
    with pytest.raises(UserError) as error:
        studied(judged, tmp_path / "run", ready(tmp_path, texts))
    assert f"Mine has no score for {dropped.height} of {6 + variants.height} texts; the first is of " in str(
        error.value
    )
    assert dropped["text"][0] in str(error.value)


def test_a_clean_translation_without_a_score_is_named(judged: Dataset, tmp_path: Path) -> None:
    mine = ready(tmp_path, [(source, text, 1.0) for source, text, _ in SEGMENTS[:4]])
    with pytest.raises(UserError, match=r"Mine has no score for 4 of 8 translations; .*“What a day!”"):
        studied(judged, tmp_path / "run", mine)


def test_another_threshold_is_another_run(judged: Dataset, tmp_path: Path) -> None:
    studied(judged, tmp_path / "run")
    with pytest.raises(UserError, match="threshold=70"):
        studied(judged, tmp_path / "run", threshold=80)


@pytest.mark.parametrize(
    ("pair", "count"), [("ruen", 1245), ("eten", 766), ("sien", 404), ("neen", 100), ("roen", 1089)]
)
def test_kanojia_table_1(shared_data: Path, pair: str, count: int) -> None:
    files = [str(shared_data / "mlqe-pe" / f"{part}.{pair}.df.short.tsv") for part in ("dev", "test20")]
    everything = judged_segments(read(files))
    assert (everything.height, select(everything, 70)[0].height) == (2000, count)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "r"), [("eten", 0.485), ("ruen", 0.541), ("roen", 0.638), ("sien", 0.407), ("neen", 0.453)]
)
def test_log_probability_against_human_scores(shared_data: Path, tmp_path: Path, pair: str, r: float) -> None:
    """Of all 2,000 rows; read with CSV quoting, which loses 95 of them, ro-en would give .641."""
    files = [str(shared_data / "mlqe-pe" / f"{part}.{pair}.df.short.tsv") for part in ("dev", "test20")]
    run = studied(read(files), tmp_path / "run", "scores[column=model_scores]", suite="source-copy")
    assert value(run, "pearson", "scores[column=model_scores]") == pytest.approx(r, abs=0.001)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["study"] == "qe"


def test_without_a_scorer_the_estimator_that_ships_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    table = pl.DataFrame({"source": ["Ministrul a demisionat luni."], "translation": ["The minister resigned."]})
    run = qe(data=table, suite="punct-remove", language_pair="ro-en", out=tmp_path / "run", resamples=100)
    assert run.measures["scorer"].drop_nulls().unique().to_list() == ["qe-multi"]
