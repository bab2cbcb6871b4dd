"""General tasks as JSON lines, and challenge sets as submitted and returned."""

import json
from pathlib import Path
from typing import Any

import pytest

from babelquake.data import read
from babelquake.errors import UserError


def write(file: Path, *items: Any) -> Path:
    """One object a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return file


def rating(system: str, score: float, line: int = 1) -> dict[str, Any]:
    """A line of WMT24's ratings."""
    return {
        "langs": "en-cs",
        "line_id": line,
        "src": "Hello.",
        "tgt": f"Ahoj {system}.",
        "doc_id": "d1",
        "domain": "news",
        "esa_spans": [{"start_i": 0, "end_i": 2, "severity": "minor"}],
        "esa_score": str(score),
        "system": system,
        "annotator": "a1",
    }


def test_ratings_of_one_translation_are_averaged(tmp_path: Path) -> None:
    found = read(write(tmp_path / "wmt24_esa.jsonl", rating("A", 80), rating("B", 60), rating("A", 90))).segments
    assert found.select("system", "score", "language_pair", "document").rows() == [
        ("A", 85.0, "en-cs", "d1"),
        ("B", 60.0, "en-cs", "d1"),
    ]
    assert found["id"].n_unique() == 1
    assert json.loads(found["spans"][0])[0]["end_i"] == 2


def test_a_rating_that_is_no_number_is_named(tmp_path: Path) -> None:
    bad = {**rating("A", 80), "esa_score": "eighty"}
    with pytest.raises(UserError, match=r"line 2: esa_score is 'eighty'"):
        read(write(tmp_path / "wmt24_esa.jsonl", rating("A", 80), bad))


def test_a_test_set_has_references_translations_and_ratings_by_name(tmp_path: Path) -> None:
    item = {
        "doc_id": "en-cs_CZ_#_news_#_paper.1_#_3",
        "src_text": "Hello.",
        "tgt_text": {"refA": "Ahoj.", "S": "Čau.", "T": "Nazdar."},
        "scores": {"S": {"human1": 70.0, "human2": 80.0, "errors1": []}},
        "prompt_instruction": "Translate.",
    }
    found = read(write(tmp_path / "humeval.jsonl", item)).segments
    row = found.row(0, named=True)
    assert (row["system"], row["score"], row["references"], row["domain"]) == ("S", 75.0, ["Ahoj."], "news")
    assert (row["language_pair"], row["document"]) == ("en-cs-CZ", "en-cs_CZ_#_news_#_paper.1")
    assert row["prompt_instruction"] == "Translate."
    assert found["system"].to_list() == ["S", "T"]


def test_submissions_beside_a_test_set_are_read_with_it(tmp_path: Path) -> None:
    item = {
        "doc_id": "d1",
        "src_lang": "eng_Latn",
        "tgt_lang": "isl_Latn",
        "src_text": "Hello.",
        "refs": {"refA": {"ref": "Halló."}, "refB": "Hæ."},
    }
    file = write(tmp_path / "wmt26-genmt.jsonl", item)
    write(tmp_path / "systems" / "GPT 5.jsonl", {"doc_id": "d1", "hypothesis": "Sæl.", "metadata": {}})
    row = read(file).segments.row(0, named=True)
    assert (row["system"], row["translation"], row["references"]) == ("GPT 5", "Sæl.", ["Halló.", "Hæ."])
    assert row["language_pair"] == "en-is"
    write(tmp_path / "systems" / "Bad.jsonl", {"doc_id": "d1"})
    with pytest.raises(UserError, match=r"Bad\.jsonl line 1.*hypothesis"):
        read(file)


