"""Memory and time of whole commands for ten thousand, a hundred thousand and a million segments.

    python bench/scale.py [NAME[:SIZE] ...] [--again]     writes bench/results/scale.json

Each command runs in a process of its own; peak resident memory and processor time are what the operating system counted
for it and its children. A command on a thousand segments is its start: the exponent is the slope of log(processor time
beyond the start) over log(segments), by least squares over sizes that take at least half a second, and 1 is linear.
Small sizes are measured three times, and the fastest counts. Cells are kept one by one and not measured again unless
asked, so that a bench that was cut off goes on.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from perturb_memory import lines

START, SIZES = 1_000, (10_000, 100_000, 1_000_000)
RESULTS = Path(__file__).parent / "results" / "scale.json"
COMMAND = "import sys; from babelquake.cli import main; sys.argv[0] = 'babelquake'; main()"
SEVERAL = " ".join(f"-p {name}" for name in ("misspell", "case", "keyboard-typo", "inner-shuffle"))
STUDY = "-m chrf -d {folder}/d.en-de.tsv --cache none -q --restart -o {folder}/run"
COMMANDS = {
    "perturb": "perturb misspell --level 0.1 --lang en --table {folder}/t.parquet {folder}/in.txt",
    "metric": f"metric {STUDY} --side translation -p misspell",
    "mt": f"mt {STUDY} -s command[cmd=cat] -p misspell",
    "metric, 4 perturbations": f"metric {STUDY} --side translation {SEVERAL}",
    "mt, 2 systems": f"mt {STUDY} -s command[cmd=cat] -s command[cmd=rev] -p misspell",
}
SMALL, ROUNDS = 10_000, 3
NOTICEABLE = 0.5
"""Seconds beyond the start."""
LARGEST = {"metric, 4 perturbations": 1_000_000, "mt, 2 systems": 1_000_000}
"""Where it is not all sizes: from a hundred thousand to this."""


def measure(words: list[str]) -> dict[str, float]:
    """One command: what the system counted for it."""
    load = os.getloadavg()[0]
    started = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", COMMAND, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} ended with status {child.returncode}")
    return {
        "rss_peak_mb": round(used.ru_maxrss / 1024),
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "wall_s": round(time.monotonic() - started, 1),
        "load_before": round(load, 1),
    }


def material(folder: Path, size: int) -> None:
    """Distinct sentences, as lines and as a table with a translation and a reference."""
    with (folder / "in.txt").open("w", encoding="utf-8") as stream:
        stream.writelines(lines(size))
    with (folder / "d.en-de.tsv").open("w", encoding="utf-8") as stream:
        stream.write("source\ttranslation\treference\n")
        stream.writelines(f"{text[:-1]}\t{text[:-2]}!\t{text[:-1]}\n" for text in lines(size))


def wanted() -> list[tuple[str, int]]:
    """Every command and size there is."""
    found = []
    for name in COMMANDS:
        largest = LARGEST.get(name)
        sizes = (START, *SIZES) if largest is None else [size for size in SIZES if 100_000 <= size <= largest]
        found += [(name, size) for size in sizes]
    return found


def fitted(results: dict[str, Any]) -> dict[str, float]:
    """How processor time grows: the exponent, and what a segment costs between one size and the next."""
    seconds = {int(size): cell["cpu_s"] for size, cell in results.items() if size.isdigit()}
    if not {START, *SIZES} <= seconds.keys():
        return {}
    beyond = {size: taken - seconds[START] for size, taken in seconds.items()}
    counted = [size for size in SIZES if beyond[size] >= NOTICEABLE]
    slope = statistics.linear_regression(
        [math.log(size) for size in counted], [math.log(beyond[size]) for size in counted]
    ).slope
    steps = {
        f"µs a segment, {small:,} to {large:,}": round((beyond[large] - beyond[small]) / (large - small) * 1e6, 1)
        for small, large in pairwise(SIZES)
    }
    return {"exponent": round(slope, 3), **steps}


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("cells", nargs="*", metavar="NAME[:SIZE]", help=f"of {', '.join(COMMANDS)}; default: all")
    parser.add_argument("--again", action="store_true", help="measure again what is there")
    said = parser.parse_args()
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, size in wanted():
        if said.cells and not {name, f"{name}:{size}"} & set(said.cells):
            continue
        if str(size) in found.get(name, {}) and not said.again:
            continue
        with tempfile.TemporaryDirectory() as folder:
            material(Path(folder), size)
            words = [word.format(folder=folder) for word in COMMANDS[name].split()]
            rounds = [measure(words) for _ in range(ROUNDS if size <= SMALL else 1)]
            result = min(rounds, key=lambda round_: round_["cpu_s"])
        print(name, size, result, flush=True)
        cells = found.setdefault(name, {})
        cells[str(size)] = result
        cells.pop("growth", None)
        if growth := fitted(cells):
            cells["growth"] = growth
        RESULTS.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
