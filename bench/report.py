"""The HTML report of an MT run with 20,000 variants and two systems: time in a fresh process, and size of the file.

python bench/report.py            writes bench/results/report.json
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEGMENTS, LEVELS, ROUNDS = 2_500, 8, 3
RESULTS = Path(__file__).parent / "results" / "report.json"
WRITE = """
import sys
from pathlib import Path
from babelquake.report.html import write_html
from babelquake.runs.run import Run
write_html([Run.open(sys.argv[1])], Path(sys.argv[2]))
"""


def make_run(folder: Path) -> None:
    """A real run of the MT study: news-like text from the bundled sample, two systems that copy and that upper-case."""
    import polars as pl

    from babelquake.data import Dataset, read
    from babelquake.studies.mt.study import mt

    sample = read(["sample"]).segments
    words = [word for text in sample["source"] for word in text.split()]
    longer = [
        " ".join(words[(7919 * row + place * (row % 5 + 1)) % len(words)] for place in range(22))
        for row in range(SEGMENTS)
    ]
    repeated = pl.concat([sample] * -(-SEGMENTS // sample.height))[:SEGMENTS].with_columns(
        id=pl.Series([f"b:{row}" for row in range(SEGMENTS)]), source=pl.Series(longer)
    )
    levels = "|".join(f"{level / 100:g}" for level in range(2, 2 * LEVELS + 1, 2))
    mt(
        systems=["command[cmd=cat]", "command[cmd=rev]"],
        data=Dataset("bench", repeated),
        suite=f"misspell[level={levels}]",
        out=folder,
        resamples=200,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder, page = Path(temporary) / "run", Path(temporary) / "report.html"
        make_run(folder)
        from babelquake.runs.run import Run

        run = Run.open(folder)
        seconds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", WRITE, str(folder), str(page)], check=True)
            seconds.append(round(time.perf_counter() - started, 2))
        characters = int(run.variants["text"].str.len_chars().sum() / run.variants.height)
        found = {
            "variants": run.variants.height,
            "systems": 2,
            "examples": run.translations.height - 2 * SEGMENTS,
            "mean_characters": characters,
            "seconds": sorted(seconds),
            "megabytes": round(page.stat().st_size / 1e6, 2),
        }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
