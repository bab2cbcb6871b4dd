"""How fast the models that ship translate on a CPU, greedy and with beam 4.

    python bench/models.py [TEST.tsv]     writes bench/results/models.json

Translates the sources (first column) of a headerless TSV file, or the bundled sample, on two threads. Sentences per
second of wall-clock time are what a user sees, but only on a machine with nothing else to do; sentences per second of
processor time hardly depend on that, and twice their number is what two quiet cores could reach at most. The best of
several rounds counts.
"""

import argparse
import json
import os
import time
from pathlib import Path

from babelquake.data import read
from babelquake.systems import system
from babelquake.systems.ctranslate2 import available

RESULTS = Path(__file__).parent / "results" / "models.json"
THREADS = 2
GOAL = 50
"""Sentences per second, greedy, on two cores."""


def measure(name: str, beam: int, sources: list[str], rounds: int) -> dict[str, float]:
    """Sentences per second by both clocks."""
    model = system(f"bundled[model={name},beam={beam},threads={THREADS}]")
    model.translate(sources[:2])
    wall, processor = [], []
    for _ in range(rounds):
        before = time.perf_counter(), time.process_time()
        model.translate(sources)
        wall.append(time.perf_counter() - before[0])
        processor.append(time.process_time() - before[1])
    model.close()
    return {
        "per_second": round(len(sources) / min(wall), 1),
        "per_processor_second": round(len(sources) / min(processor), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="headerless TSV; the bundled sample by default")
    parser.add_argument("--sentences", type=int, default=1000, help="at most this many")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.data:
        sources = [line.split("\t")[0] for line in options.data.read_text(encoding="utf-8").splitlines()]
    else:
        sources = read("sample").segments["source"].to_list()
    sources = sources[: options.sentences]
    load = round(os.getloadavg()[0], 1)
    found = {}
    for name in available():
        for beam in (1, 4):
            label = f"{name} {'greedy' if beam == 1 else f'beam {beam}'}"
            found[label] = measure(name, beam, sources, options.rounds)
            print(
                f"{label:32} {found[label]['per_second']:>8.1f}/s "
                f"{found[label]['per_processor_second']:>8.1f} per processor second",
                flush=True,
            )
    notes = [
        f"{len(sources)} sentences of {options.data.name if options.data else 'the bundled sample'}, "
        f"{sum(len(text.split()) for text in sources) / len(sources):.1f} words each, {THREADS} threads, int8",
        f"load average when this began: {load}; with more than 0 on 2 cores, per_second is too low",
        f"goal: greedy {GOAL} sentences per second on two cores",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"cases": found, "notes": notes}, indent=2) + "\n")


if __name__ == "__main__":
    main()
