"""Bootstrap, permutation tests, rank correlations: time and memory beside sacreBLEU's bootstrap and loops over SciPy.

    python bench/stats.py            writes bench/results/stats.json
    python bench/stats.py cores      measures two cores beside one alone, and puts that into it

Every case runs in a fresh process with one thread. The time is the processor time of the best of several rounds, so
that other work on the machine counts little; the memory is the peak that tracemalloc saw in one further round (the
statistics themselves are made before and not counted).
"""

import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

SEGMENTS, RESAMPLES = 2_000, 1_000
SYSTEMS, ITEMS, DRAWS = 14, 1_300, 1_000
ROUNDS = 40
RESULTS = Path(__file__).parent / "results" / "stats.json"


def bleu_statistics(segments: int = SEGMENTS) -> np.ndarray:
    """Rows as sacreBLEU keeps them: lengths of translation and reference, matches and totals of 1- to 4-grams."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 60, (segments, 2))
    totals = np.maximum(lengths[:, :1] - np.arange(4), 0)
    return np.concatenate([lengths, rng.binomial(totals, [0.6, 0.4, 0.25, 0.15]), totals], axis=1)


def bleu(sums: np.ndarray) -> np.ndarray:
    """Corpus BLEU of summed rows, all four orders matched."""
    precision = np.log(sums[..., 2:6] / sums[..., 6:10]).mean(axis=-1)
    return 100 * np.exp(np.minimum(0, 1 - sums[..., 1] / sums[..., 0]) + precision)


def sacrebleu_resampling() -> Callable[[], object]:
    """The resampling lines of sacreBLEU's bootstrap, without the scores: draw, gather, sum."""
    rows = bleu_statistics().tolist()

    def run() -> list[np.ndarray]:
        drawn = np.random.default_rng(12345).choice(len(rows), size=(RESAMPLES, len(rows)), replace=True)
        return [resample.sum(0) for resample in np.array(rows, dtype="float32")[drawn]]

    return run


def our_resampling() -> Callable[[], object]:
    from babelquake.stats.bootstrap import resampled_sums

    rows = bleu_statistics().astype(np.float64)
    return lambda: resampled_sums(rows, RESAMPLES)


def sacrebleu_bootstrap() -> Callable[[], object]:
    """sacreBLEU's own function, scores included."""
    import sacrebleu
    from sacrebleu.significance import _bootstrap_resample

    metric, rows = sacrebleu.BLEU(), bleu_statistics().tolist()
    return lambda: _bootstrap_resample(rows, metric, RESAMPLES)


def our_bootstrap() -> Callable[[], object]:
    from babelquake.stats.bootstrap import bootstrap

    rows = bleu_statistics().astype(np.float64)
    return lambda: bootstrap(bleu, [rows], RESAMPLES).estimate()


def our_large_bootstrap() -> Callable[[], object]:
    """10,000 resamples of 100,000 segments."""
    from babelquake.stats.bootstrap import bootstrap

    rows = bleu_statistics(100_000).astype(np.float64)
    return lambda: bootstrap(bleu, [rows], 10_000).estimate()


def metric_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    human = rng.normal(70, 25, (SYSTEMS, ITEMS))
    return human, human + rng.normal(0, 50, human.shape), human + rng.normal(0, 52, human.shape)


def scipy_exchange() -> Callable[[], object]:
    """The permutation test as a loop: swap whole segments, then one scipy.stats.pearsonr per metric and draw."""
    from scipy.stats import pearsonr, zscore

    human, first, second = metric_tables()

    def run() -> float:
        rng, one, two = np.random.default_rng(0), zscore(first, axis=None), zscore(second, axis=None)
        judged = human.ravel()
        observed, larger = pearsonr(judged, one.ravel())[0] - pearsonr(judged, two.ravel())[0], 0
        for _ in range(DRAWS):
            swapped = rng.integers(0, 2, ITEMS, dtype=np.uint8).view(np.bool_)[None, :]
            left, right = np.where(swapped, two, one).ravel(), np.where(swapped, one, two).ravel()
            larger += pearsonr(judged, left)[0] - pearsonr(judged, right)[0] >= observed
        return larger / DRAWS

    return run


def our_exchange(statistic: str = "pearson", by: str | None = None) -> Callable[[], object]:
    """The test of a difference by exchanging whole segments, with the interval of the difference."""
    from babelquake.stats.agreement_bootstrap import agreement_rows
    from babelquake.stats.bootstrap import bootstrap
    from babelquake.stats.testing import exchange_test

    human, first, second = metric_tables()

    def run() -> object:
        function, one = agreement_rows(statistic, human, first, by)
        two = agreement_rows(statistic, human, second, by)[1]
        drawn = bootstrap(lambda a, b: function(a) - function(b), [one, two], DRAWS)
        return exchange_test(function, [one], [two], drawn, few=float("inf"))

    return run


