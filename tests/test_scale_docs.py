"""The recipes for clusters in docs/scale.md: what can be known of them without a cluster."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from babelquake.engine import workers
from babelquake.engine.ray_executor import Ray

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def test_every_executor_of_the_page_is_one() -> None:
    found = re.findall(r"ray\[[^\]]*\]", PAGE.replace("$head", "head"))
    assert len(found) >= 3
    assert all(isinstance(workers(name), Ray) for name in found if "…" not in name)


def test_the_job_for_slurm_is_a_script_that_ends_as_it_should() -> None:
    (script,) = [text for text in blocks("bash") if "#SBATCH" in text]
    if not shutil.which("bash"):
        pytest.skip("needs bash")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    asked = dict(re.findall(r"--([\w-]+)=(\S+)", next(line for line in script.splitlines() if "#SBATCH" in line)))
    assert asked["signal"].startswith("B:TERM@"), "the script itself hears the signal"
    others = re.search(r"--nodes=(\d+) --ntasks=\1 --exclude", script)
    assert others and int(others.group(1)) == int(asked["nodes"]) - 1
    started = [line for line in script.splitlines() if line.rstrip().endswith("&")]
    assert "kill -TERM %3" in script and "babelquake" in started[2], "the third job is the one that is told to stop"


def test_the_job_for_kubernetes_is_a_ray_job() -> None:
    (job,) = [yaml.safe_load(text) for text in blocks("yaml")]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    words = shlex.split(job["spec"]["entrypoint"])
    assert words[:2] == ["babelquake", "mt"]
    cluster = job["spec"]["rayClusterSpec"]
    groups: list[dict[str, Any]] = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    images = {one["image"] for group in groups for one in group["template"]["spec"]["containers"]}
    assert len(images) == 1, "all nodes have the same babelquake"
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0", "the driver's node computes nothing"
    limits = cluster["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] > 0


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("command", ["perturb", "metric", "mt"])
def test_memory_and_time_are_those_that_the_bench_kept(command: str) -> None:
    kept = results("scale")[command]
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{command} ")]
    memory, seconds, each = (cell.strip() for cell in row.split("|")[2:5])
    assert memory == f"{kept['1000000']['rss_peak_mb']:,} MB"
    assert float(seconds.split()[0]) == pytest.approx(kept["1000000"]["cpu_s"], rel=0.05)
    assert float(each.split()[0]) == pytest.approx(kept["growth"]["µs a segment, 100,000 to 1,000,000"], rel=0.03)
    assert kept["growth"]["exponent"] < 1.1, "time grows linearly"


def test_what_ray_adds_to_a_batch_is_what_the_bench_kept() -> None:
    speeds = results("executors")["waiting"]["batches_per_second"]
    assert "about a hundredth" in PAGE and speeds["ray, 1 actor"] == pytest.approx(speeds["local"], rel=0.02)
