"""What systems translated in a finished run, read as data."""

import itertools
from pathlib import Path

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt


def test_samples_of_a_system_are_candidates_of_best_of(tmp_path: Path) -> None:
    """Three answers to every clean text are three systems; translations of perturbed texts are none of them."""
    sources = [f"Der Tee Nummer {number} ist heiß." for number in range(8)]
    data = {"source": sources, "reference": [f"Tea number {number} is hot." for number in range(8)]}
    number = itertools.count()

    def sampled(texts: list[str]) -> list[str]:
        return [f"Tea number {next(number)} is {'very ' * (next(number) % 5)}hot." for _ in texts]

    engine = Engine(quiet=True)
    options = {"language_pair": "de-en", "resamples": 100, "engine": engine, "suite": "case"}
    run = mt(data=data, systems=[sampled], scorers="chrf", repeats=3, out=tmp_path / "samples", **options)
    again = read(str(run.folder))
    names = again.segments["system"].unique(maintain_order=True).to_list()
    first, *others = names
    assert others == [f"{first}, sample 2", f"{first}, sample 3"]
    assert again.segments.height == 24 and again.segments["references"].list.len().unique().to_list() == [1]
    assert again.segments.filter(system=first)["source"].to_list() == sources
    best = metric(
        data=str(run.folder), scorers=["chrf", "bleu"], best_of=3, out=tmp_path / "best", resamples=100, engine=engine
    )
    rows = best.measures.filter(measure="best_of", scorer="chrf", other="chrf", level=3.0)
    assert rows["value"].item() > 0
