"""A cluster whose head is gone: the run ends as one that can be continued, and never with a gate's status."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from babelquake.engine import ray_executor
from babelquake.engine.ray_executor import Head


def test_a_head_that_is_gone_is_found_out_and_a_pause_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_executor, "LOOK", 0.05)
    monkeypatch.setattr(ray_executor, "HEAD_PATIENCE", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        head = Head(f"127.0.0.1:{listener.getsockname()[1]}")
        time.sleep(0.3)
        assert not head.lost
    time.sleep(0.3)
    assert not head.lost, "it may come back"
    monkeypatch.setattr(ray_executor, "HEAD_PATIENCE", 0.2)
    monkeypatch.setattr(ray_executor.os, "_exit", lambda status: None)
    until = time.monotonic() + 10
    while not head.lost and time.monotonic() < until:
        time.sleep(0.05)
    assert head.lost
    head.close()


def test_a_driver_that_asks_nobody_ends_with_status_three() -> None:
    code = (
        "import time; from babelquake.engine import ray_executor as r\n"
        "r.LOOK, r.HEAD_PATIENCE = 0.05, 0.1\n"
        "r.Head('127.0.0.1:9'); time.sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and "Finished work is kept" in done.stderr


MODULE = """
import os, time
from pathlib import Path

def slow(texts):
    Path(os.environ["TRACES"], f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.5)
    return [text.upper() for text in texts]
"""


@contextmanager
def head(env: dict[str, str]) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A cluster of one node: its address, and the process whose group is the whole of it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    sockets = tempfile.mkdtemp(prefix="ray")  # the names of sockets in it must be short
    words = ["--head", f"--port={address.partition(':')[2]}", "--node-ip-address=127.0.0.1", "--num-cpus=2"]
    quiet = ["--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={sockets}", "--block"]
    start = [str(Path(sys.executable).with_name("ray")), "start", *words, *quiet]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(start, env=env, start_new_session=True, **silent)
    try:
        until = time.monotonic() + 120
        while socket.socket().connect_ex(("127.0.0.1", int(address.partition(":")[2]))):
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.2)
        yield address, process
    finally:
        killed(process)
        shutil.rmtree(sockets, ignore_errors=True)


def killed(cluster: "subprocess.Popen[bytes]") -> None:
    """Every process of a cluster at once, as when its machine loses power."""
    if cluster.poll() is None:
        os.killpg(cluster.pid, signal.SIGKILL)
        cluster.wait()


@pytest.mark.slow
@pytest.mark.skipif("BABELQUAKE_DRILLS" not in os.environ, reason="a drill of a minute: BABELQUAKE_DRILLS=1 runs it")
def test_a_run_whose_head_was_killed_continues_on_another(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray: pip install 'babelquake[ray]'")
    (tmp_path / "head_systems.py").write_text(MODULE)
    rows = "".join(f"Satz Nummer {number} ist da.\tSentence number {number}.\n" for number in range(400))
    (tmp_path / "d.de-en.tsv").write_text(f"source\treference\n{rows}")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    env = {**os.environ, "PYTHONPATH": path, "TRACES": str(tmp_path / "traces"), "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    # no token of this user's; started at once on a busy machine
    env |= {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
    study = ["mt", "-s", "head_systems:slow", "-d", "d.de-en.tsv", "-p", "case", "-m", "chrf", "--resamples", "100"]
    patient = "from babelquake.engine import ray_executor; ray_executor.HEAD_PATIENCE = 2.0"
    code = f"import sys; {patient}; sys.argv[0] = 'babelquake'; from babelquake.cli import main; main()"

    def begun(out: str, *words: str) -> "subprocess.Popen[str]":
        (tmp_path / "traces").mkdir(exist_ok=True)
        command = [sys.executable, "-c", code, *study, "-q", "--cache", "c.sqlite" if words else "none", *words]
        return subprocess.Popen([*command, "-o", out], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)

    with head(env) as (address, cluster):
        driver = begun("run", "--executor", f"ray[address={address},actors=2]")
        until = time.monotonic() + 300
        while len(list((tmp_path / "traces").iterdir())) < 3:
            assert time.monotonic() < until and driver.poll() is None
            time.sleep(0.05)
        killed(cluster)
        said = driver.communicate(timeout=120)[1]
        assert driver.returncode == 3 and "kept" in said, said
    with head(env) as (address, _):
        again = begun("run", "--executor", f"ray[address={address},actors=2]")
        said = again.communicate(timeout=240)[1]
        assert again.returncode == 0, said
    calm = begun("calm")
    assert calm.wait(timeout=240) == 0
    measures = [pl.read_parquet(tmp_path / name / "measures.parquet").drop("signature") for name in ("run", "calm")]
    assert measures[0].equals(measures[1], null_equal=True)
