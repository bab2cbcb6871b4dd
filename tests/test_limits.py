"""How much of a foreign file is read, and what its errors are taken for."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from babelquake.data import lines, read
from babelquake.errors import UserError
from babelquake.limits import MOST, model_description, most, reading, text_of, yaml_of


def test_a_packed_line_without_end_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BABELQUAKE_LIMITS", "line=1MB")
    file = tmp_path / "bomb.tsv.gz"
    file.write_bytes(gzip.compress(b"a" * (3 << 20)))
    with pytest.raises(UserError, match=r"bomb\.tsv\.gz line 1 .*1 MB.*BABELQUAKE_LIMITS=line=4MB"):
        list(lines(file))
    monkeypatch.setenv("BABELQUAKE_LIMITS", "line=4MB")
    assert len(next(iter(lines(file)))) == 3 << 20


@pytest.mark.parametrize(
    ("limit", "name", "content"),
    [
        ("file", "d.de-en.tsv", b"source\treference\na\tb\n"),
        ("document", "d.de-en.csv", b"source,reference\na,b\n"),
        ("document", "d.de-en.json", b'[{"source": "a", "reference": "b"}]'),
        ("markup", "d.tmx", b"<tmx></tmx>" * 3),
        ("line", "d.de-en.txt", "\ufeffeine Zeile\n".encode("utf-16")),
        ("line", "d.de-en.txt", b"one\rtwo\rthree and more"),
    ],
)
def test_every_kind_of_file_has_its_limit(
    limit: str, name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BABELQUAKE_LIMITS", f"{limit}=6")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=rf"BABELQUAKE_LIMITS={limit}="):
        read(str(tmp_path / name), language_pair="de-en")


def test_a_workbook_is_measured_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "d.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", b"a" * (most("workbook") + 1))
    with pytest.raises(UserError, match="BABELQUAKE_LIMITS=workbook="):
        read(str(tmp_path / "d.xlsx"))


@pytest.mark.parametrize("given", ["lines=1MB", "line=much", "line=-1", "line"])
def test_a_limit_that_nobody_knows_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BABELQUAKE_LIMITS", given)
    with pytest.raises(UserError, match="BABELQUAKE_LIMITS"):
        most("line")


def test_a_device_is_not_a_prompt(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="/dev/zero"):
        text_of("/dev/zero", "prompt")
    (tmp_path / "p.txt").write_bytes(b"x" * (MOST["prompt"][0] + 1))
    with pytest.raises(UserError, match="prompt"):
        text_of(tmp_path / "p.txt", "prompt")


@pytest.mark.parametrize("text", ["[" * 10_000, "{" * 10_000, "a: [b", "&a [*a]: 1", "\x00", "- " * 5_000 + "x"])
def test_yaml_is_read_or_refused(text: str) -> None:
    try:
        yaml_of(text, "run.yaml")
    except UserError as error:
        assert "run.yaml" in str(error) and len(str(error)) < 1000


@pytest.mark.parametrize(
    "sizes",
    [
        {"num_hidden_layers": 10**9},
        {"hidden_size": "x"},
        {"hidden_size": float("nan")},
        {"num_attention_heads": 0},
        {"vocab_size": 10**12},
        {"decoder": {"num_hidden_layers": 10**9}},
    ],
)
def test_a_model_that_nobody_can_build_is_refused_by_its_description(sizes: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", **sizes}))
    with pytest.raises(UserError, match=r"config\.json: \w+"):
        model_description(tmp_path / "config.json")


def test_the_descriptions_of_models_that_ship_pass() -> None:
    from babelquake.models.shipped import folder, shipped

    found = [folder(name) / "config.json" for name in shipped()]
    read = [model_description(path) for path in found if path.is_file()]
    assert read


def test_a_panic_in_a_library_is_the_files_fault_and_ctrl_c_is_not() -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(UserError, match=r"x\.parquet .*table.*index out of bounds"), reading("x.parquet", "a table"):
        raise panic("index out of bounds")
    with pytest.raises(KeyboardInterrupt), reading("x.parquet", "a table"):
        raise KeyboardInterrupt
