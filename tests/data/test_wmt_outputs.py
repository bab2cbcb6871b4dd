"""Outputs of WMT's systems, RoCS-MT's releases, and references that stand elsewhere."""

import json
import tarfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import babelquake as bq
from babelquake.data import Dataset, read
from babelquake.errors import UserError
from babelquake.perturb.suite import suite
from babelquake.scorers.strings.chrf import ChrF

LINES = [
    ("canary", "canary", "CANARY GUID", None),
    ("news", "test-en-news.1", "Hello.", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_rm-0", "helo wrld", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_rm-0", "Bye.", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_nm-0", "Hello world.", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_nm-0", "Bye.", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_ns-0", "Hello world.", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_rs-0", "helo", None),
    ("None", "tsuite_en-cs_rocs-mt_tsuite_en-cs_rocs-mt_rs-0", "wrld", None),
    ("None", "tsuite_en-cs_pia_tsuite_en-cs_pia_0001", "Who?", None),
    *(("None", f"tsuite_en-cs_pia_tsuite_en-cs_pia_{n:04}", f"Form {n} Who?", None) for n in range(2, 7)),
    ("speech", "test-en-speech_1", "I sea.", "I see."),
    ("None", "tsuite_en-cs_speech_2", "No clean one.", None),
]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with three systems, one of which translated the general task only."""
    root = tmp_path / "txt-ts"
    for folder in ("sources", "documents", "metadata", "references", "system-outputs/en-cs"):
        (root / folder).mkdir(parents=True)
    _write(root / "sources/en-cs.txt", [text for *_, text, _ in LINES])
    _write(root / "documents/en-cs.docs", [f"{domain}\t{name}" for domain, name, *_ in LINES])
    about = [{"docid": name, **({"clean_source": clean} if clean else {})} for _, name, _, clean in LINES]
    _write(root / "metadata/en-cs.jsonl", [json.dumps(item) for item in about])
    references = ["NO TRANSLATION AVAILABLE"] * len(LINES)
    references[1], references[15] = "Ahoj.", "Vidím."
    _write(root / "references/en-cs.refA.txt", references)
    for name in ("One", "Two"):
        _write(root / f"system-outputs/en-cs/{name}.txt", [f"{name} {line}" for line in range(len(LINES))])
    _write(root / "system-outputs/en-cs/Absent.txt", ["", "Ahoj", *[""] * (len(LINES) - 2)])
    return root


def _write(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_raw_and_normalised_comments_are_paired_by_document_and_position(release: Path) -> None:
    found = read(f"{release}:en-cs/rocs-mt")
    rows = found.segments.filter(system="Two").select("source", "perturbed", "translation", "translation_perturbed")
    assert rows.rows() == [("Hello world.", "helo wrld", "Two 4", "Two 2"), ("Bye.", "Bye.", "Two 5", "Two 3")]
    assert set(found.segments["perturbation"]) == {"raw"}
    assert set(found.segments["document"]) == {"comment 0"}
    assert any("1 documents are left out" in note for note in found.notes)


def test_a_system_without_any_output_did_not_take_part(release: Path) -> None:
    found = read(f"{release}:en-cs/rocs-mt")
    assert set(found.segments["system"]) == {"One", "Two"}
    assert any("Absent did not take part" in note for note in found.notes)
    assert "Absent" in set(read(f"{release}:en-cs").segments["system"])


def test_no_translation_available_is_no_reference(release: Path) -> None:
    assert not read(f"{release}:en-cs/rocs-mt").has("references")
    general = read(f"{release}:en-cs").segments.filter(system="One")
    assert general["references"].to_list() == [["Ahoj."], ["Vidím."]]
    assert "CANARY GUID" not in set(general["source"])


def test_a_question_stands_beside_itself_in_five_forms_of_injection(release: Path) -> None:
    found = read(f"{release}:en-cs/pia").segments.filter(system="One")
    assert found["perturbation"].to_list() == [one.label for one in suite("pia2024").perturbations]
    assert set(found["source"]) == {"Who?"} and found["id"].n_unique() == 1
    assert found["perturbed"].to_list() == [f"Form {n} Who?" for n in range(2, 7)]
    assert found["translation_perturbed"].to_list() == [f"One {line}" for line in range(10, 15)]


def test_a_transcript_is_a_variant_of_what_was_said(release: Path) -> None:
    found = read(f"{release}:en-cs/speech")
    row = found.segments.filter(system="One").row(0, named=True)
    assert (row["source"], row["perturbed"], row["perturbation"]) == ("I see.", "I sea.", "transcript")
    assert (row["translation"], row["translation_perturbed"], row["references"]) == (None, "One 15", ["Vidím."])
    assert any("1 transcripts" in note for note in found.notes)


def test_a_suite_that_does_not_exist_names_those_that_do(release: Path) -> None:
    with pytest.raises(UserError, match=r"no test suite 'rocks'.*pia.*rocs-mt.*speech"):
        read(f"{release}:en-cs/rocks")
    with pytest.raises(UserError, match=r"no language pair 'en-xx'.*en-cs"):
        read(f"{release}:en-xx")


def test_without_a_suite_it_is_said_what_was_read_and_what_was_not(release: Path) -> None:
    (said,) = [note for note in read(f"{release}:en-cs").notes if "general task" in note]
    assert "2 of 17 lines" in said and "pia, rocs-mt, speech" in said and f"{release}:en-cs/pia" in said
    assert not any("general task" in note for note in read(f"{release}:en-cs/pia").notes)


def test_outputs_of_another_length_are_refused_with_both_files(release: Path) -> None:
    _write(release / "system-outputs/en-cs/Two.txt", ["too short"])
    with pytest.raises(UserError, match=r"17 in .*en-cs\.txt, 1 in .*Two\.txt"):
        read(f"{release}:en-cs/rocs-mt")


def test_references_are_looked_up_by_their_source(release: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("source\treference\nBye.\tfirst\nElse\tx\nBye.\tSbohem.\n", "utf-8")
    found = read(f"{release}:en-cs/rocs-mt", reference=str(other))
    assert found.segments.filter(system="One")["references"].to_list() == [None, ["Sbohem."]]
    assert any("1 of 2 sources" in note for note in found.notes)
    other.write_text("source\treference\nElse\tx\n", "utf-8")
    with pytest.raises(UserError, match="none of the sources"):
        read(f"{release}:en-cs/rocs-mt", reference=str(other))


@pytest.fixture
def comments(tmp_path: Path) -> Path:
    """A release of RoCS-MT with one system and one comment of two sentences."""
    root = tmp_path / "v1"
    for folder in ("src", "ref", "sys/en-cs"):
        (root / folder).mkdir(parents=True)
    keys = ["nm-0", "nm-0", "ns-0", "rm-0", "rm-0", "rs-0"]
    texts = ["You are great.", "Bye.", "You are great. Bye.", "u r gr8", "Bye.", "u r gr8 Bye."]
    _write(root / "src/RoCS-MT.src.concat.en", [f"{key}\t{text}" for key, text in zip(keys, texts, strict=True)])
    _write(root / "ref/RoCS-MT.ref.cs", ["Jsi skvělý.\t", "Sbohem."])
    _write(root / "sys/en-cs/S.en-cs.ids.txt", keys)
    _write(root / "sys/en-cs/S.en-cs.txt", [f"S {key}" for key in keys])
    tokens = [
        "docid\tsentid\ttokid\traw\tnorm\tmanual",
        "0\t0\t0\tu\tYou\tacronymisation, capitalisation",
        "0\t0\t1\t⎵\t⎵\t",
        "0\t0\t2\tr\tare\tspelling error",
        "0\t0\t3\t⎵\t⎵\t",
        "0\t0\t4\tgr8\tgreat.\tphonetic_distance",
        "0\t1\t0\tBye.\tBye.\t",
    ]
    _write(root / "ref/RoCS-annotated.tsv", tokens)
    return root


def test_rocs_mt_has_phenomena_and_references_by_sentence(comments: Path) -> None:
    found = read(f"{comments}:en-cs").segments.select("source", "perturbed", "references", "phenomenon", "perturbation")
    kinds = ["acronymisation", "capitalisation", "spelling_error", "phonetic_distance"]
    assert found.rows() == [
        ("You are great.", "u r gr8", ["Jsi skvělý."], kinds, "raw"),
        ("Bye.", "Bye.", ["Sbohem."], [], "raw"),
        ("You are great. Bye.", "u r gr8 Bye.", None, None, "raw-spacy"),
    ]


def test_a_sentence_that_spacy_splits_off_equally_has_the_same_reference(comments: Path) -> None:
    keys = ["nm-0", "nm-0", "ns-0", "ns-0", "rm-0", "rm-0", "rs-0", "rs-0"]
    texts = ["You are great.", "Bye.", "You are great.", "Bye.", "u r gr8", "Bye.", "u r gr8", "Bye."]
    _write(comments / "src/RoCS-MT.src.concat.en", [f"{key}\t{text}" for key, text in zip(keys, texts, strict=True)])
    _write(comments / "sys/en-cs/S.en-cs.ids.txt", keys)
    _write(comments / "sys/en-cs/S.en-cs.txt", [f"S {key}" for key in keys])
    found = read(f"{comments}:en-cs").segments.filter(perturbation="raw-spacy")
    assert found["references"].to_list() == [["Jsi skvělý."], ["Sbohem."]]
    assert found["phenomenon"][0].to_list()[0] == "acronymisation"


def test_an_annotation_of_other_sources_is_refused_with_its_line(comments: Path) -> None:
    file = comments / "ref/RoCS-annotated.tsv"
    file.write_text(file.read_text("utf-8").replace("gr8", "great"), "utf-8")
    with pytest.raises(UserError, match=r"RoCS-annotated\.tsv line 2: .*document 0.*other sources"):
        read(f"{comments}:en-cs")


def test_outputs_with_other_ids_are_refused_with_their_line(comments: Path) -> None:
    _write(comments / "sys/en-cs/S.en-cs.ids.txt", ["nm-0", "nm-1", "ns-0", "rm-0", "rm-0", "rs-0"])
    with pytest.raises(UserError, match=r"ids\.txt line 2 is nm-1; .* has nm-0"):
        read(f"{comments}:en-cs")


@pytest.fixture(scope="session")
def unpacked(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WMT24 en-cs and RoCS-MT, unpacked."""
    folder = tmp_path_factory.mktemp("natural")
    for archive in ("wmt24/wmt24-en-cs.tar.xz", "rocs-mt/rocs-mt.tar.xz"):
        if not (shared_data / archive).is_file():
            pytest.skip(f"needs {archive}")
        with tarfile.open(shared_data / archive) as packed:
            packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def wmt24(unpacked: Path) -> Dataset:
    return read(f"{unpacked}/txt-ts:en-cs/rocs-mt", reference=f"{unpacked}/v1:en-cs")


