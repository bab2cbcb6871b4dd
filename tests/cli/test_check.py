"""`babelquake check` on the formats of localisation, for people, CI and JUnit."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from typer.testing import Result

Command = Callable[..., Result]
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="cs" original="a" datatype="plaintext"><body>
<trans-unit id="greeting"><source>Hello {name}!</source><target>Ahoj {jmeno}!</target></trans-unit>
<trans-unit id="save"><source>Save the file now</source><target>Uložit soubor nyní</target></trans-unit>
</body></file></xliff>"""
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header srclang="en" datatype="plaintext" segtype="sentence" adminlang="en"
 creationtool="x" creationtoolversion="1" o-tmf="x"/><body>
<tu><tuv xml:lang="en"><seg>Hello {name}!</seg></tuv><tuv xml:lang="cs"><seg>Ahoj!</seg></tuv></tu>
</body></tmx>"""


@pytest.fixture(params=["a.xliff", "a.tmx", "a.xlsx", "a.tsv"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Translations in which a placeholder was lost, in the formats that translators use."""
    path = tmp_path / request.param
    if path.suffix == ".xlsx":
        book = Workbook()
        for row in (("source", "target"), ("Hello {name}!", "Ahoj {jmeno}!")):
            book.active.append(row)
        book.save(path)
    else:
        texts = {".xliff": XLIFF, ".tmx": TMX, ".tsv": "source\ttranslation\nHello {name}!\tAhoj {jmeno}!\n"}
        path.write_text(texts[path.suffix], "utf-8")
    return path


def test_a_lost_placeholder_is_found_and_stops_the_build(cli: Command, file: Path, tmp_path: Path) -> None:
    report = tmp_path / "checks.xml"
    result = cli(
        "check",
        "-d",
        str(file),
        "--language-pair",
        "en-cs",
        "--fail-on",
        "placeholder",
        "--junit",
        str(report),
        status=1,
    )
    assert "placeholder" in result.stderr
    suites = ElementTree.parse(report).getroot()
    (failure,) = suites.iter("failure")
    assert failure.get("type") == "placeholder" and "{name}" in str(failure.get("message"))
    assert suites.get("failures") == "1"


def test_json_holds_rates_and_the_gate_can_pass(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("source\ttranslation\nHello {name}!\tAhoj {name}!\n", "utf-8")
    result = cli("check", "-d", str(file), "--language-pair", "en-cs", "--json", "--fail-on", "any")
    rates = {row["scorer"]: row["value"] for row in json.loads(result.stdout)["measures"]}
    assert rates["placeholder"] == 0 and "off-target" in rates


def test_the_page_has_every_failure_with_its_evidence(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("source\ttranslation\tsystem\nI owe 25 euros.\tDlužím 52 eur.\ta\nHi there.\tAhoj.\tb\n", "utf-8")
    out = tmp_path / "run"
    result = cli("check", "-d", str(file), "--language-pair", "en-cs", "--out", str(out), "--examples", "1")
    assert "50 % of 2 translations" in result.stdout and "lost: 25; added: 52" in result.stdout
    assert result.stdout.count("I owe 25 euros.") == 1
    assert (out / "failures.parquet").is_file()
    page = (out / "report.html").read_text("utf-8")
    assert "Kinds of failure" in page and "What is wrong with these translations?" in page
    assert " --defence" not in page.replace("mt --defence", "")


def test_junit_holds_any_text(cli: Command, tmp_path: Path) -> None:
    file, report = tmp_path / "a.tsv", tmp_path / "checks.xml"
    file.write_text('source\ttranslation\nA <b> & \x01 of 25\t]]> <c> & \x02 "x" of 26\n', "utf-8")
    cli("check", "-d", str(file), "--language-pair", "en-cs", "--junit", str(report))
    (failure,) = ElementTree.parse(report).getroot().iter("failure")
    assert "]]>" in str(failure.text)


def test_a_dry_run_counts_and_makes_nothing(cli: Command, file: Path, tmp_path: Path) -> None:
    words = ("check", "-d", str(file), "--language-pair", "en-cs", "--out", str(tmp_path / "run"), "--dry-run")
    found = json.loads(cli(*words, "--json").stdout)
    assert found["segments"] >= 1 and found["seconds"] is not None
    assert not (tmp_path / "run").exists()


def test_units_of_xliff_keep_their_ids_and_their_tags(cli: Command, tmp_path: Path) -> None:
    file, rules, report = tmp_path / "a.xliff", tmp_path / "rules.yaml", tmp_path / "checks.xml"
    tagged = XLIFF.replace("Uložit soubor nyní", "Uložit nyní").replace("the file", '<g id="1">the file</g>')
    file.write_text(tagged, "utf-8")
    rules.write_text('rules: [{name: short, ids: ["sa*"], max_length: 8}]', "utf-8")
    cli("check", "-d", str(file), "--rules", str(rules), "--kind", "tag", "--junit", str(report))
    (case,) = (case for case in ElementTree.parse(report).getroot().iter("testcase") if len(case))
    assert case.get("name") == "save" and case[0].get("type") == "tag, rule:short"
    rules.write_text("rules: [{name: short, max_length: 30}]", "utf-8")
    file.write_text(tagged.replace("Uložit nyní", 'Uložit <g id="1">soubor</g> nyní hned.'), "utf-8")
    cli("check", "-d", str(file), "--rules", str(rules), "--kind", "tag", "--fail-on", "any")
