"""Input that breaks libraries is the input's fault: status 2 and a sentence that names it, never 70."""

import json
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from babelquake.cli.app import app
from babelquake.data import read
from babelquake.errors import UserError

DEEP = 50_000


def jsonl(text: str) -> bytes:
    return (json.dumps({"source": text, "reference": "b", "original": text, "perturbed": "c"}) + "\n").encode()


def tmx(inner: str) -> bytes:
    return (
        '<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>'
        f"{inner}</seg></tuv></tu></body></tmx>"
    ).encode()


def xliff(inner: str) -> bytes:
    return (
        '<xliff version="1.2"><file source-language="de" target-language="en"><body><trans-unit id="1"><source>'
        f"{inner}</source><target>{inner}</target></trans-unit></body></file></xliff>"
    ).encode()


NESTED = "<g>" * DEEP + "x" + "</g>" * DEEP
READ_OR_REFUSED = {
    "nested.tmx": tmx(NESTED),
    "nested.xliff": xliff(NESTED),
    "nested.de-en.xml": b'<dataset id="x"><doc id="a"><src lang="de"><p><seg id="1">'
    + NESTED.encode()
    + b"</seg></p></src></doc></dataset>",
}
REFUSED = {
    "surrogate.de-en.jsonl": b'{"source": "half \\ud83d", "reference": "b"}\n',
    "surrogate.de-en.json": b'[{"source": "half \\udc00", "reference": "b"}]',
    "deep.de-en.jsonl": b'{"source": ' + b"[" * DEEP + b"]" * DEEP + b"}\n",
    "broken.parquet": b"PAR1" + b"\x15\x00" * 40 + struct.pack("<I", 60) + b"PAR1",
    "long.parquet": b"PAR1" + struct.pack("<I", 2**31 - 1) + b"PAR1",
}


SHEET = "xl/worksheets/sheet1.xml"
CELLS = {
    "a shared string that is not there": ('r="A2" t="inlineStr"><is><t>Satz</t></is>', 'r="A2" t="s"><v>999999</v>'),
    "a column beyond all columns": ('r="A2"', 'r="ZZZZZZZZZ9"'),
    "a column beyond those of Excel": ('r="A2"', 'r="ZZZZ2"'),
    "a row beyond all rows": ('<row r="2"', '<row r="999999999"'),
}


@pytest.mark.parametrize("kind", CELLS)
def test_workbooks_with_cells_that_cannot_be(kind: str, tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (("source", "reference"), ("Satz", "Text")):
        book.active.append(row)
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "odd.xlsx", "w") as odd:
        for name in whole.namelist():
            content = whole.read(name).decode()
            if name == SHEET:
                content = inline(content)
                assert CELLS[kind][0] in content
                content = content.replace(*CELLS[kind])
            odd.writestr(name, content)
    with pytest.raises(UserError, match=r"odd\.xlsx"):
        read(str(tmp_path / "odd.xlsx"), language_pair="de-en")


def inline(sheet: str) -> str:
    """The cells of the second row hold their texts themselves."""
    for cell, text in (("A2", "Satz"), ("B2", "Text")):
        sheet = re.sub(rf'<c r="{cell}"[^>]*>.*?</c>', f'<c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>', sheet)
    return sheet