def test_transcripts_are_variants_of_what_was_said(tmp_path: Path) -> None:
    """As WMT26 has them: `src_text` is the recogniser's, which systems translated."""
    languages = {"src_lang": "eng_Latn", "tgt_lang": "ces_Latn"}
    spoken = {"doc_id": "v1", "src_text": "no the way", "gold_transcript": "Know the way.", "refs": {}, **languages}
    file = write(tmp_path / "genmt.jsonl", {"doc_id": "n1", "src_text": "News.", **languages}, spoken)
    write(tmp_path / "systems" / "T.jsonl", {"doc_id": "v1", "hypothesis": "ne ta cesta"})
    names = ["source", "perturbed", "perturbation", "translation", "translation_perturbed", "system"]
    found = read(f"{file}:speech").segments
    assert found.select(names).rows() == [
        ("Know the way.", "no the way", "transcript", None, "ne ta cesta", "T"),
    ]
    whole = read(file)
    assert whole.segments["source"].to_list() == ["News.", "no the way"]
    assert any(f"{file}:speech" in note for note in whole.notes)
    with pytest.raises(UserError, match=r"n\.jsonl.*gold_transcript"):
        read(f"{write(tmp_path / 'n.jsonl', {'doc_id': 'n1', 'src_text': 'News.', **languages})}:speech")
    with pytest.raises(UserError, match=r"line 1: gold_transcript is 3"):
        read(write(tmp_path / "bad.jsonl", spoken | {"gold_transcript": 3}))


def test_a_line_of_another_kind_is_refused_with_its_number(tmp_path: Path) -> None:
    good = {"doc_id": "a", "src_text": "x", "src_lang": "en", "tgt_lang": "cs"}
    with pytest.raises(UserError, match=r"line 2.*src_text"):
        read(write(tmp_path / "x.jsonl", good, {"doc_id": "b"}))
    with pytest.raises(UserError, match=r"line 1: tgt_text"):
        read(write(tmp_path / "y.jsonl", good | {"tgt_text": ["x"]}))


@pytest.fixture
def challenge(tmp_path: Path) -> Path:
    """A challenge set with two hypotheses, and what two metrics made of them."""
    submitted = tmp_path / "1-submitted" / "drift"
    submitted.mkdir(parents=True)
    for ending, lines in {
        "src": ["a", "b"],
        "ref": ["x", "y"],
        "hyp-1": ["x1", "y1"],
        "hyp-2": ["x2", "y2"],
        "meta": ["news\tdoc1", "news\tdoc2"],
    }.items():
        (submitted / f"drift.en-ja.{ending}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    header = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall"
    rows = [f"d\t{line}\ten\tja\tc\thyp-{hyp}\tnews\tNaN\t0.{line}{hyp}" for hyp in (1, 2) for line in (1, 2)]
    for metric in ("baseline/chrF", "primary/MetricX-25"):
        file = tmp_path / "4-to_return" / "drift" / f"{metric}.tsv"
        file.parent.mkdir(parents=True)
        file.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return tmp_path


def test_a_challenge_set_is_read_as_submitted(challenge: Path) -> None:
    found = read(f"{challenge}/1-submitted/drift:en-ja").segments
    assert found.select("system", "translation", "document").rows() == [
        ("hyp-1", "x1", "doc1"),
        ("hyp-1", "y1", "doc2"),
        ("hyp-2", "x2", "doc1"),
        ("hyp-2", "y2", "doc2"),
    ]
    assert found["references"].to_list() == [["x"], ["y"]] * 2
    with pytest.raises(UserError, match=r"'en-zh'.*en-ja"):
        read(f"{challenge}/1-submitted/drift:en-zh")


def test_returned_scores_become_columns(challenge: Path) -> None:
    found = read(f"{challenge}/4-to_return/drift").segments
    assert found["MetricX-25"].to_list() == [0.11, 0.21, 0.12, 0.22]
    assert found["chrF"].to_list() == found["MetricX-25"].to_list()


def test_hypotheses_of_another_length_are_refused(challenge: Path) -> None:
    (challenge / "1-submitted/drift/drift.en-ja.hyp-2.txt").write_text("x2\n", "utf-8")
    with pytest.raises(UserError, match=r"2 in .*src\.txt, 1 in .*hyp-2\.txt"):
        read(f"{challenge}/1-submitted/drift")
