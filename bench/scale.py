"""Memory and time of whole commands for ten thousand, a hundred thousand and a million segments.

    python bench/scale.py [SIZE ...]     writes bench/results/scale.json

Each command runs in a process of its own; peak resident memory and processor time are what the operating system counted
for it and its children. The exponent is the slope of log(processor time) over log(segments), by least squares: 1 is
linear. Sizes that were measured before are kept.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from perturb_memory import lines

SIZES = (10_000, 100_000, 1_000_000)
RESULTS = Path(__file__).parent / "results" / "scale.json"
COMMAND = "import sys; from babelquake.cli import main; sys.argv[0] = 'babelquake'; main()"
COMMANDS = {
    "perturb": [
        "perturb",
        "misspell",
        "--level",
        "0.1",
        "--lang",
        "en",
        "--table",
        "{folder}/t.parquet",
        "{folder}/in.txt",
    ],
    "metric": [
        "metric",
        "-m",
        "chrf",
        "-d",
        "{folder}/d.en-de.tsv",
        "--side",
        "translation",
        "-p",
        "misspell",
        "--resamples",
        "100",
        "--cache",
        "none",
        "-q",
        "-o",
        "{folder}/metric",
    ],
    "mt": [
        "mt",
        "-s",
        "command[cmd=cat]",
        "-m",
        "chrf",
        "-d",
        "{folder}/d.en-de.tsv",
        "-p",
        "misspell",
        "--resamples",
        "100",
        "--cache",
        "none",
        "-q",
        "-o",
        "{folder}/mt",
    ],
}


def measure(words: list[str]) -> dict[str, float]:
    """One command: what the system counted for it."""
    started = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", COMMAND, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} ended with status {child.returncode}")
    return {
        "rss_peak_mb": round(used.ru_maxrss / 1024),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "wall_s": round(time.monotonic() - started, 1),
    }


def exponent(sizes: list[int], seconds: list[float]) -> float | None:
    """The slope of log(seconds) over log(size)."""
    if len(sizes) < 2:
        return None
    x, y = [math.log(size) for size in sizes], [math.log(time_) for time_ in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return round(covariance / sum((a - mean_x) ** 2 for a in x), 3)


def main() -> None:
    """Measure, print, keep."""
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for size in [int(word) for word in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            with Path(folder, "in.txt").open("w", encoding="utf-8") as stream:
                stream.writelines(lines(size))
            with Path(folder, "d.en-de.tsv").open("w", encoding="utf-8") as stream:
                stream.write("source\ttranslation\treference\n")
                stream.writelines(f"{text[:-1]}\t{text[:-2]}!\t{text[:-1]}\n" for text in lines(size))
            for name, command in COMMANDS.items():
                result = measure([word.format(folder=folder) for word in command])
                print(name, size, result, flush=True)
                found.setdefault(name, {})[str(size)] = result
                RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    for results in (found[name] for name in COMMANDS if name in found):
        sizes = sorted(int(size) for size in results if size.isdigit() and "cpu_s" in results[size])
        results["exponent"] = exponent(sizes, [results[str(size)]["cpu_s"] for size in sizes])
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
