"""Signals at random moments: a documented status, and nothing that was paid for is asked again.

`BABELQUAKE_MOMENTS=30 pytest tests/faults/test_signals.py -k often` stops every study so many times instead of once.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.counting import CountingServer

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MOMENTS = int(os.environ.get("BABELQUAKE_MOMENTS", "1"))
JUDGE = "llm-judge[model=m,base_url={url},inputs=reference]"
STUDIES = {  # `mt` sends 32 texts in a request, so it has more of them
    "mt": "mt -s libretranslate[url={url},concurrent=4] -p misspell,case -m chrf --resamples 100",
    "metric": f"metric -p misspell,final-delete -m {JUDGE} --side reference --resamples 100 --limit 12",
    "qe": "qe -m llm-judge[model=m,base_url={url}] --masked-lm none --resamples 100 --limit 5",
    "attack": f"attack --recipe input-reduction --victim {JUDGE} --constraint none --sample 6",
    "correlate": f"correlate -m {JUDGE} --resamples 100 --limit 12",
}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)


@pytest.fixture
def server() -> Iterator[CountingServer]:
    made = CountingServer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    lines = ["source\treference\ttranslation\tsystem\tscore"]
    for number in range(240):
        said = f"Sentence {number} of the {'very ' * (number % 5)}long report was not read by anyone."
        lines.append(
            f"Satz {number} ist {'sehr ' * (number % 5)}lang.\t{said}\t{said[:-9]}a man.\ta\t{70 + number % 30}"
        )
    (folder / "d.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "d.de-en.tsv"


def begun(study: str, server: CountingServer, data: Path, place: Path) -> "subprocess.Popen[bytes]":
    words = STUDIES[study].format(url=server.url).split()
    command = [sys.executable, "-m", "babelquake", *words, "-d", str(data), "--seed", "3", "-q", "--out", "run"]
    env = {**os.environ, "BABELQUAKE_CACHE": str(place / "c.sqlite")}
    return subprocess.Popen(command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    _, said = process.communicate(timeout=300)
    return process.returncode, said.decode()


def interrupted(process: "subprocess.Popen[bytes]", server: CountingServer, chance: random.Random) -> tuple[bool, int]:
    """Send a signal at a random moment after a few more requests: whether it was still running, and its status."""
    enough, until = server.requests + chance.randint(1, 3), time.monotonic() + 300
    while server.requests < enough and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.005)
    time.sleep(chance.random() * chance.choice((0.02, 0.1, 0.5)))
    running = process.poll() is None
    process.send_signal(chance.choice(SIGNALS))
    status, said = ended(process)
    assert status == 0 or (status == 3 and "interrupted" in said), said
    return running, status


@pytest.mark.parametrize(
    "study", [study if study in ("mt", "attack") else pytest.param(study, marks=pytest.mark.slow) for study in STUDIES]
)
def test_nothing_is_paid_twice_however_often_a_study_is_stopped(study: str, data: Path, tmp_path: Path) -> None:
    """A study is stopped and continued, again and again, until it is through; then the next."""
    chance = random.Random(study)
    moments = stopped = runs = 0
    while moments < MOMENTS or not stopped:
        place, server = tmp_path / str(runs), CountingServer()
        place.mkdir()
        runs += 1
        status = 3
        while status == 3 and (moments < MOMENTS or not stopped):
            running, status = interrupted(begun(study, server, data, place), server, chance)
            moments, stopped = moments + running, stopped + (status == 3)
        if status == 3:
            status, said = ended(begun(study, server, data, place))
            assert status == 0, said
        assert server.asked and not server.repeated
        server.close()
    print(f"{study}: {moments} signals, stopped by {stopped}, in {runs} runs")


def test_an_undisturbed_attack_pays_once_for_each_text(server: CountingServer, data: Path, tmp_path: Path) -> None:
    status, said = ended(begun("attack", server, data, tmp_path))
    assert status == 0, said
    assert server.asked and not server.repeated


def test_two_processes_with_one_cache_pay_once(server: CountingServer, data: Path, tmp_path: Path) -> None:
    """The second waits for what the first is asking."""
    words = STUDIES["metric"].format(url=server.url).split()
    env = {**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "shared.sqlite")}
    command = [sys.executable, "-m", "babelquake", *words, "-d", str(data), "--seed", "3", "-q"]
    both = [
        subprocess.Popen([*command, "-o", name], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("c", "d")
    ]
    assert [ended(process)[0] for process in both] == [0, 0]
    assert server.asked and not server.repeated
    assert not list(tmp_path.glob("shared.sqlite.asking-*"))


STARTS = [sys.executable, "-X", "importtime", "-m", "babelquake", "list", "perturbations"]


@pytest.fixture(scope="module")
def imported() -> list[str]:
    """The modules that a command imports once it listens for signals, in order."""
    calm = subprocess.run(STARTS, capture_output=True, text=True, timeout=60)
    modules = [line.rpartition("|")[2].strip() for line in calm.stderr.splitlines() if line.startswith("import time:")]
    return modules[modules.index("babelquake.interrupts") + 2 :]


@pytest.mark.parametrize(
    ("number", "share"), [(signal.SIGTERM, 0.15), (signal.SIGINT, 0.5), (signal.SIGHUP, 0.9), (signal.SIGINT, 0.15)]
)
def test_a_signal_while_the_program_starts_has_its_status(
    number: signal.Signals, share: float, imported: list[str]
) -> None:
    """From its first instruction on: signals are listened for before anything is imported that takes time."""
    wanted = imported[int(share * len(imported))]
    process = subprocess.Popen(STARTS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = ""
    assert process.stderr is not None
    for line in process.stderr:
        said += line
        if line.startswith("import time:") and line.rpartition("|")[2].strip() == wanted:
            process.send_signal(number)
            break
    said += process.communicate(timeout=30)[1]
    assert process.returncode == 3
    assert "babelquake: interrupted" in said


def outcome(body: str, number: signal.Signals, seconds: float = 20) -> tuple[int, str]:
    """The status of a command whose body sends itself a signal."""
    code = (
        "import os, signal, sys, time, weakref\n"
        "from babelquake.interrupts import listen\n"
        "listen()\n"
        "import typer, babelquake.cli.guard as g\n"
        "app = typer.Typer()\n"
        f"hit = lambda: os.kill(os.getpid(), {int(number)})\n"
        "@app.command()\n@g.guarded\n"
        f"def command():\n    {body}\n"
        "sys.argv = ['babelquake']\n"
        "g.enter(app)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("hit()", id="in the last instruction"),
        pytest.param("hit(); time.sleep(30)", id="while a library sleeps"),
        pytest.param(
            "o = type('O', (), {})(); r = weakref.ref(o, lambda _: (hit(), time.sleep(2))); del o", id="weakref"
        ),
        pytest.param("hit(); [None for _ in iter(lambda: time.monotonic() < 0, True)]", id="in a busy loop"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_never_lost(body: str, number: signal.Signals) -> None:
    status, said = outcome(body, number)
    assert status == 3 and "interrupted" in said, said


def test_a_library_that_takes_a_signal_for_itself_does_not_keep_it() -> None:
    """Ray's `init` has SIGTERM end the process with `sys.exit(15)`."""
    taken = "with i.handlers_restored(): signal.signal(signal.SIGTERM, lambda n, f: sys.exit(n))"
    status, said = outcome(f"import babelquake.interrupts as i\n    {taken}\n    hit()", signal.SIGTERM)
    assert status == 3 and "interrupted" in said


def test_a_signal_after_the_end_changes_nothing() -> None:
    status, said = outcome("import atexit; atexit.register(hit)", signal.SIGTERM)
    assert (status, said) == (0, "")


@pytest.mark.parametrize("kind", ["BaseException", "GeneratorExit", "pyo3_runtime.PanicException"])
def test_a_panic_is_an_internal_error_and_no_verdict(kind: str) -> None:
    """Rust's panics arrive as a BaseException; status 1 is a gate's."""
    body = f"raise type('{kind.rpartition('.')[2]}', (BaseException,), {{}})('the library gave up')"
    status, said = outcome(body, signal.SIGTERM)
    assert status == 70 and "the library gave up" in said
