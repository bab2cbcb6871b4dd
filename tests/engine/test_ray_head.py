"""A cluster whose head is gone: the run ends as one that can be continued, and never with a gate's status."""

import socket
import subprocess
import sys
import time

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