@pytest.mark.slow
def test_wmt24_has_1752_comments_that_differ_and_1711_with_a_reference(wmt24: Dataset) -> None:
    found = wmt24.segments
    by_hand = found.filter(system="Claude-3.5", perturbation="raw")
    differ = by_hand.filter(by_hand["source"] != by_hand["perturbed"])
    assert (by_hand.height, by_hand["document"].n_unique(), found["system"].n_unique()) == (1922, 452, 23)
    assert (differ.height, differ.height - differ["references"].null_count()) == (1752, 1711)


@pytest.mark.slow
def test_wmt24_comes_out_as_an_independent_script_has_it(wmt24: Dataset, tmp_path: Path) -> None:
    expected = {
        "Claude-3.5": (52.49, 49.19, 93.71, 80.10),
        "CUNI-DocTransformer": (50.76, 39.87, 78.53, 62.26),
    }
    run = bq.mt(
        data=wmt24,
        systems=list(expected),
        scorers="chrf",
        resamples=100,
        encoder="none",
        out=tmp_path / "run",
    )
    rows = run.measures.filter(pl.col("perturbation") == "raw", pl.col("scorer") == "chrf", pl.col("other").is_null())
    for system, (clean, raw, robust, forward) in expected.items():
        values = dict(rows.filter(pl.col("system") == system).select("measure", "value").iter_rows())
        found = [values[name] for name in ("quality", "quality_perturbed", "robust")]
        assert found == pytest.approx([clean, raw, robust], abs=0.0051)
        scores = run.scores.filter(
            pl.col("system") == system, pl.col("perturbation") == "raw", pl.col("statistics").is_not_null()
        )
        sums = np.sum(scores["forward"].to_list(), axis=0)
        assert float(ChrF().aggregate(sums)) == pytest.approx(forward, abs=0.0051)
        assert scores.height == 1711
