"""The tables of docs/results/failures-wmt24.md from runs of `babelquake check`, as Markdown.

python scripts/failure_rates.py RUN...        # runs on wmt24/txt-ts:PAIR/pia and wmt24/txt-ts:PAIR/rocs-mt
"""

import sys
from pathlib import Path

import polars as pl

from babelquake.runs.run import Run
from babelquake.stats.intervals import wilson
from babelquake.studies.detection import ANY

MOST_KINDS = 3
FORMS = ("instruction", "switch", "switch-example", "json", "json-example")
COLUMNS = {
    "pia": [(None, None, "plain"), *((f"pia-{form}", None, form) for form in FORMS)],
    "rocs-mt": [(None, "nm", "normalised"), ("raw", "nm", "raw")],
}
"""By suite the versions of its texts: perturbation, part, and what the table calls it."""


def table(folder: Path) -> str:
    """One row per system, worst first: the share with any failure for each version, and the commonest kinds."""
    run = Run.open(folder)
    pair, rates = run.segments["language_pair"][0], run.measures.filter(pl.col("system").is_not_null())
    versions = next(known for suite, known in COLUMNS.items() if suite in str(run.info.options["data"]))
    last = versions[1:]
    lines = []
    for (system,), here in rates.group_by("system", maintain_order=True):
        cells = [_cell(_of(here, ANY, *version[:2])) for version in versions]
        counts = {
            kind: [sum(numbers) for numbers in zip(*(_of(here, kind, *version[:2]) for version in last), strict=True)]
            for kind in here["scorer"].unique()
        }
        any_count, _ = counts.pop(ANY)
        common = sorted(counts, key=lambda kind: (-counts[kind][0], kind))[:MOST_KINDS]
        kinds = ", ".join(f"`{kind}` {_cell(counts[kind])}" for kind in common if counts[kind][0])
        lines.append((-any_count, f"| {' | '.join([str(system), *cells, kinds])} |"))
    heads = ["system", *(name for *_, name in versions), "commonest kinds" if len(last) > 1 else "commonest kinds, raw"]
    rows = [row for _, row in sorted(lines)]
    return "\n".join([f"### {pair}", "", f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *rows])


def _of(rates: pl.DataFrame, kind: str, perturbation: str | None, part: str | None) -> tuple[int, int]:
    """How many translations of one version have a failure, and how many there are."""
    found = rates.filter(
        pl.col("scorer") == kind,
        pl.col("perturbation").eq_missing(perturbation),
        pl.col("group").eq_missing(part),
    )
    value, n = found.select("value", "n").row(0)
    return round(value * n / 100), n


def _cell(told: tuple[int, int] | list[int]) -> str:
    count, n = told
    low, high = wilson(count, n)
    return f"{100 * count / n:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


if __name__ == "__main__":
    print("\n\n".join(table(Path(folder)) for folder in sys.argv[1:]))
