"""Memory that `babelquake perturb` takes for a file of a million lines: it is a filter, so hardly more than for ten.

    python bench/perturb_memory.py [LINES]     writes bench/results/perturb_memory.json

A child process reads a file of generated lines and writes another; its peak resident memory and its processor time are
what the operating system counted for it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LINES = 1_000_000
LEVEL = 0.1
RESULTS = Path(__file__).parent / "results" / "perturb_memory.json"
SUBJECTS = ("The new government", "A spokesman for the ministry", "Our committee", "Every member of parliament")
VERBS = ("has announced that", "did not expect that", "will decide next Monday whether")
CLAUSES = ("taxes on fuel should fall", "schools, hospitals and courts need more people", "the hearing continues")
COMMAND = "import sys; from babelquake.cli import main; sys.argv[0] = 'babelquake'; main()"


def lines(count: int) -> Iterator[str]:
    """Distinct sentences: each one has its number in it."""
    for number in range(count):
        subject, verb = SUBJECTS[number % len(SUBJECTS)], VERBS[number // 4 % len(VERBS)]
        yield f"{subject} {verb} {CLAUSES[number // 12 % len(CLAUSES)]}, as document {number} says.\n"


def measure(count: int) -> dict[str, float]:
    """One run of the filter."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
        with source.open("w", encoding="utf-8") as stream:
            stream.writelines(lines(count))
        options = ["--level", str(LEVEL), "--lang", "en", "--seed", "7", str(source)]
        started = time.monotonic()
        with target.open("wb") as stream:
            subprocess.run([sys.executable, "-c", COMMAND, "perturb", "misspell", *options], stdout=stream, check=True)
        wall = time.monotonic() - started
        with target.open("rb") as stream:
            written = sum(1 for _ in stream)
    if written != count:
        raise SystemExit(f"{written} lines came out where {count} went in.")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "lines": count,
        "rss_peak_mb": round(used.ru_maxrss / 1024),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "wall_s": round(wall, 1),
    }


def main() -> None:
    """Measure, print, keep."""
    found = measure(int(sys.argv[1]) if len(sys.argv) > 1 else LINES)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
