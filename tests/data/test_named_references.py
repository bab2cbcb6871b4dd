"""mt-metrics-eval folders with several references: one is standard, the others are asked for."""

from pathlib import Path

import pytest

from babelquake.data import read
from babelquake.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "sources/zh-en.txt": "一\n二\n",
        "references/zh-en.a-synthetic.txt": "made one\nmade two\n",
        "references/zh-en.refA.txt": "one\ntwo\n",
        "references/zh-en.refB.txt": "One.\nTwo.\n",
        "system-outputs/zh-en/Online.txt": "one\nto\n",
        "human-scores/zh-en.mqm.seg.score": "Online\t0\nOnline\t-5\n",
    }.items():
        (tmp_path / "wmt" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "wmt" / name).write_text(text, "utf-8")
    return tmp_path / "wmt"


def test_the_standard_reference_is_taken_and_said(folder: Path) -> None:
    data = read(str(folder))
    assert data.segments["references"].to_list() == [["one"], ["two"]]
    assert data.reference == "refA"
    assert any("reference refA is used" in note and "refB" in note for note in data.notes)


def test_without_a_standard_one_people_come_before_machines(folder: Path) -> None:
    (folder / "references/zh-en.refA.txt").unlink()
    assert read(str(folder)).reference == "refB"


def test_another_reference_or_all_of_them_can_be_asked_for(folder: Path) -> None:
    assert read(str(folder), reference="refB").segments["references"].to_list() == [["One."], ["Two."]]
    everything = read(str(folder), reference="all")
    assert everything.segments["references"].list.len().to_list() == [3, 3]
    assert everything.reference == "a-synthetic+refA+refB"
    assert read(str(folder)).hash != everything.hash


def test_an_unknown_reference_is_refused_with_what_there_is(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no reference 'refC'\. Did you mean 'ref[AB]'"):
        read(str(folder), reference="refC")
    (tmp_path / "d.tsv").write_text("source\treference\na\tb\n", "utf-8")
    with pytest.raises(UserError, match=r"reference.*refA.*columns.*reference"):
        read(str(tmp_path / "d.tsv"), reference="refA")
