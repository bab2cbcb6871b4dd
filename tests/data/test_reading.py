"""Reading by name, by layout, several at once; and the plain and JSON formats."""

import io
import json
import sys
from pathlib import Path

import pytest

from babelquake.data import FORMATS, read, require
from babelquake.errors import UserError
from babelquake.models.loading import configure


def test_a_text_file_is_sources(tmp_path: Path) -> None:
    (tmp_path / "news.de-en.txt").write_text("Hallo\n\nJa\n")
    data = read(tmp_path / "news.de-en.txt")
    assert data.segments["source"].to_list() == ["Hallo", "", "Ja"]
    assert data.segments["id"].to_list() == ["news.de-en:1", "news.de-en:2", "news.de-en:3"]
    assert data.language_pairs == ["de-en"]
    assert not data.has("references")


def test_standard_input_is_text_unless_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, expected in ((None, ["source\tref", "a\tb"]), ("tsv", ["a"])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"source\tref\na\tb\n")))
        assert read("-", format=kind).segments["source"].to_list() == expected


def test_parallel_files(tmp_path: Path) -> None:
    for name, text in (("a.de", "x\ny\n"), ("a.en", "p\nq\n"), ("b.en", "r\ns\n"), ("out.txt", "t\nu\n")):
        (tmp_path / name).write_text(text)
    where = str(tmp_path)
    data = read(
        f"parallel[source={where}/a.de,reference={where}/a.en,reference2={where}/b.en,translation={where}/out.txt]"
    )
    assert data.segments.row(1) == ("a.de:2", "y", ["q", "s"], "u", "out", None, "de-en")
    (tmp_path / "short.en").write_text("p\n")
    with pytest.raises(UserError, match=r"Unequal line counts: 2 in .*a\.de, 1 in .*short\.en"):
        read(f"parallel[source={where}/a.de,reference={where}/short.en]")
    with pytest.raises(UserError, match="Did you mean 'reference'"):
        read(f"parallel[source={where}/a.de,referense={where}/a.en]")


def test_json_lines_name_the_wrong_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"src": "a", "refs": ["b", "c"], "n": 1}\n{"src": "d"}\n')
    assert read(path).segments["references"].to_list() == [["b", "c"], None]
    assert read(path).segments["n"].to_list() == [1, None]
    for wrong, message in (
        ("{", "line 2.* JSON"),
        ("[1]", "line 2.*JSON object"),
        ('{"src": 5}', "line 2.*src is 5"),
    ):
        path.write_text('{"src": "a"}\n' + wrong + "\n")
        with pytest.raises(UserError, match=message):
            read(path)


def test_not_a_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no")
    with pytest.raises(UserError, match=r"a\.parquet.*Parquet"):
        read(tmp_path / "a.parquet")


def test_demetr_items_become_rows_with_the_perturbed_translation(tmp_path: Path) -> None:
    item = {
        "id": 3,
        "src_sent": "Er singt.",
        "eng_sent": "He sings.",
        "mt_sent": "He is singing.",
        "pert_sent": "He is singing singing.",
        "lang_tag": "german",
        "data_source": "WMT",
        "pert_check": True,
        "severity": "minor",
        "pert_id": 1,
        "pert_desc": "repeat",
        "pert_name": "minor_id1_repeat2",
    }
    other = {**item, "id": 4, "lang_tag": "chinese_simple", "pert_check": False}
    (tmp_path / "minor_id1_repeat2.json").write_text(json.dumps([item, other]))
    (tmp_path / "minor_id2_repeat4.json").write_text(json.dumps([{**item, "pert_name": "minor_id2_repeat4"}]))
    data = read(tmp_path)
    assert data.segments["id"].to_list() == ["minor_id1_repeat2:3", "minor_id1_repeat2:4", "minor_id2_repeat4:3"]
    row = data.segments.row(0, named=True)
    assert (row["references"], row["translation"], row["translation_perturbed"]) == (
        ["He sings."],
        item["mt_sent"],
        item["pert_sent"],
    )
    assert (row["phenomenon"], row["severity"], row["applied"]) == ("minor_id1_repeat2", "minor", True)
    assert data.language_pairs == ["de-en", "zh-en"]
    assert "in 1 of 3 items the phenomenon does not occur" in data.notes[0]


