"""Batches and sentences per second with one and two Ray actors and without Ray.

    python bench/executors.py               a system that waits: what Ray adds to a batch
    python bench/executors.py FILE COUNT    a model that ships and computes: FILE has German sentences in column 1

Both write bench/results/executors.json. Rounds alternate between the executors, so that a busy machine is busy for all
of them; the figures are those of the best round. Every executor must give the same translations. A model that computes
wants as many free cores as there are actors.
"""

import json
import os
import sys
import time
from pathlib import Path

from babelquake.engine import Engine, Workers
from babelquake.engine.ray_executor import Ray
from babelquake.systems import System, system

ROUNDS, BATCHES = 2, 24
HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "executors.json"
EXECUTORS = {"local": 0, "ray, 1 actor": 1, "ray, 2 actors": 2}


def measure(workers: Workers | None, made: System, texts: list[str]) -> tuple[float, list[str]]:
    """Sentences per second, the model already loaded where it stays loaded."""
    engine = Engine(workers=workers, quiet=True)
    engine.translate(made, [f"Das ist Satz {number}." for number in range(4 * made.limits.texts)])
    started = time.perf_counter()
    found = engine.translate(made, texts)
    return len(texts) / (time.perf_counter() - started), found


def compared(made: System, texts: list[str]) -> dict[str, float]:
    """Sentences per second of every executor, its best round."""
    best = dict.fromkeys(EXECUTORS, 0.0)
    translations = []
    for _ in range(ROUNDS):
        for name, actors in EXECUTORS.items():
            workers = Ray(actors=actors) if actors else None
            speed, found = measure(workers, made, texts)
            if workers:
                workers.close()
            best[name] = max(best[name], speed)
            translations.append(found)
            print(name, round(speed, 1), flush=True)
    if any(found != translations[0] for found in translations):
        raise SystemExit("the executors do not agree")
    return best


def main() -> None:
    """Measure, print, keep."""
    if len(sys.argv) > 1:
        lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
        count = int((sys.argv[2:] or ["1024"])[0])
        what, made = "computing", system("bundled[model=de-en-bpe,threads=1]", "de-en")
        texts = list(dict.fromkeys(line.split("\t")[0] for line in lines))[:count]
    else:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        what, made = "waiting", system("waiting:wait", "de-en")
        texts = [f"Satz {number:05d}" for number in range(BATCHES * made.limits.texts)]
    load = round(os.getloadavg()[0], 1)
    best = compared(made, texts)
    unit, per = ("batches_per_second", made.limits.texts) if what == "waiting" else ("sentences_per_second", 1)
    speeds = {name: round(speed / per, 2) for name, speed in best.items()}
    ideal = {name: round(best[name] / (best["local"] * max(1, actors)), 3) for name, actors in EXECUTORS.items()}
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found[what] = {unit: speeds, "of_the_ideal": ideal, "texts": len(texts), "load_before": load}
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
