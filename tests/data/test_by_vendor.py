"""Translations by vendor: columns of a spreadsheet, and files that translators return."""

from pathlib import Path

import pytest
from openpyxl import Workbook

from babelquake.data import read
from babelquake.errors import UserError

XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en-US" target-language="de-DE"><body>
<trans-unit id="1"><source>Yes</source><target>{first}</target></trans-unit>
<trans-unit id="2"><source>No</source><target>{second}</target></trans-unit>
</body></file></xliff>"""


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """A workbook with a source, a reference and two vendors' translations."""
    rows = [
        ["Source", "Reference", "First agency", "Second agency"],
        ["Yes", "Ja", "Ja!", "Jawohl"],
        ["No", "Nein", "Nee", "Nö"],
    ]
    book = Workbook()
    for row in rows:
        book.active.append(row)
    file = tmp_path / "vendors.xlsx"
    book.save(file)
    return file


def test_columns_of_a_spreadsheet_are_translations_by_vendor(sheet: Path) -> None:
    found = read(sheet, columns={"translation:VendorA": "C", "translation:VendorB": "Second agency"}).segments
    assert found.select("source", "system", "translation").rows() == [
        ("Yes", "VendorA", "Ja!"),
        ("No", "VendorA", "Nee"),
        ("Yes", "VendorB", "Jawohl"),
        ("No", "VendorB", "Nö"),
    ]
    assert found["id"].n_unique() == 2
    assert found["references"].to_list() == [["Ja"], ["Nein"]] * 2


def test_a_column_beyond_the_sheet_or_named_twice_is_refused(sheet: Path) -> None:
    with pytest.raises(UserError, match=r"no column F.*ends with column D"):
        read(sheet, columns={"translation:VendorA": "F"})
    with pytest.raises(UserError, match="twice"):
        read(sheet, columns={"translation:A": "C", "translation:B": "C"})
    with pytest.raises(UserError, match="translation:NAME"):
        read(sheet, columns={"translation:": "C"})


def test_targets_of_several_xliff_files_are_translations_of_the_same_segments(tmp_path: Path) -> None:
    for name, texts in (("agency-a", ("Ja", "Nein")), ("agency-b", ("Jo", "Nö"))):
        (tmp_path / f"{name}.xlf").write_text(XLIFF.format(first=texts[0], second=texts[1]), "utf-8")
    found = read([tmp_path / "agency-a.xlf", tmp_path / "agency-b.xlf"], targets="translation").segments
    assert found.select("system", "translation").rows() == [
        ("agency-a", "Ja"),
        ("agency-a", "Nein"),
        ("agency-b", "Jo"),
        ("agency-b", "Nö"),
    ]
    assert found["id"].n_unique() == 2
    assert found["references"].null_count() == 4


def test_files_of_one_name_belong_to_their_folders_and_regions_do_not_part_them(tmp_path: Path) -> None:
    for name, language in (("acme", "de-DE"), ("globex", "de")):
        (tmp_path / name).mkdir()
        text = XLIFF.format(first=name, second="Nein").replace("de-DE", language)
        (tmp_path / name / "app.xlf").write_text(text, "utf-8")
    found = read([tmp_path / name / "app.xlf" for name in ("acme", "globex")], targets="translation").segments
    assert found["system"].unique(maintain_order=True).to_list() == ["acme", "globex"]
    assert found["id"].n_unique() == 2 and found["language_pair"].n_unique() == 1


def test_regions_that_differ_are_different_languages(tmp_path: Path) -> None:
    for name, language in (("a", "pt-BR"), ("b", "pt-PT")):
        text = XLIFF.format(first=name, second="Não").replace("de-DE", language)
        (tmp_path / f"{name}.xlf").write_text(text, "utf-8")
    found = read([tmp_path / "a.xlf", tmp_path / "b.xlf"], targets="translation").segments
    assert found["id"].n_unique() == 4 and found["language_pair"].n_unique() == 2


def test_targets_are_references_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text(XLIFF.format(first="Ja", second="Nein"), "utf-8")
    assert read(tmp_path / "a.xlf").segments["references"].to_list() == [["Ja"], ["Nein"]]
    with pytest.raises(UserError, match=r"answer.*expected reference or translation"):
        read(tmp_path / "a.xlf", targets="answer")  # type: ignore[arg-type]
