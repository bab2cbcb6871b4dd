"""Texts go out as numbered lines, translations come back as numbered lines."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.systems import system
from babelquake.systems.files import Files, export, imported


def test_each_distinct_text_is_written_once_in_order(tmp_path: Path) -> None:
    path = export(tmp_path / "out", ["b", "a", "b", "c\nd"])
    assert path.read_bytes() == b"b\na\nc d\n"


def test_translations_are_found_by_their_source(tmp_path: Path) -> None:
    export(tmp_path, ["eins", "zwei"])
    (tmp_path / "deepl.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (tmp_path / "human.txt").write_text("ONE\nTWO", encoding="utf-8")
    assert imported(tmp_path) == ["deepl", "human"]
    found = system(f"files[folder={tmp_path},name=deepl]")
    assert found.name == "deepl"
    assert found.translate(["zwei", "eins", "zwei"]) == ["two", "one", "two"]
    assert Files(str(tmp_path), "human").translate(["zwei"]) == ["TWO"]


@given(st.lists(st.text(max_size=20), max_size=10))
def test_whatever_was_exported_can_be_looked_up(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sources = export(folder, texts).read_text(encoding="utf-8")
        (Path(folder) / "copy.txt").write_text(sources, encoding="utf-8", newline="")
        assert len(Files(folder, "copy").translate(texts)) == len(texts)


@pytest.mark.parametrize(
    ("translation", "message"),
    [
        ("one\n", "deepl.txt has 1 lines, sources.txt has 2: line 2 is missing"),
        ("one\ntwo\nthree\n", "deepl.txt has 3 lines, sources.txt has 2: line 3 is one too many"),
    ],
)
def test_line_counts_are_checked(tmp_path: Path, translation: str, message: str) -> None:
    export(tmp_path, ["eins", "zwei"])
    (tmp_path / "deepl.txt").write_text(translation, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        imported(tmp_path)


def test_a_text_that_was_not_exported_is_named(tmp_path: Path) -> None:
    export(tmp_path, ["eins"])
    (tmp_path / "x.txt").write_text("one\n", encoding="utf-8")
    with pytest.raises(UserError, match="no line “drei”"):
        Files(str(tmp_path), "x").translate(["eins", "drei"])


def test_a_folder_nobody_exported_to(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Export"):
        imported(tmp_path)


def test_a_misspelt_system_gets_a_hint(tmp_path: Path) -> None:
    export(tmp_path, ["eins"])
    (tmp_path / "deepl.txt").write_text("one\n", encoding="utf-8")
    with pytest.raises(UserError, match="Did you mean 'deepl'"):
        Files(str(tmp_path), "depl")


@pytest.mark.parametrize("damage", ["eins\n", "eins\nzwo\n"])
def test_changed_sources_are_refused(tmp_path: Path, damage: str) -> None:
    export(tmp_path, ["eins", "zwei"])
    (tmp_path / "sources.txt").write_text(damage, encoding="utf-8")
    with pytest.raises(UserError, match="export again"):
        imported(tmp_path)


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    export(tmp_path, ["eins"])
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"manifest.json is damaged"):
        imported(tmp_path)


def test_a_line_that_is_not_utf8_is_numbered(tmp_path: Path) -> None:
    export(tmp_path, ["eins", "zwei"])
    (tmp_path / "x.txt").write_bytes(b"one\ntw\xf6\n")
    with pytest.raises(UserError, match=r"x.txt line 2 is not UTF-8"):
        imported(tmp_path)


def test_the_signature_follows_the_content_not_the_place(tmp_path: Path) -> None:
    for folder, translation in (("a", "one\n"), ("b", "one\n"), ("c", "ONE\n")):
        export(tmp_path / folder, ["eins"])
        (tmp_path / folder / "x.txt").write_text(translation, encoding="utf-8")
    a, b, c = (Files(str(tmp_path / folder), "x").signature for folder in "abc")
    assert a == b != c