def our_rank_bootstrap(statistic: str) -> Callable[[], object]:
    """1,000 resamples of a rank correlation over all 18,200 entries."""
    from babelquake.stats.agreement_bootstrap import bootstrap_agreement

    human, first, _ = metric_tables()
    return lambda: bootstrap_agreement(statistic, human, first, resamples=DRAWS)


CASES: dict[str, tuple[Callable[[], Callable[[], object]], int]] = {
    "sacrebleu resampling": (sacrebleu_resampling, ROUNDS),
    "babelquake resampling": (our_resampling, ROUNDS),
    "sacrebleu bootstrap": (sacrebleu_bootstrap, ROUNDS),
    "babelquake bootstrap": (our_bootstrap, ROUNDS),
    "babelquake bootstrap 100,000 x 10,000": (our_large_bootstrap, 1),
    "scipy loop exchange pearson": (scipy_exchange, 2),
    "babelquake exchange pearson": (our_exchange, ROUNDS),
    "babelquake exchange pearson by item": (lambda: our_exchange("pearson", "item"), 10),
    "babelquake exchange kendall_like": (lambda: our_exchange("kendall_like"), 10),
    "babelquake bootstrap spearman": (lambda: our_rank_bootstrap("spearman"), 2),
    "babelquake bootstrap kendall": (lambda: our_rank_bootstrap("kendall"), 2),
}


def measure(name: str) -> dict[str, float]:
    """Best processor time in milliseconds and peak memory in MB of one case, in this process."""
    make, rounds = CASES[name]
    run = make()
    times = []
    for _ in range(rounds + (rounds > 1)):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    if rounds > 1:
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1]
    else:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"ms": round(min(times) * 1e3, 2), "peak_mb": round(peak / 1e6, 2)}


def two_cores() -> dict[str, float]:
    """How many times faster resampling is on two cores than on one, by the wall clock, and the load before."""
    from babelquake.stats.bootstrap import resampled_sums

    load = os.getloadavg()[0]
    rows = bleu_statistics(100_000).astype(np.float64)
    resampled_sums(rows[:5000], 1000)
    best = {"1": float("inf"), "2": float("inf")}
    for _ in range(8):
        for cores in best:
            os.environ["BABELQUAKE_CORES"] = cores
            start = time.perf_counter()
            resampled_sums(rows, 2_000)
            best[cores] = min(best[cores], time.perf_counter() - start)
    del os.environ["BABELQUAKE_CORES"]
    return {
        "resampling on two cores: times faster than on one": round(best["1"] / best["2"], 2),
        "load average before the two cores": round(load, 1),
    }


def main() -> None:
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    found: dict[str, dict[str, float]] = {}
    for name in CASES:
        answer = subprocess.run([sys.executable, __file__, name], env=one_thread, check=True, capture_output=True)
        found[name] = json.loads(answer.stdout)
        print(f"{name:45} {found[name]['ms']:>10.2f} ms {found[name]['peak_mb']:>9.2f} MB", flush=True)
    ratios = {}
    for part in ("resampling", "bootstrap"):
        theirs, ours = found[f"sacrebleu {part}"], found[f"babelquake {part}"]
        ratios[f"{part}: times faster than sacreBLEU"] = round(theirs["ms"] / ours["ms"], 1)
        ratios[f"{part}: times less memory than sacreBLEU"] = round(theirs["peak_mb"] / ours["peak_mb"], 1)
    loop, ours = found["scipy loop exchange pearson"], found["babelquake exchange pearson"]
    ratios["exchange: times faster than a SciPy loop"] = round(loop["ms"] / ours["ms"], 1)
    ratios |= two_cores()
    for name, ratio in ratios.items():
        print(f"{name:45} {ratio:>10.1f}")
    notes = [
        f"bootstrap: {SEGMENTS:,} segments x {RESAMPLES:,} resamples of BLEU statistics",
        f"exchange, rank correlations: {SYSTEMS} systems x {ITEMS:,} segments x {DRAWS:,} draws",
        "two cores: wall-clock time of 100,000 segments x 2,000 resamples, best of eight rounds that alternate",
        "time is processor time of one thread, best of several rounds",
        "peak memory by tracemalloc; for 100,000 x 10,000 the whole process",
        "mt-metrics-eval is not compared: it is not published as an installable package under its name; "
        "the SciPy loop does the same work",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"cases": found, "ratios": ratios, "notes": notes}, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["cores"]:
        kept = json.loads(RESULTS.read_text())
        kept["ratios"] |= two_cores()
        RESULTS.write_text(json.dumps(kept, indent=2) + "\n")
        print(kept["ratios"])
    elif len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
