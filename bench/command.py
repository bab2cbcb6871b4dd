"""What a `command` system costs a batch: milliseconds of wall and of processor time, with `cat` as the program.

    python bench/command.py     writes bench/results/command.json

The program stays open; a batch of a hundred lines is written and as many are read back. Best of several rounds.
"""

import json
import os
import time
from pathlib import Path

from babelquake.systems import system

LINES, BATCHES, ROUNDS = 100, 50, 5
RESULTS = Path(__file__).parent / "results" / "command.json"


def main() -> None:
    """Measure, print, keep."""
    made = system("command[cmd=cat]")
    made.translate(["a"] * LINES)
    best = {"wall_ms": float("inf"), "cpu_ms": float("inf")}
    for number in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for batch in range(BATCHES):
            texts = [
                f"Satz {number} {batch} {line}, der ungefähr so lang ist wie andere auch." for line in range(LINES)
            ]
            if made.translate(texts) != texts:
                raise SystemExit("cat does not give back what it gets")
        best["wall_ms"] = min(best["wall_ms"], (time.perf_counter() - wall) / BATCHES * 1e3)
        best["cpu_ms"] = min(best["cpu_ms"], (time.process_time() - cpu) / BATCHES * 1e3)
    made.close()
    found = {name: round(value, 2) for name, value in best.items()}
    print(found)
    record = {"lines_per_batch": LINES, **found, "load_average": round(os.getloadavg()[0], 1)}
    RESULTS.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
