"""Data as the papers' authors found them: the metrics task's package, MTNT, DEMETR, WMT19 gu-en."""

import json
from pathlib import Path

import pytest

from babelquake.data import read
from babelquake.data.reading import format_of
from babelquake.errors import UserError

RANKED = """LP DATA SID BETTER WORSE
gu-en newstest2019 2 good.1+same.2 bad.3
gu-en newstest2019 1 bad.3 good.1
zh-en newstest2019 1 one.zh-en two.zh-en
"""
ASSESSED = """LP DATA SYSTEM SID SCORE
gu-en newstest2019 good.1 2 0.75
gu-en newstest2019 other.4 1 -0.5
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in the layout of WMT19's."""
    root = tmp_path / "wmt19-metrics-task-package"
    texts = {
        "manual-evaluation/RR-seglevel.csv": RANKED,
        "manual-evaluation/DA-seglevel.csv": ASSESSED,
        "input/sources/newstest2019-guen-src.gu": "એક\nબે\n",
        "input/references/newstest2019-guen-ref.en": "one\ntwo\n",
        "input/sources/newstest2019-zhen-src.zh": "一\n",
        "input/references/newstest2019-zhen-ref.en": "one\n",
        "input/system-outputs/newstest2019/gu-en/newstest2019.good.1.gu-en": "One\nTwo\n",
        "input/system-outputs/newstest2019/gu-en/newstest2019.bad.3.gu-en": "a\nb\n",
        "input/system-outputs/newstest2019/gu-en/newstest2019.other.4.gu-en": "x\ny\n",
        "input/system-outputs/newstest2019/zh-en/newstest2019.one.zh-en": "One\n",
        "input/system-outputs/newstest2019/zh-en/newstest2019.two.zh-en": "Two\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def test_a_metrics_task_package_as_published(package: Path) -> None:
    data = read(f"{package}/gu-en")
    assert format_of(str(package)).name == "metrics-task"
    columns = ["id", "source", "references", "translation", "system", "score", "language_pair"]
    rows = [tuple(row[name] for name in columns) for row in data.segments.iter_rows(named=True)]
    assert rows == [
        ("gu-en:2", "બે", ["two"], "Two", "good.1", 0.75, "gu-en"),
        ("gu-en:2", "બે", ["two"], "b", "bad.3", None, "gu-en"),
        ("gu-en:1", "એક", ["one"], "a", "bad.3", None, "gu-en"),
        ("gu-en:1", "એક", ["one"], "One", "good.1", None, "gu-en"),
        ("gu-en:1", "એક", ["one"], "x", "other.4", -0.5, "gu-en"),
    ]
    assert data.preferences is not None and data.preferences.rows() == [(0, 1), (2, 3)]


def test_all_language_pairs_of_a_package(package: Path) -> None:
    data = read(str(package))
    assert data.language_pairs == ["gu-en", "zh-en"] and data.preferences is not None and len(data.preferences) == 3
    assert data.segments["translation"].to_list()[-2:] == ["One", "Two"]


def test_what_a_package_lacks_is_named(package: Path) -> None:
    with pytest.raises(UserError, match="no judgements of 'de-en'"):
        read(f"{package}/de-en")
    (package / "input/system-outputs/newstest2019/gu-en/newstest2019.bad.3.gu-en").unlink()
    with pytest.raises(UserError, match=r"no output of bad\.3 for gu-en"):
        read(f"{package}/gu-en")


def test_a_header_with_a_column_too_few_is_read_by_position(package: Path) -> None:
    """WMT18's header lacks a name."""
    file = package / "manual-evaluation" / "RR-seglevel.csv"
    file.write_text(RANKED.replace("LP DATA SID", "DATA SID"), "utf-8")
    found = read(f"{package}/gu-en").preferences
    assert found is not None and found.height == 2


@pytest.mark.parametrize(("name", "extra"), [("test.en-fr.tsv", ""), ("en-fr.final.tsv", "r/x\t")])
def test_mtnt_as_published(tmp_path: Path, name: str, extra: str) -> None:
    file, line = tmp_path / name, f'7\t{extra}lol "ok\tmdr « ok »\n'
    file.write_text(line, "utf-8")
    data = read(str(file))
    assert data.segments.select("source", "references", "language_pair").row(0) == (
        'lol "ok',
        ["mdr « ok »"],
        "en-fr",
    )
    file.write_text(line + "8\tbroken\n", "utf-8")
    with pytest.raises(UserError, match="line 2: 2 columns"):
        read(str(file))


def test_demetr_as_json_lines(tmp_path: Path) -> None:
    item = {
        "id": 1,
        "src_sent": "Hallo",
        "eng_sent": "Hello",
        "mt_sent": "Hi",
        "pert_sent": "Ho",
        "pert_name": "typo",
        "pert_check": True,
        "lang_tag": "german",
    }
    lines, whole = tmp_path / "typo.jsonl", tmp_path / "typo.json"
    lines.write_text(json.dumps(item) + "\n\n" + json.dumps(item | {"id": 2}) + "\n", "utf-8")
    whole.write_text(json.dumps([item, item | {"id": 2}]), "utf-8")
    assert format_of(str(lines)).name == "demetr"
    assert read(str(lines)).segments.equals(read(str(whole)).segments)
    assert read(str(lines)).segments["translation_perturbed"].to_list() == ["Ho", "Ho"]


def test_two_translations_of_a_segment_by_one_system_are_both_kept(tmp_path: Path) -> None:
    folder = tmp_path / "wmt19-darr" / "gu-en"
    folder.mkdir(parents=True)
    (folder / "sources.txt").write_text("એક\nબે\n", "utf-8")
    (folder / "references.txt").write_text("one\ntwo\n", "utf-8")
    rows = ["0\tUEDIN\tB\tOne\tb", "0\tB\tUEDIN\tb\tThe one", "0\tUEDIN\tC\tOne\tc", "1\tUEDIN\tB\tTwo\tb2"]
    (folder / "darr.tsv").write_text(
        "\n".join(["segment\tbetter_system\tworse_system\tbetter\tworse", *rows, ""]), "utf-8"
    )
    data = read(str(folder))
    found = data.segments.select("system", "translation").rows()
    assert ("UEDIN", "One") in found and ("UEDIN (2)", "The one") in found and len(found) == 6
    said = [note for note in data.notes if "two translations" in note]
    assert len(said) == 1 and "1 segments have two translations by one system (UEDIN)" in said[0]
    assert data.preferences is not None
    better, worse = data.preferences.row(1)
    assert found[better] == ("B", "b") and found[worse] == ("UEDIN (2)", "The one")
