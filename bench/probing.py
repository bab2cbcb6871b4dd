"""Probing at size: throughput, peak memory, and whether memory grows with the number of segments.

    python bench/probing.py                  # 2,000 and 10,000 segments, then writes bench/results/probing.json
    python bench/probing.py 2000             # one size, printed

Every size runs in a process of its own: Kanojia's probes but MAP6 (its masked language model would be nearly all of the
time) with 20 replicates, judged by chrF, from made-up sentences of
18 words on average. Peak memory is the process's largest resident size.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("BABELQUAKE_LINGUISTICS", "lists")  # spaCy, where it is installed, takes most of the time
SIZES = (2_000, 10_000)
FULL = 100_000
RESULTS = Path(__file__).parent / "results" / "probing.json"


def sentences(count: int) -> list[tuple[str, str]]:
    """Source and translation of `count` segments, made of the words of the bundled sample."""
    from babelquake.data import read
    from babelquake.randomness import Stream

    sample = read("sample").segments
    pools = [" ".join(sample["source"]).split(), " ".join(sample["references"].list.first()).split()]
    rng = Stream(0, "bench")
    lengths = [12 + rng.below(13) for _ in range(count)]
    german, english = ([" ".join(rng.choice(pool) for _ in range(length)) for length in lengths] for pool in pools)
    return list(zip(german, english, strict=True))


def measure(count: int) -> dict[str, float | int]:
    """One run of the QE study, in this process."""
    import polars as pl

    from babelquake.data import read
    from babelquake.engine import Engine
    from babelquake.studies.qe.study import qe

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.de-en.tsv"
        rows = [("source", "translation"), *sentences(count)]
        file.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
        data = read(str(file))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started, cpu = time.monotonic(), time.process_time()
        run = qe(
            scorers="chrf",
            data=data,
            out=Path(folder) / "run",
            masked_lm="none",
            engine=Engine(quiet=True),
            resamples=200,
        )
        wall, cpu = time.monotonic() - started, time.process_time() - cpu
        texts = int(run.scan("scores").select(pl.len()).collect().item())
        tables = {name: run.path(name).stat().st_size for name in ("variants", "scores", "sums")}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "segments": count,
        "texts": texts,
        "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "texts_per_cpu_s": round(texts / cpu),
        "rss_before_mb": round(before),
        "rss_peak_mb": round(peak),
        **{f"{name}_mb": round(size / 2**20) for name, size in tables.items()},
    }


def main() -> None:
    """One size as JSON, or all sizes and what they say of the full one."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    found = []
    for size in SIZES:
        done = subprocess.run([sys.executable, __file__, str(size)], check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(found[-1])
    small, large = found
    grown = (large["rss_peak_mb"] - small["rss_peak_mb"]) / (large["segments"] - small["segments"])
    summary = {
        "sizes": found,
        "rss_growth_mb_per_1000_segments": round(1000 * grown, 2),
        "full_size": {
            "segments": FULL,
            "texts": round(large["texts"] / large["segments"] * FULL),
            "cpu_hours": round(large["cpu_s"] / large["segments"] * FULL / 3600, 2),
            "rss_peak_mb": round(large["rss_peak_mb"] + grown * (FULL - large["segments"])),
        },
    }
    RESULTS.write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    print(json.dumps(summary["full_size"]))


if __name__ == "__main__":
    main()
