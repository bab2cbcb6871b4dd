"""The files that translators, vendors and spreadsheets leave behind."""

import io
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.data import Dataset, read
from babelquake.errors import UserError

TMX = """<?xml version="1.0"?><tmx version="1.4"><header srclang="de"/><body>
<tu><tuv xml:lang="en-GB"><seg>Good <ph>&lt;b&gt;</ph>day.</seg></tuv>
<tuv xml:lang="de"><seg>Guten Tag.</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>Bonjour.</seg></tuv></tu>
</body></tmx>"""
XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="de"
target-language="en"><body><trans-unit id="1"><source>Guten <g id="1">Tag</g>.</source><target>Good day.</target>
</trans-unit><trans-unit id="2"><source>Ja.</source></trans-unit></body></file></xliff>"""
XLIFF2 = """<xliff version="2.0" srcLang="de" trgLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">
<unit id="1"><segment><source>Guten Tag.</source><target>Good day.</target></segment></unit></file></xliff>"""
WMT = """<?xml version='1.0'?><dataset id="t"><collection><doc id="d1"><src lang="de"><p><seg id="1">Guten Tag.</seg>
<seg id="2">Ja.</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">Good day.</seg><seg id="2">Yes.</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">Hello.</seg></p></ref>
<hyp system="X" lang="en"><p><seg id="1">Good days.</seg><seg id="2">Yes.</seg></p></hyp>
<hyp system="Y" lang="en"><p><seg id="1">Day.</seg><seg id="2">Aye.</seg></p></hyp></doc></collection></dataset>"""
SGM = """<srcset setid="t" srclang="any"><DOC docid="d" origlang="de"><p><seg id="1">Fish &amp; chips
for all</seg></p><p><seg id="2">Ja.</seg></p></DOC></srcset>"""


def written(folder: Path, name: str, content: str | bytes) -> Dataset:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(str(folder / name))


def texts(data: Dataset) -> list[tuple[str | None, list[str] | None]]:
    return list(data.segments.select("source", "references").iter_rows())


@pytest.mark.parametrize(
    ("name", "content"),
    [("m.tmx", TMX), ("m.xlf", XLIFF), ("m.xliff", XLIFF2), ("m.xml", WMT)],
)
def test_bilingual_mark_up_is_read(tmp_path: Path, name: str, content: str) -> None:
    data = written(tmp_path, name, content)
    source, references = texts(data)[0]
    assert source == "Guten Tag." and references is not None and references[0] == "Good day."
    assert data.segments["language_pair"][0] in ("de-en", "de-en-GB")


def test_units_without_both_languages_are_counted(tmp_path: Path) -> None:
    data = written(tmp_path, "m.tmx", TMX)
    assert len(data) == 1 and any("1 translation units without both" in note for note in data.notes)


def test_the_user_may_turn_a_memory_round(tmp_path: Path) -> None:
    (tmp_path / "m.tmx").write_text(TMX, "utf-8")
    data = read(str(tmp_path / "m.tmx"), language_pair="en-de")
    assert texts(data) == [("Good day.", ["Guten Tag."])]


def test_wmt_xml_has_every_system_and_reference(tmp_path: Path) -> None:
    data = written(tmp_path, "m.xml", WMT)
    assert data.segments["system"].to_list() == ["X", "Y", "X", "Y"]
    assert data.segments["references"].to_list()[0] == ["Good day.", "Hello."]
    assert data.segments["id"].n_unique() == 2


def test_sgml_sides_belong_together_line_by_line(tmp_path: Path) -> None:
    data = written(tmp_path, "a.src.sgm", SGM)
    assert data.segments["source"].to_list() == ["Fish & chips for all", "Ja."]
    (tmp_path / "a.ref.sgm").write_text(SGM.replace("Ja.", "Yes."), "utf-8")
    both = read(f"parallel[source={tmp_path}/a.src.sgm,reference={tmp_path}/a.ref.sgm]")
    assert texts(both)[1] == ("Ja.", ["Yes."])


def workbook(*sheets: list[list[str | float]]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(book: bytes, name: str, old: str, new: str) -> bytes:
    """A workbook with other words in one of its parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as before, zipfile.ZipFile(file, "w") as after:
        for part in before.namelist():
            text = before.read(part)
            after.writestr(part, text.replace(old.encode(), new.encode()) if part == name else text)
    return file.getvalue()


def test_workbooks_are_tables(tmp_path: Path) -> None:
    data = written(tmp_path, "b.xlsx", workbook([["German", "English", "score"], ["Ja.", "Yes.", 71.5]]))
    assert texts(data) == [("Ja.", ["Yes."])] and data.segments["score"].to_list() == [71.5]
    assert data.segments["language_pair"].to_list() == ["de-en"]


