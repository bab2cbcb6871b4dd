"""How QE models rank without people and by people, from the runs that scripts/kanojia.sh left in a folder.

python scripts/kanojia_ranking.py MLQE-PE FOLDER

Prints Markdown: Pearson's r, MPP − MAP in standard deviations of the model's scores and the share of segments ordered
right, by all probes, by all but the copied source, and by the kinds that qe-multi has not met; then Kendall's τ of the
rankings, per pair and as a mean over the pairs, with 95 % intervals over resamples of the segments.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from babelquake.data import read
from babelquake.runs.run import Run
from babelquake.scorers import Questions
from babelquake.scorers.base import Array, MeanScorer
from babelquake.spec import Spec
from babelquake.stats.agreement import tau_b
from babelquake.stats.bootstrap import Resampled
from babelquake.studies.cells import Scored
from babelquake.studies.qe.discrimination import Probed, probed_models
from babelquake.studies.qe.study import judged_segments, pearson_cells

PAIRS = ("Ru-En", "Ro-En", "Et-En", "Si-En", "Ne-En")
MET = ("word-drop", "word-replace", "det-remove", "source-copy", "punct-remove", "punct-replace")
"""Kinds of change that qe-multi saw in training or that its rules are about."""
CHOICES: dict[str, Callable[[str], bool]] = {
    "all probes": lambda name: True,
    "all but the copied source": lambda name: name != "source-copy",
    "kinds that qe-multi has not met": lambda name: name not in MET,
}
RESAMPLES = 1000
NAMES = {"openkiwi": "predictor-estimator", "scores": "log-probability", "sentsim": "SentSim"}


class Stored(MeanScorer):
    """A scorer of a finished run: nothing but its name."""

    signature = "stored"

    def __init__(self, name: str) -> None:
        self.spec = Spec("stored")
        self.label = name

    def judge(self, questions: Questions) -> Array:
        """Never asked."""
        raise AssertionError("its scores are in the table")


def short(label: str) -> str:
    """What a model is called here, the same on every pair."""
    name, _, options = label.partition("[")
    if name == "embedding-similarity":
        return f"cosine of {options.rstrip(']').partition('=')[2]}"
    return NAMES.get(name, name)


def probed(run: Run, kept: Callable[[str], bool]) -> list[Probed]:
    """The models of a run under some of its probes."""
    probes = {label: one for label, one in run.info.facts.probes.items() if kept(label.partition("[")[0])}
    sums = run.scan("sums")
    names = sums.filter(pl.col("perturbation").is_not_null()).select("scorer").unique(maintain_order=True).collect()
    scorers = [Stored(name) for name in names["scorer"]]
    return list(probed_models(Scored(sums, run.segments, scorers, RESAMPLES, 0), probes))


def by_people(run: Run, segments: pl.DataFrame) -> tuple[dict[str, Resampled], dict[str, float]]:
    """Pearson's r of every model of a run on all segments, and the spread of its scores."""
    humans = run.table("humans")
    scorers = [Stored(name) for name in humans["scorer"].unique(maintain_order=True)]
    cells = pearson_cells(segments.head(humans["row"].n_unique()), humans, scorers, RESAMPLES, 0)
    spreads = dict(humans.group_by("scorer").agg(pl.col("score").std()).iter_rows())
    return {cell.place.scorer or "": cell.numbers["pearson"] for cell in cells}, spreads


def shown(drawn: Resampled, digits: int = 2) -> str:
    """A number with its interval."""
    found = drawn.estimate()
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def tau(one: Sequence[Resampled], other: Sequence[Resampled]) -> Resampled:
    """Kendall's τ of two rankings of the same models."""
    values = [np.array([[drawn.value for drawn in side]]) for side in (one, other)]
    least = min(len(drawn.values) for drawn in (*one, *other))
    drawn = [np.array([found.values[:least] for found in side]).T for side in (one, other)]
    return Resampled(float(tau_b(*values)[0]), tau_b(*drawn))


def table(title: str, rows: dict[str, dict[str, str]]) -> None:
    """Markdown, a column per pair."""
    print(f"\n**{title}**\n\n| | {' | '.join(PAIRS)} |\n| --- |{' --- |' * len(PAIRS)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells.get(pair, '') for pair in PAIRS)} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    people: dict[str, dict[str, Resampled]] = {}
    spreads: dict[str, dict[str, float]] = {}
    runs: dict[str, list[Run]] = {}
    for pair in PAIRS:
        files = [str(given.data / f"{part}.{pair[:2].lower()}en.df.short.tsv") for part in ("dev", "test20")]
        segments = judged_segments(read(files))
        here, clean = (
            [Run.open(place.parent) for place in sorted(given.folder.glob(f"{part}/{pair}-*/report.html"))]
            for part in ("probes", "clean")
        )
        runs[pair], people[pair], spreads[pair] = here, {}, {}
        for run in clean:
            found, spread = by_people(run, segments)
            people[pair] |= {short(name): drawn for name, drawn in found.items()}
            spreads[pair] |= {short(name): value for name, value in spread.items()}
    models = list(dict.fromkeys(name for pair in PAIRS for name in people[pair]))
    table("Pearson's r", {m: {p: shown(people[p][m]) for p in PAIRS if m in people[p]} for m in models})
    for what, kept in CHOICES.items():
        differences: dict[str, dict[str, Resampled]] = {pair: {} for pair in PAIRS}
        ordered: dict[str, dict[str, Resampled]] = {pair: {} for pair in PAIRS}
        for pair in PAIRS:
            for model in (one for run in runs[pair] for one in probed(run, kept)):
                name, cell = short(model.place.scorer or ""), model.discrimination()
                if cell is None:
                    continue
                drawn, spread = cell.numbers["discrimination"], spreads[pair][name]
                differences[pair][name] = Resampled(drawn.value / spread, drawn.values / spread)
                right = model.ordered_right
                ordered[pair][name] = right
        for title, values in (("MPP − MAP, in standard deviations", differences), ("ordered right, %", ordered)):
            digits = 2 if values is differences else 0
            table(
                f"{title}: {what}",
                {m: {p: shown(values[p][m], digits) for p in PAIRS if m in values[p]} for m in models},
            )
            taus = {}
            for pair in PAIRS:
                shared = [name for name in values[pair] if name in people[pair]]
                if len(shared) > 2:
                    taus[pair] = tau([values[pair][name] for name in shared], [people[pair][name] for name in shared])
            if taus:
                mean = Resampled(
                    float(np.mean([one.value for one in taus.values()])),
                    np.mean([one.values for one in taus.values()], axis=0),
                )
                each = "; ".join(f"{pair} {shown(one)}" for pair, one in taus.items())
                print(f"\nτ with the ranking by Pearson's r: {each}; mean {shown(mean)}")


if __name__ == "__main__":
    main()