def test_several_inputs_become_one_with_unique_ids(tmp_path: Path) -> None:
    for folder, text in (("x", "a"), ("y", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dev.tsv").write_text(f"source\ttopic\n{text}\t1\n{text}{text}\t2\n")
    data = read([tmp_path / "x" / "dev.tsv", tmp_path / "y" / "dev.tsv"])
    assert data.segments["source"].to_list() == ["a", "aa", "b", "bb"]
    assert data.segments["id"].n_unique() == 4
    assert data.segments["topic"].to_list() == [1, 2, 1, 2]


def test_a_folder_in_no_known_layout_says_which_are_known(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mt-metrics-eval: .*darr: .*demetr: "):
        read(tmp_path)


def test_a_missing_file_and_an_unknown_format(tmp_path: Path) -> None:
    (tmp_path / "news.tsv").write_text("source\na\n")
    with pytest.raises(UserError, match=r"new\.tsv does not exist\. Did you mean 'news\.tsv'"):
        read(tmp_path / "new.tsv")
    with pytest.raises(UserError, match=r"no format is called 'tvs'\. Did you mean 'tsv'"):
        read(tmp_path / "news.tsv", format="tvs")


def test_a_needed_field_that_is_missing_is_told(tmp_path: Path) -> None:
    (tmp_path / "news.tsv").write_text("source\ttranslatoin\na\tb\n")
    data = read(tmp_path / "news.tsv")
    require(data, "source")
    with pytest.raises(UserError, match=r"news has no translation .*Did you mean 'translatoin'"):
        require(data, "source", "translation")


def test_the_sample_is_there() -> None:
    data = read("sample")
    assert len(data) == 300 and data.language_pairs == ["de-en"] and data.has("references")
    rated = read("sample:rated")
    assert len(rated) == 300
    assert rated.segments.group_by("id").len()["len"].unique().to_list() == [3]
    assert rated.segments["score"].null_count() == rated.segments["source"].null_count() == 0
    assert set(rated.segments["id"]) <= set(data.segments["id"])
    with pytest.raises(UserError, match="Did you mean 'sample:rated'"):
        read("sample:ratde")


def test_sacrebleu_sets_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.dataset import DATASETS

    with pytest.raises(UserError, match=r"no test set 'wmt222'\. Did you mean 'wmt22'"):
        read("sacrebleu:wmt222/de-en")
    with pytest.raises(UserError, match=r"no language pair 'de-xx'.*de-en"):
        read("sacrebleu:wmt22/de-xx")
    for field, text in (("src", "Hallo\n"), ("refA", "Hello\n")):
        (tmp_path / field).write_text(text)
    monkeypatch.setattr(DATASETS["wmt22"], "get_source_file", lambda pair: str(tmp_path / "src"))
    monkeypatch.setattr(DATASETS["wmt22"], "get_reference_files", lambda pair: [str(tmp_path / "refA")])
    data = read("sacrebleu:wmt22/de-en")
    assert data.segments.row(0) == ("wmt22/de-en:1", "Hallo", ["Hello"], None, None, None, "de-en")


def test_a_sacrebleu_set_without_network_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.dataset import DATASETS

    def offline(pair: str) -> str:
        raise OSError("Name or service not known")

    monkeypatch.setattr(DATASETS["wmt22"], "get_source_file", offline)
    with pytest.raises(UserError, match=r"cannot download wmt22/de-en .*needs the network once"):
        read("sacrebleu:wmt22/de-en")


def test_offline_a_sacrebleu_set_is_what_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.dataset import DATASETS

    def fetch(*_: object, **__: object) -> None:
        pytest.fail("the network was asked")

    wmt20, kept = DATASETS["wmt20"], tmp_path / "raw" / "wmt20.test.tgz"
    monkeypatch.setattr("urllib.request.urlopen", fetch)
    monkeypatch.setattr(wmt20, "_outdir", str(tmp_path))
    monkeypatch.setattr(wmt20, "_rawdir", str(kept.parent))
    configure(offline=True)
    with pytest.raises(UserError, match=r"sacreBLEU's wmt20 is not in .*offline.* forbids"):
        read("sacrebleu:wmt20/de-en")
    assert not list(tmp_path.iterdir())
    for field in wmt20.fieldnames("de-en"):
        (tmp_path / f"wmt20.de-en.{field}").write_text(f"a {field}\n")
    assert read("sacrebleu:wmt20/de-en").segments.row(0)[1:3] == ("a src", ["a ref"])
    kept.parent.mkdir()
    kept.write_bytes(b"an archive that was fetched")
    for number, name in enumerate(wmt20.langpairs["cs-en"]):
        (kept.parent / name).parent.mkdir(exist_ok=True)
        (kept.parent / name).write_text(f"<seg id='1'>text {number}</seg>\n")
    assert read("sacrebleu:wmt20/cs-en").segments.row(0)[1:3] == ("text 0", ["text 1"])


def test_every_format_has_a_card() -> None:
    assert all(card.name == name and card.description and card.recognised_by for name, card in FORMATS.items())


def test_data_that_know_their_languages_are_not_read_as_others(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"de-en.*fr-en"):
        read("sample", language_pair="fr-en")
    assert read("sample", language_pair="de-en").language_pairs == ["de-en"]
    named = tmp_path / "news.de-en.tsv"
    named.write_text("source\treference\nHallo.\tHello.\n", encoding="utf-8")
    found = read(named, language_pair="fr-en")
    assert found.language_pairs == ["fr-en"]
    assert any("de-en" in note and "fr-en" in note for note in found.notes)
    assert not read(named, language_pair="deu-eng").notes
