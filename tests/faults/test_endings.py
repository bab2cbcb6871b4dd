"""Status 1 is a gate's "no" and nothing else, whatever happens to the process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUN = [sys.executable, "-m", "babelquake"]
FAULTY = "import babelquake.cli.listing as l; l.LISTINGS = {}; "
MAIN = "import sys; sys.argv = ['babelquake', *sys.argv[1:]]; from babelquake.cli import main; main()"


def run(*words: str, code: str = "", **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code + MAIN] if code else RUN
    return subprocess.run([*command, *words], capture_output=True, timeout=120, **options)  # type: ignore[call-overload,no-any-return]


def test_a_fault_of_ours_has_a_status_a_line_and_a_log(tmp_path: Path) -> None:
    done = run("list", "systems", code=FAULTY, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 70
    assert done.stderr.count(b"\n") == 1
    assert b"KeyError" in done.stderr and b"report" in done.stderr
    (log,) = (tmp_path / "babelquake" / "errors").iterdir()
    assert str(log).encode() in done.stderr
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("command", ["mt", "similarities", "demo"])
def test_an_option_with_a_wrong_value_is_the_users_mistake(command: str) -> None:
    given = {"mt": ["--data", "sample", "--system", "command[cmd=cat]"], "demo": []}.get(command, ["x"])
    done = run(command, *given, "--device", "foo")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"no device is called 'foo': expected auto, cpu" in done.stderr


def test_a_log_that_cannot_be_written_where_it_belongs_is_written_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = {"XDG_CACHE_HOME": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    done = run("list", "systems", code=FAULTY, env={**os.environ, **places})
    assert done.returncode == 70
    assert len(list(tmp_path.glob("error-*.log"))) == 1


def test_memory_that_runs_out_is_no_verdict() -> None:
    code = 'import babelquake.cli.listing as l\ndef f(): raise MemoryError\nl.LISTINGS["systems"] = f\n'
    done = run("list", "systems", code=code)
    assert done.returncode == 70
    assert b"memory" in done.stderr and done.stderr.count(b"\n") == 1


def test_an_ascii_terminal_gets_escapes() -> None:
    done = run(
        "perturb", "case", "--level", "0", "-", input="süß\n".encode(), env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout in (b"s\\xfc\\xdf\n", "süß\n".encode())


@pytest.mark.parametrize("closed", ["0<&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_no_verdict(closed: str) -> None:
    line = f"{sys.executable} -m babelquake list systems {closed}"
    assert subprocess.run(["bash", "-c", line], capture_output=True, timeout=120).returncode == 0
    line = f"{sys.executable} -m babelquake list nonsense {closed}"
    assert subprocess.run(["bash", "-c", line], capture_output=True, timeout=120).returncode == 2


@pytest.mark.parametrize("line", ["list perturbations --json", "list perturbations", "--help", "perturb case --help"])
def test_a_reader_that_has_seen_enough_is_no_error(line: str) -> None:
    script = f"set -o pipefail; {sys.executable} -m babelquake {line} | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_standard_output_can_be_resumed() -> None:
    line = f"{sys.executable} -m babelquake list perturbations --json > /dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=120)
    assert done.returncode == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_with_status_three(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\n" + "".join(f"Satz {n}.\tText {n}.\n" for n in range(9)))
    words = ["-s", "command[cmd=sleep 100,mode=stream]", "-d", "d.de-en.tsv", "-p", "case", "-m", "chrf", "-o", "run"]
    child = subprocess.Popen(
        [*RUN, "mt", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        env={**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")},
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not sleeping(child.pid):
        time.sleep(0.1)
    child.send_signal(number)
    sent = time.monotonic()
    _, said = child.communicate(timeout=30)
    assert child.returncode == 3
    assert b"interrupted" in said and said.count(b"\n") == 1
    assert time.monotonic() - sent < 10, "the program took too long to hear the signal"
    assert not sleeping(child.pid)


def sleeping(parent: int) -> bool:
    """Whether a child of that process sleeps."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")
        except OSError:
            continue
        if fields[0].endswith("(sleep") and fields[2].split()[1] == str(parent):
            return True
    return False


def test_nohup_keeps_a_run_alive(tmp_path: Path) -> None:
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    code += "import os, babelquake.cli.listing as l\n"
    code += "l.LISTINGS[\"systems\"] = lambda: (os.kill(os.getpid(), signal.SIGHUP), [{'name': 'x'}])[1]\n"
    assert run("list", "systems", code=code).returncode == 0


@pytest.mark.parametrize("reader", ["head -c 1", "true", "cat"])
def test_a_gate_says_no_also_when_nobody_reads(reader: str, tmp_path: Path) -> None:
    code = (
        "import babelquake.cli.guard as g, typer\n"
        "from babelquake.errors import GateError\n"
        "app = typer.Typer()\n"
        "@app.command()\n@g.guarded\n"
        "def compare():\n"
        "    with g.unread_is_no_verdict():\n"
        "        for _ in range(100_000): typer.echo('x' * 100)\n"
        "    raise GateError('no')\n"
        "g.enter(app)\n"
    )
    (tmp_path / "gate.py").write_text(code)
    line = f"{sys.executable} {tmp_path / 'gate.py'} | {reader} > /dev/null; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", line], capture_output=True, timeout=120).returncode == 1


def test_no_address_for_reports_is_invented(tmp_path: Path) -> None:
    done = run("list", "systems", code=FAULTY, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert b"http" not in done.stderr