def status(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done.exit_code, done.output


@pytest.mark.parametrize("name", sorted(REFUSED | READ_OR_REFUSED))
def test_data_that_break_a_library(name: str, tmp_path: Path) -> None:
    content = (REFUSED | READ_OR_REFUSED)[name]
    (tmp_path / name).write_bytes(content)
    words = ["metric", "-m", "chrf", "-d", str(tmp_path / name), "--side", "source", "-p", "case", "--cache", "none"]
    code, said = status(*words, "--lang", "de-en", "--resamples", "100", "-q", "-o", str(tmp_path / "run"))
    assert code in ((2,) if name in REFUSED else (0, 2)), said
    assert name in REFUSED or "internal error" not in said
    assert len(said) < 4000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", REFUSED["broken.parquet"]),
        ("t.tsv", b"\n\n\n"),
        ("t.tsv", b""),
        ("t.jsonl", REFUSED["deep.de-en.jsonl"]),
        ("t.jsonl", REFUSED["surrogate.de-en.jsonl"]),
    ],
)
def test_tables_that_cannot_be_annotated(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    code, said = status("annotate", "prepare", "--from", str(tmp_path / name), "--out", str(tmp_path / "p.db"))
    assert code == 2 and name in said, said


NINES = "9" * 30


@pytest.mark.parametrize(
    ("option", "value"), [("--limit", NINES), ("--memory", "inf"), ("--memory", "nan"), ("--seed", NINES)]
)
def test_numbers_that_nobody_can_mean(option: str, value: str, tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\na b\tc d\n")
    words = ["mt", "-s", "command[cmd=cat]", "-d", str(tmp_path / "d.de-en.tsv"), "-p", "case", "-m", "chrf"]
    code, said = status(*words, option, value, "--cache", "none", "-o", str(tmp_path / "run"))
    assert code == 2 and option in said, said


@pytest.mark.parametrize(
    ("study", "option", "limit"),
    [("metric", "--require", "quality"), ("check", "--fail-on", "any>x"), ("check", "--fail-on", "any>nan")],
)
def test_a_gate_that_means_nothing_is_refused_before_there_is_a_run(
    study: str, option: str, limit: str, tmp_path: Path
) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\ttranslation\na b\tc d\te f\n")
    words = ["-d", str(tmp_path / "d.de-en.tsv"), *(("-m", "chrf") if study == "metric" else ()), option, limit]
    code, said = status(study, *words, "--cache", "none", "-q", "-o", str(tmp_path / "run"))
    assert code == 2 and f"{option} {limit}" in said and not (tmp_path / "run").exists(), said


@pytest.mark.parametrize("option", ["--config", "--suite"])
def test_yaml_of_brackets(option: str, tmp_path: Path) -> None:
    (tmp_path / "y.yaml").write_text("[" * 10_000)
    (tmp_path / "d.de-en.tsv").write_text("source\treference\na b\tc d\n")
    words = ["mt", "-s", "command[cmd=cat]", "-d", str(tmp_path / "d.de-en.tsv"), option, str(tmp_path / "y.yaml")]
    code, said = status(*words, "-m", "chrf", "--cache", "none", "-o", str(tmp_path / "run"))
    assert code == 2 and "y.yaml" in said, said


@pytest.mark.parametrize("content", ["[" * 10_000, "rules: " + "[" * 10_000, "\0", "a: &a [*a]"])
def test_rules_that_are_none(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(content)
    (tmp_path / "d.de-en.tsv").write_text("source\ttranslation\na b\tc d\n")
    code, said = status("check", "-d", str(tmp_path / "d.de-en.tsv"), "--rules", str(tmp_path / "r.yaml"), "-q")
    assert code == 2 and "r.yaml" in said, said


@pytest.mark.parametrize(
    "content",
    ['{"errors": ' + "[" * DEEP, '[{"start": 1e400, "end": 2, "severity": "major"}]', '{"errors": 3}', "[1, 2]"],
)
def test_marked_errors_that_are_none(content: str, tmp_path: Path) -> None:
    row = {"source": "a b", "translation": "c d", "system": "a", "errors": content}
    (tmp_path / "e.jsonl").write_text(json.dumps(row) + "\n")
    people = json.dumps([{"start": 0, "end": 1, "severity": "major"}]).replace('"', '""')
    (tmp_path / "d.de-en.csv").write_text(f'source,translation,system,score,errors\na b,c d,a,3,"{people}"\n')
    words = ["-d", str(tmp_path / "d.de-en.csv"), "--spans", str(tmp_path / "e.jsonl"), "--cache", "none"]
    code, said = status("correlate", *words, "--statistic", "span-f1", "-q", "-o", str(tmp_path / "run"))
    assert code == 2 and "e row 1" in said, said


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "d.de-en.tsv").write_text("source\treference\n" + "".join(f"Satz {n}.\tText {n}.\n" for n in range(12)))
    words = ["mt", "-s", "command[cmd=cat]", "-d", str(folder / "d.de-en.tsv"), "-p", "case", "-m", "chrf", "-q"]
    code, said = status(*words, "--resamples", "100", "--cache", "none", "-o", str(folder / "run"))
    assert code == 0, said
    return folder / "run"


@pytest.mark.parametrize("words", [("--alpha", "0"), ("--alpha", "1"), ("--alpha", "nan"), ("--markdown", "")])
def test_comparisons_that_cannot_be_made(words: tuple[str, str], run: Path) -> None:
    code, said = status("compare", str(run), str(run), *words)
    assert code == 2, said


def safetensors(header: bytes, body: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + body


MALFORMED: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "header longer than the file": lambda: struct.pack("<Q", 2**40) + b"{}",
    "no JSON": lambda: safetensors(b"[" * 50),
    "offsets beyond the end": lambda: safetensors(b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'),
    "unknown type": lambda: safetensors(b'{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}}', b"\0" * 4),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_weights_that_are_none(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from babelquake.models.checkpoint import state

    (tmp_path / "model.safetensors").write_bytes(MALFORMED[kind]())
    with pytest.raises(UserError, match=r"model\.safetensors"):
        state(tmp_path / "model.safetensors")
