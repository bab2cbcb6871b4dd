"""Programs that read lines and write lines, the well-behaved and the others."""

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.engine import Cache, Engine
from babelquake.errors import ResumableError, UserError
from babelquake.systems import command as fingerprints
from babelquake.systems import system
from babelquake.systems.command import Command, fingerprint, one_line

ECHO = "import sys\nfor line in sys.stdin: print(line.rstrip('\\n').upper(), flush=True)"


def script(folder: Path, code: str) -> str:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    return f"{sys.executable} {path}"


def test_cat_gives_back_what_it_is_given() -> None:
    cat = system("command[cmd=cat]")
    assert cat.translate(["Guten Tag", "", "  zwei  Wörter "]) == ["Guten Tag", "", "  zwei  Wörter "]
    assert cat.translate(["noch einer"]) == ["noch einer"]
    cat.close()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=20))
def test_any_text_survives_cat_except_its_line_breaks(texts: list[str]) -> None:
    cat = Command("cat")
    assert cat.translate(texts) == [one_line(text) for text in texts]
    cat.close()


def test_a_program_that_flushes_is_started_once(tmp_path: Path) -> None:
    code = f"import os; open({str(tmp_path / 'starts')!r}, 'a').write('x')\n{ECHO}"
    program = Command(script(tmp_path, code), patience=60)
    assert [program.translate([text]) for text in "abc"] == [["A"], ["B"], ["C"]]
    program.close()
    assert (tmp_path / "starts").read_text() == "x"


def test_a_program_that_answers_only_at_the_end_gets_one_process_per_batch() -> None:
    program = Command("tr a-z A-Z", patience=0.2)
    assert program.translate(["one", "two"]) == ["ONE", "TWO"]
    assert program.translate(["three"]) == ["THREE"]
    program.close()


def test_batches_larger_than_any_pipe_do_not_block() -> None:
    texts = [f"{number} " + "x" * 500 for number in range(2000)]
    for program in (Command("cat"), Command("sed s/x/x/", mode="batch")):
        assert program.translate(texts) == texts
        program.close()


def test_options_from_a_spec_reach_the_program() -> None:
    program = system("command[cmd='sed s/,/;/g',mode=batch]")
    assert program.translate(["a,b"]) == ["a;b"]


def test_no_shell_is_involved() -> None:
    program = Command("echo $HOME ; false", mode="batch")
    assert program.translate(["x"]) == ["$HOME ; false"]


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_a_missing_line_is_named(mode: str) -> None:
    program = system("command[cmd='head -n 2']", mode=mode)
    with pytest.raises(UserError, match="wrote 2 lines for 3: line 3 is missing, the translation of “drei”"):
        program.translate(["eins", "zwei", "drei"])


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_a_line_too_many_is_refused(mode: str, tmp_path: Path) -> None:
    code = "import sys\nfor line in sys.stdin: print('a\\nb', flush=True)"
    with pytest.raises(UserError, match="one line for each line"):
        system(f"command[cmd='{script(tmp_path, code)}',mode={mode},patience=30]").translate(["eins", "zwei"])


def test_a_program_that_does_not_exist() -> None:
    with pytest.raises(UserError, match="no program 'no-such-program'"):
        Command("no-such-program --x").translate(["a"])


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_a_failing_program_is_quoted(mode: str, tmp_path: Path) -> None:
    command = script(tmp_path, "import sys; sys.exit('model not found')")
    with pytest.raises(UserError, match=r"exit status 1.*model not found"):
        system(f"command[cmd='{command}',mode={mode},patience=30]").translate(["a"])


def test_a_crash_after_good_answers_can_be_resumed(tmp_path: Path) -> None:
    code = "import sys\nprint(input(), flush=True)\ninput()\nsys.exit('out of memory')"
    program = Command(script(tmp_path, code), patience=30)
    assert program.translate(["a"]) == ["a"]
    with pytest.raises(ResumableError, match="out of memory"):
        program.translate(["b"])


@pytest.mark.parametrize("mode", ["stream", "batch", "auto"])
def test_a_program_that_hangs_is_ended(mode: str) -> None:
    with pytest.raises(ResumableError, match="did not answer for"):
        system(f"command[cmd='sleep 60',timeout=0.3,mode={mode}]").translate(["a"])


def test_output_must_be_utf8(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); sys.stdout.buffer.write(b'gut\\nsch\\xf6n\\n')"
    with pytest.raises(UserError, match="line 2 of its output is not UTF-8"):
        Command(script(tmp_path, code), mode="batch").translate(["a", "b"])


@pytest.mark.parametrize("cmd", ["", "  ", "echo 'unfinished"])
def test_a_command_that_is_none(cmd: str) -> None:
    with pytest.raises(UserError, match="command"):
        Command(cmd)


def test_the_signature_notices_a_changed_script(tmp_path: Path) -> None:
    before = Command(script(tmp_path, ECHO)).signature
    assert before == Command(script(tmp_path, ECHO)).signature
    assert before != Command(script(tmp_path, ECHO + "\n")).signature


def test_an_interruption_costs_a_hundred_lines_at_most_unless_the_program_is_started_anew_each_time() -> None:
    assert Command("cat").limits.texts == Command("cat", mode="stream").limits.texts == 100
    assert Command("cat", mode="batch").limits.texts == 1000


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n{ECHO}"
    )
    program = Command(script(tmp_path, code), patience=60)
    assert program.translate(["a"]) == ["A"]
    grandchild = int((tmp_path / "pid").read_text())
    os.kill(grandchild, 0)
    program.close()
    for _ in range(100):
        state = Path(f"/proc/{grandchild}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("the grandchild is still running")


def test_escapes_on_standard_error_reach_no_terminal(tmp_path: Path) -> None:
    command = script(tmp_path, "import sys; sys.exit('\\x1b]0;owned\\x07 bad \\u202e model')")
    with pytest.raises(UserError, match="bad") as raised:
        Command(command, patience=30).translate(["a"])
    assert not {"\x1b", "\x07", "\u202e"} & set(str(raised.value))


def test_a_program_that_never_stops_writing_is_refused_and_ended() -> None:
    with pytest.raises(UserError, match="one line for each line"):
        Command("yes").translate(["a", "b"])
    with pytest.raises(UserError):
        Command("cat /dev/zero", mode="batch", timeout=30).translate(["a"])


def test_a_line_too_many_later_on_is_found_before_the_next_batch(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    print(line.rstrip('\\n'), flush=True)\n"
        "    if number == 1: time.sleep(0.1); print('debug', flush=True)\n"
    )
    program = Command(script(tmp_path, code), patience=30)
    assert program.translate(["a"]) == ["a"]
    program.translate(["b"])
    time.sleep(0.5)
    with pytest.raises(UserError, match="one line for each line"):
        program.translate(["c"])


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
