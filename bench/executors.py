"""Sentences per second with one and two Ray actors and without Ray, on one model that ships.

    python bench/executors.py FILE [COUNT]     writes bench/results/executors.json

FILE has a German sentence in its first column. Rounds alternate between the executors, so that a busy machine is busy
for all of them; the figures are those of the best round. Every executor must give the same translations.
"""

import json
import os
import sys
import time
from pathlib import Path

from babelquake.engine import Engine, Workers
from babelquake.engine.on_ray import Ray
from babelquake.systems import system

ROUNDS = 2
RESULTS = Path(__file__).parent / "results" / "executors.json"


def measure(workers: Workers | None, texts: list[str]) -> tuple[float, list[str]]:
    """Sentences per second, the model already loaded where it stays loaded."""
    engine = Engine(workers=workers, quiet=True)
    made = system("bundled[model=de-en-bpe,threads=1]", "de-en")
    engine.translate(made, [f"Das ist Satz {number}." for number in range(1100)])
    started = time.perf_counter()
    found = engine.translate(made, texts)
    return len(texts) / (time.perf_counter() - started), found


def main() -> None:
    """Measure, print, keep."""
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    texts = list(dict.fromkeys(line.split("\t")[0] for line in lines))[: int((sys.argv[2:] or ["1024"])[0])]
    best: dict[str, float] = {}
    translations = []
    for _ in range(ROUNDS):
        for name, actors in (("local, one thread", 0), ("ray, 1 actor", 1), ("ray, 2 actors", 2)):
            workers = Ray(actors=actors) if actors else None
            speed, found = measure(workers, texts)
            if workers:
                workers.close()
            best[name] = max(best.get(name, 0), round(speed, 1))
            translations.append(found)
            print(name, round(speed, 1), flush=True)
    if any(found != translations[0] for found in translations):
        raise SystemExit("the executors do not agree")
    load = round(os.getloadavg()[0], 1)
    RESULTS.write_text(json.dumps({"sentences_per_second": best, "texts": len(texts), "load": load}, indent=2) + "\n")


if __name__ == "__main__":
    main()
