"""A node that is lost costs time only: three nodes of Ray on this machine, one of which dies in the middle."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from babelquake.engine import Cache, Engine
from babelquake.engine.ray_executor import Ray
from babelquake.systems import system

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="needs Ray: pip install 'babelquake[ray]'")
pytestmark = pytest.mark.slow

MODULE = """
import os, time
from pathlib import Path

def slow(texts):
    Path(os.environ["TRACES"], f"{os.getpid()}").touch()
    time.sleep(0.3)
    return [text.upper() for text in texts]
"""
TEXTS = [f"text number {number}" for number in range(1500)]


def test_a_lost_node_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "node_systems.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("TRACES", str(tmp_path))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    assert "ray" in sys.modules
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    workers = Ray(address=cluster.address, actors=2, cpus=1.0)
    lost: list[float] = []

    def lose() -> None:
        """Once both nodes work, one of them is gone."""
        while len(list(tmp_path.glob("[0-9]*"))) < 2:
            time.sleep(0.1)
        cluster.remove_node(nodes[0], allow_graceful=False)
        lost.append(time.monotonic())

    thread = threading.Thread(target=lose, daemon=True)
    thread.start()
    try:
        engine = Engine(Cache(tmp_path / "c.sqlite"), workers=workers, quiet=True)
        found = engine.translate(system("node_systems:slow"), TEXTS)
        ended = time.monotonic()
        thread.join(30)
        assert lost and lost[0] < ended, "the node was lost while texts were under way"
        assert found == [text.upper() for text in TEXTS]
        again = engine.translate(system("node_systems:slow"), [*TEXTS[:40], "one more"])
        assert again[-1] == "ONE MORE"
    finally:
        workers.close()
        cluster.shutdown()