def test_the_first_sheet_is_the_first_of_the_workbook_whatever_its_file_is_called(tmp_path: Path) -> None:
    book = workbook([["source"], ["first file"]], [["source"], ["second file"]])
    turned = book
    for old, new in (('r:id="rId1"', 'r:id="rId0"'), ('r:id="rId2"', 'r:id="rId1"'), ('r:id="rId0"', 'r:id="rId2"')):
        turned = changed(turned, "xl/workbook.xml", old, new)
    assert turned != book
    assert written(tmp_path, "a.xlsx", book).segments["source"].to_list() == ["first file"]
    assert written(tmp_path, "b.xlsx", turned).segments["source"].to_list() == ["second file"]


def test_a_workbook_that_lies_about_its_size_costs_what_it_holds(tmp_path: Path) -> None:
    book = workbook([["source"], ["Ja."], ["Nein."]])
    cell = changed(book, "xl/worksheets/sheet1.xml", 'r="A3"', 'r="XFD3"')
    lying = changed(cell, "xl/worksheets/sheet1.xml", "<sheetData>", '<dimension ref="A1:XFD1048576" /><sheetData>')
    data = written(tmp_path, "a.xlsx", lying)
    assert data.segments["source"].to_list() == ["Ja.", None]


def test_a_workbook_beyond_the_limits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BABELQUAKE_LIMITS", "cells=2")
    with pytest.raises(UserError, match=r"a\.xlsx.* 2 .*cells"):
        written(tmp_path, "a.xlsx", workbook([["source"], ["Ja."], ["Nein."]]))
    monkeypatch.setenv("BABELQUAKE_LIMITS", "workbook=2")
    with pytest.raises(UserError, match=r"b\.xlsx .*larger.*BABELQUAKE_LIMITS=workbook="):
        written(tmp_path, "b.xlsx", workbook([["source"]]))


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("a.csv", "source;reference\nJa, klar.;Yes, sure.\n", "separated by semicolons"),
        ("a.csv", "source\treference\nJa, klar.\tYes, sure.\n", "separated by tabs"),
        ("a.tsv", '"source"\t"reference"\n"Ja, klar."\t"Yes, sure."\n', "every cell is quoted"),
        ("a.tsv", "source\treference\nJa, klar.\tYes, sure.\n".encode("utf-16"), "is UTF-16"),
        ("a.tsv", b"source\treference\rJa, klar.\tYes, sure.\r", "CR alone"),
        ("a.tsv", "de\ten\nJa, klar.\tYes, sure.\n", ""),
        ("a.jsonl", '{"translation": {"de": "Ja, klar.", "en": "Yes, sure."}}\n', ""),
        ("a.json", '[{"translation": {"de": "Ja, klar.", "en": "Yes, sure."}}]', ""),
    ],
)
def test_habits_of_other_tools_are_understood(tmp_path: Path, name: str, content: str | bytes, note: str) -> None:
    data = written(tmp_path, name, content)
    assert texts(data) == [("Ja, klar.", ["Yes, sure."])]
    assert not note or any(note in said for said in data.notes), data.notes


def test_windows_1252_is_read_and_said(tmp_path: Path) -> None:
    data = written(tmp_path, "a.txt", "gut\nschön – ja\n".encode("cp1252"))
    assert data.segments["source"].to_list() == ["gut", "schön – ja"]
    assert any("read as Windows-1252" in note for note in data.notes)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", TMX, "mark-up"),
        ("a.xml", "<html><p>Hallo</p></html>", "mark-up"),
        ("a.tmx", TMX[:200], "well-formed"),
        ("a.tmx", "<!DOCTYPE tmx [<!ENTITY a 'b'>]><tmx/>", "its own entities"),
        ("a.tmx", "<tmx/>", "no readable segments"),
        ("a.sgm", "Guten Tag.", "no <seg"),
        ("a.xlsx", "no workbook", "a.xlsx cannot be read as a workbook"),
        ("a.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        ("a.tsv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        ("a.parquet", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        ("a.tsv", TMX, "mark-up"),
        ("a.csv", "<html><p>Hallo</p></html>", "mark-up"),
        ("a.txt", b"PK\x03\x04rest", "not text"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        written(tmp_path, name, content)


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(["tmx", "xlf", "xml", "sgm", "xlsx", "csv", "tsv", "json", "jsonl", "txt", "parquet"]),
    base=st.sampled_from([TMX.encode(), XLIFF.encode(), WMT.encode(), SGM.encode(), b"source;reference\na;b\n"]),
    cut=st.integers(0, 400),
    noise=st.binary(max_size=40),
)
def test_no_file_is_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, kind: str, base: bytes, cut: int, noise: bytes
) -> None:
    folder = tmp_path_factory.mktemp("nasty")
    try:
        written(folder, f"a.{kind}", base[:cut] + noise + base[cut:])
    except UserError as error:
        assert len(str(error)) < 1500
