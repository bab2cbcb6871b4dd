"""How fast the string scorers are beside sacreBLEU, in one run and one thread; and on two cores beside one.

Two shapes of work: one reference judged against many variants of a translation, and plain pairs with a reference each.
Prints a table and writes `bench/results/strings.json`. Usage: `python bench/strings.py [--segments N | --cores]`.
"""

import argparse
import gzip
import json
import logging
import os
import platform
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
from rich.console import Console
from rich.table import Table
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from babelquake.engine import Engine
from babelquake.scorers import Questions, scorer
from babelquake.version import VERSION

HERE = Path(__file__).resolve().parent
GOALS = {
    ("chrf", "variants"): 30,
    ("chrf", "pairs"): 20,
    ("bleu", "variants"): 8,
    ("bleu", "pairs"): 4,
    ("ter", "variants"): 5,
    ("ter", "pairs"): 5,
}
METRICS: dict[str, Callable[[], Any]] = {
    "chrf": CHRF,
    "chrf++": lambda: CHRF(word_order=2),
    "bleu": lambda: BLEU(effective_order=True),
    "ter": TER,
}
ROUNDS = 5
"""Each side is timed so often, taking turns; the fastest round counts."""
RESULTS = HERE / "results" / "strings.json"
CORES = "times faster on two cores"
LONG = 20_000
"""Segments that are judged on one core and on two."""

Segments = list[tuple[str, str]]


def real_pairs() -> Segments:
    """One translation for each distinct reference of WMT12, WMT17 and WMT22 de-en."""
    folder = Path(os.environ.get("BABELQUAKE_DATA", HERE.parents[1] / "shared" / "data"))
    path = folder / "metric-attacks" / "de-en.tuples.tsv.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    return list({row[5]: (row[4], row[5]) for row in rows}.values())


def invented_pairs(count: int, rng: random.Random) -> Segments:
    """Sentences of made-up words with the lengths and word frequencies of news, and changed versions of them."""
    letters = "etaoinshrdlucmfwypvbgk"
    weights = [1 / (rank + 1) for rank in range(len(letters))]
    vocabulary = ["".join(rng.choices(letters, weights, k=rng.randint(1, 9))) for _ in range(20000)]
    frequency = [1 / (rank + 2) for rank in range(len(vocabulary))]
    references = [" ".join(rng.choices(vocabulary, frequency, k=rng.randint(12, 40))) + "." for _ in range(count)]
    return [(next(variants(reference, rng)), reference) for reference in references]


def variants(text: str, rng: random.Random) -> Iterator[str]:
    """Endless versions of a text: one word in four dropped, moved or misspelt, none like another."""
    number = 0
    while True:
        words = []
        for word in text.split():
            change = rng.random()
            if change > 0.25:
                words.append(word)
            elif change > 0.16:
                words.insert(rng.randint(0, len(words)), word)
            elif change > 0.08:
                words.append(word[::-1])
        number += 1
        yield " ".join(words) + f" {number}"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time one call takes, and what it returns: other programs on the machine do not count.

    sacreBLEU's tokenisers remember lines; both sides start every round without such memories.
    """
    for tokeniser in (Tokenizer13a, TokenizerRegexp, TercomTokenizer):
        tokeniser.__call__.cache_clear()
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def compare(name: str, segments: Segments, theirs_share: int) -> dict[str, float]:
    """Segments per second of both, ours on all segments, theirs on every `theirs_share`th."""
    ours, theirs = scorer(name), METRICS[name]
    translations, references = [pair[0] for pair in segments], [pair[1] for pair in segments]
    ours.segments(translations[:20], references[:20])
    sample = segments[::theirs_share]
    our_seconds, their_seconds = [], []
    for _ in range(ROUNDS):
        metric = theirs()
        seconds, scores = timed(lambda: ours.segments(translations, references))
        our_seconds.append(seconds)
        seconds, expected = timed(lambda metric=metric: [metric.sentence_score(t, [r]).score for t, r in sample])
        their_seconds.append(seconds)
    difference = float(np.abs(scores[::theirs_share] - expected).max())
    our_speed, their_speed = len(segments) / min(our_seconds), len(sample) / min(their_seconds)
    return {
        "segments": len(segments),
        "babelquake_per_second": round(our_speed),
        "sacrebleu_per_second": round(their_speed),
        "ratio": round(our_speed / their_speed, 1),
        "greatest_difference": difference,
    }


def two_cores(name: str, pairs: Segments) -> float:
    """How many times faster a scorer is on two cores than on one through the engine, by the wall clock."""
    made, engine = scorer(name), Engine(quiet=True)
    questions = Questions([pair[0] for pair in pairs], [[pair[1]] for pair in pairs])
    best = {"1": float("inf"), "2": float("inf")}
    found = []
    for _ in range(3):
        for cores in best:
            os.environ["BABELQUAKE_CORES"] = cores
            start = time.perf_counter()
            found.append(engine.judge(made, questions))
            best[cores] = min(best[cores], time.perf_counter() - start)
    del os.environ["BABELQUAKE_CORES"]
    if not all(np.array_equal(rows, found[0]) for rows in found):
        raise SystemExit(f"{name} gives other numbers on two cores")
    return round(best["1"] / best["2"], 2)


def cores() -> dict[str, float]:
    """Two cores beside one, for every scorer."""
    load = round(os.getloadavg()[0], 1)
    many = invented_pairs(LONG, random.Random(2))
    found = {name: two_cores(name, many) for name in METRICS}
    print("two cores:", found, "load average before:", load)
    return {"segments": LONG, "load_average_before": load, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=2000, help="how many variants to judge")
    parser.add_argument("--cores", action="store_true", help="only two cores beside one")
    said = parser.parse_args()
    if said.cores:
        before = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**before, CORES: cores()}, indent=2) + "\n", "utf-8")
        return
    count = said.segments
    logging.disable(logging.WARNING)
    rng = random.Random(1)
    real = real_pairs()
    pairs = real or invented_pairs(1500, rng)
    reference = sorted((pair[1] for pair in pairs), key=len)[len(pairs) // 2]
    stream = variants(reference, rng)
    shapes = {"variants": [(next(stream), reference) for _ in range(count)], "pairs": pairs}
    table = Table("scorer", "shape", "segments", "babelquake/s", "sacreBLEU/s", "ratio", "goal")
    results = []
    for name in METRICS:
        for shape, segments in shapes.items():
            row = compare(name, segments, 10 if name == "ter" else 2)
            goal = GOALS.get((name, shape))
            results.append({"scorer": name, "shape": shape, **row, "goal": goal})
            speeds = (row["segments"], row["babelquake_per_second"], row["sacrebleu_per_second"])
            table.add_row(name, shape, *(f"{value:,}" for value in speeds), f"{row['ratio']} ×", f"{goal or ''}")
    Console().print(table)
    versions = {"babelquake": VERSION, "sacrebleu": sacrebleu.__version__, "python": platform.python_version()}
    report = {"data": "WMT de-en" if real else "invented", "threads": 1, "versions": versions, "results": results}
    RESULTS.write_text(json.dumps({**report, CORES: cores()}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
