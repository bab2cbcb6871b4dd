"""The tables of docs/results/subword-regularisation.md as Markdown, from the runs of scripts/subword_study.sh.

python scripts/subword_tables.py OUT
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from babelquake import Run
from babelquake.scorers import scorer
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.pvalues import p_value
from babelquake.studies.mt.cells import harmonic_mean

BLEU = "bleu[lowercase=true]"
NAMES = {"de-en-bpe": "BPE", "de-en-bpe-dropout": "BPE-dropout", "de-en-sentencepiece": "SentencePiece"}
CONDITIONS = (("misspell", 0.1), ("case", 0.5))

Cells = dict[tuple[str, str, float], dict[str, dict[str, Any]]]
"""(system, perturbation, level) → measure → row."""


def short(system: str) -> str:
    """`bundled[model=de-en-bpe]` or `ctranslate2[model=…/de-en-bpe,…]` → BPE; differences keep their minus."""
    parts = [part.partition("model=")[2].rstrip("]").partition(",")[0] for part in system.split(" − ")]
    return " − ".join(NAMES[Path(part.strip("'\"")).name] for part in parts)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def cells(run: Run) -> Cells:
    """The measures of a run."""
    found: Cells = {}
    rows = run.measures.filter(pl.col("scorer").eq(BLEU) & pl.col("perturbation").is_not_null())
    for row in rows.iter_rows(named=True):
        found.setdefault((short(row["system"]), row["perturbation"], row["level"]), {})[row["measure"]] = row
    return found


def with_deviation(row: dict[str, Any]) -> str:
    return f"{row['value']:.2f} ± {row['sd']:.2f}"


def with_interval(row: dict[str, Any]) -> str:
    return f"{row['value']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]".replace("-", "−")


def p_text(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def over_draws(run: Run) -> dict[tuple[str, str, float], tuple[list[float], list[float]]]:
    """ROBUST and CONSIS of each of the draws of noise apart."""
    bleu = scorer(BLEU)

    def quality(some: pl.DataFrame, column: str) -> float:
        return float(bleu.aggregate(np.array(some[column].to_list()).sum(axis=0)))

    found: dict[tuple[str, str, float], tuple[list[float], list[float]]] = {}
    scores = bleu_scores(run)
    for (system,), part in scores.group_by(["system"], maintain_order=True):
        clean = quality(part.filter(pl.col("perturbation").is_null()), "statistics")
        noisy = part.filter(pl.col("perturbation").is_not_null())
        for (change, level, _), some in noisy.group_by(["perturbation", "level", "replicate"], maintain_order=True):
            robust, consis = found.setdefault((short(str(system)), str(change), float(level)), ([], []))
            robust.append(100 * quality(some, "statistics") / clean)
            agreement = [np.asarray(quality(some, side)) for side in ("forward", "backward")]
            consis.append(float(harmonic_mean(*agreement)))
    return found


def clean_differences(run: Run) -> list[list[str]]:
    """BLEU of one model minus another's on clean text, paired over resamples."""
    scores = bleu_scores(run).filter(pl.col("perturbation").is_null())
    bleu = scorer(BLEU)
    drawn = {}
    for (system,), part in scores.group_by(["system"], maintain_order=True):
        rows = np.array(part.sort("row")["statistics"].to_list())
        drawn[short(str(system))] = Resampled(
            float(bleu.aggregate(rows.sum(axis=0))), bleu.aggregate(resampled_sums(rows, 10_000, 1))
        )
    found = []
    for one, other in combinations(drawn, 2):
        difference = drawn[one] - drawn[other]
        estimate = difference.estimate()
        row = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        found.append([f"{one} − {other}", with_interval(row), p_text(p_value(difference.null, difference.value))])
    return found


def bleu_scores(run: Run) -> pl.DataFrame:
    return run.scores.lazy().filter(pl.col("scorer").eq(BLEU)).collect()


def sweep(seed: int, found: Cells) -> None:
    """ROBUST and CONSIS of every model and level, and how they go together."""
    points = {
        key: (cell["robust"]["value"], cell["consis"]["value"]) for key, cell in found.items() if "robust" in cell
    }
    levels = sorted({key[1:] for key in points}, key=lambda key: (key[0] != "misspell", key))
    print(f"### Sweep, training seed {seed}\n")
    table(
        ["noise", *(f"{name}: ROBUST, CONSIS" for name in NAMES.values())],
        [
            [f"{change} {level}", *("{:.1f}, {:.1f}".format(*points[name, change, level]) for name in NAMES.values())]
            for change, level in levels
        ],
    )
    for which in ("misspell", "case", None):
        some = np.array([point for key, point in points.items() if which in (None, key[1])])
        print(f"{which or 'both'}: Pearson's r = {np.corrcoef(some.T)[0, 1]:.3f} over {len(some)} points")
    print()


def main() -> None:
    out = Path(sys.argv[1])
    runs = {seed: Run.open(out / f"seed{seed}") for seed in (1, 2) if (out / f"seed{seed}").is_dir()}
    results = {seed: cells(run) for seed, run in runs.items()}
    print("### Clean\n")
    rows = [[seed, *row] for seed, run in runs.items() for row in clean_differences(run)]
    table(["training seed", "difference", "BLEU", "p, not corrected"], rows)
    print("### Table 3\n")
    rows = []
    for condition in CONDITIONS:
        for name in NAMES.values():
            for seed, found in results.items():
                cell = found[name, *condition]
                numbers = (with_deviation(cell[key]) for key in ("quality", "quality_perturbed", "robust", "consis"))
                rows.append([f"{condition[0]} {condition[1]}", name, seed, *numbers])
    table(["noise", "segmentation", "training seed", "BLEU clean", "BLEU noisy", "ROBUST", "CONSIS"], rows)
    print("### Differences\n")
    for seed, found in results.items():
        rows = [
            [
                f"{change} {level}",
                pair,
                *(
                    f"{with_interval(cell[key])}, p {p_text(cell[key]['p_corrected'])}"
                    for key in ("robust_difference", "consis_difference")
                ),
            ]
            for (pair, change, level), cell in found.items()
            if "robust_difference" in cell
        ]
        print(f"training seed {seed}\n")
        table(["noise", "difference", "ROBUST", "CONSIS"], rows)
    for seed, found in results.items():
        sweep(seed, found)
    print("### Draws of noise\n")
    rows = []
    for seed, run in runs.items():
        for (name, change, level), (robust, consis) in over_draws(run).items():
            if (change, level) in CONDITIONS:
                rows.append(
                    [
                        f"{change} {level}",
                        name,
                        seed,
                        " ".join(f"{value:.1f}" for value in robust),
                        " ".join(f"{value:.1f}" for value in consis),
                    ]
                )
    table(["noise", "segmentation", "training seed", "ROBUST of each draw", "CONSIS of each draw"], rows)


if __name__ == "__main__":
    main()
