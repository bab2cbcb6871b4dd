"""The simulations behind docs/ci.md and docs/statistics.md: what they found, and a small one that runs."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from babelquake.scorers import scorer

ROOT = Path(__file__).resolve().parents[1]


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def gate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_gate", ROOT / "bench" / "gate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_gate_is_rarely_closed_where_nothing_changed_and_always_where_robust_fell(
    gate: ModuleType,
) -> None:
    world = gate.World("niu2020", [scorer("chrf"), scorer("bleu")], pool=400)
    clean, again = world.clean(), world.clean()
    noisy, other = world.noisy(clean), world.noisy(again)
    old, new = world.judged(clean, noisy), world.judged(again, other)
    quiet = gate.shares(gate.counts([world.compared(old, new, 100, True) for _ in range(60)]))
    assert quiet["any claim"] <= 0.05 + 2 * 0.028
    rate = world.damage((clean, noisy), (clean, noisy), world.damaged)
    worse = world.judged(clean, world.damaged(noisy, rate))
    found = gate.shares(gate.counts([world.compared(old, worse, 200, False) for _ in range(10)]))
    assert found["closed"] >= 0.9
    assert found["mean change of overall ROBUST (chrF)"] == pytest.approx(-3, abs=0.6)


def test_false_alarms_of_the_gate_stay_near_alpha() -> None:
    nothing = {name: found for name, found in results("gate").items() if name.startswith("nothing changed")}
    assert len(nothing) == 4
    assert max(found["shares"]["any claim"] for found in nothing.values()) <= 0.06


def test_intervals_of_losses_hold_the_truth_from_fifty_segments_on() -> None:
    for name, found in results("intervals")["coverage"].items():
        if int(re.findall(r"n = (\d+)", name)[0]) >= 50:
            assert min(found["delta, reported"], found["robust, reported"]) >= 0.92, name
