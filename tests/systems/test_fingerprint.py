"""A changed script, model or folder is another system; the same one on another machine is not."""

import os
import sys
from pathlib import Path

import pytest

from babelquake.engine import Cache, Engine
from babelquake.systems import fingerprint as fingerprints
from babelquake.systems import system
from babelquake.systems.command import Command
from babelquake.systems.fingerprint import fingerprint

MT = """import pathlib, sys
word = (pathlib.Path(sys.argv[1]) / "word").read_text()
for line in sys.stdin:
    print(word, line.rstrip("\\n"), flush=True)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "mdl"
    (folder / "deep").mkdir(parents=True)
    (folder / "word").write_text("old")
    (folder / "deep" / "weights").write_bytes(bytes(range(256)))
    return folder


def test_a_model_changed_inside_its_folder_is_asked_again(tmp_path: Path, model: Path) -> None:
    (tmp_path / "mt.py").write_text(MT)
    engine = Engine(Cache(tmp_path / "cache.sqlite"), quiet=True)

    def answer() -> list[str]:
        program = system(f'command[cmd="{sys.executable} {tmp_path / "mt.py"} {model}",patience=60]')
        try:
            return engine.translate(program, ["Haus"])
        finally:
            program.close()

    assert answer() == ["old Haus"]
    (model / "word").write_text("new")
    assert answer() == ["new Haus"]
    assert engine.calls == 2


def test_names_and_contents_of_a_folder_count_at_any_depth(model: Path) -> None:
    seen = {fingerprint(["mt", str(model)])}
    (model / "deep" / "weights").write_bytes(bytes(256))
    seen.add(fingerprint(["mt", str(model)]))
    (model / "deep" / "weights").rename(model / "deep" / "other")
    seen.add(fingerprint(["mt", str(model)]))
    (model / "empty").touch()
    seen.add(fingerprint(["mt", str(model)]))
    assert len(seen) == 4


def test_what_running_a_program_leaves_behind_does_not_count(model: Path) -> None:
    before = fingerprint(["mt", str(model)])
    (model / "__pycache__").mkdir()
    (model / "__pycache__" / "mt.pyc").write_bytes(b"compiled")
    (model / ".git").mkdir()
    (model / ".git" / "index").write_bytes(b"index")
    (model / ".lock").touch()
    assert fingerprint(["mt", str(model)]) == before


def test_a_path_behind_an_option_counts(model: Path) -> None:
    before = fingerprint(["mt", f"--model={model}"])
    (model / "word").write_text("new")
    assert fingerprint(["mt", f"--model={model}"]) != before


@pytest.mark.parametrize("place", [0, 30, 59])
def test_large_files_count_by_head_tail_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    monkeypatch.setattr(fingerprints, "WHOLE", 50)
    monkeypatch.setattr(fingerprints, "END", 10)
    file = tmp_path / "large"
    file.write_bytes(bytes(60))
    state = file.stat()
    before = fingerprint(["mt", str(file)])
    content = bytearray(60)
    content[place] = 1
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (fingerprint(["mt", str(file)]) != before) == (place != 30)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert fingerprint(["mt", str(file)]) != before


def test_a_folder_too_large_to_read_counts_by_size_and_time(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "FOLDER", 0)
    state = (model / "word").stat()
    before = fingerprint(["mt", str(model)])
    os.utime(model / "word", ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert fingerprint(["mt", str(model)]) != before


def test_a_compiled_program_on_the_path_is_its_name() -> None:
    assert system("command[cmd=cat]").signature == "command|cmd:cat"


def test_a_script_on_the_path_counts_by_its_text_but_not_by_its_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my-translator"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    signatures = []
    for text in ("#!/bin/sh\ncat\n", "#!/usr/bin/env sh\ncat\n", "#!/bin/sh\ntr a b\n"):
        script.write_text(text)
        script.chmod(0o755)
        signatures.append(Command("my-translator").signature)
    assert signatures[0] == signatures[1] != signatures[2]


def test_words_that_name_nothing_do_not_count(tmp_path: Path) -> None:
    assert fingerprint(["tr", "a-z", "--x", "--y=", "-", "\0", str(tmp_path / "nowhere")]) is None


def test_a_version_replaces_the_look_at_files(model: Path) -> None:
    log = model.parent / "mt.log"
    log.write_text("one line")
    named = f'command[cmd="cat {log}",version=2]'
    before = system(named).signature
    assert before == f"command|cmd:cat {log}|version:2"
    log.write_text("two lines")
    assert system(named).signature == before
    assert system(named.replace("=2", "=3")).signature != before


def test_a_log_written_as_the_program_runs_does_not_change_a_system_halfway(tmp_path: Path) -> None:
    log = tmp_path / "mt.log"
    log.touch()
    program = Command(f"tee -a {log}", patience=60)
    before = program.signature
    program.translate(["Haus"])
    program.close()
    assert log.read_text() == "Haus\n" and program.signature == before
