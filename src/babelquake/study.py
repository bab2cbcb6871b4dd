"""The studies as Python functions: `babelquake.study.translation(...)` and its siblings.

Data may be given by name or path as on the command line. Results of costly calls are cached as the command line does;
pass an `engine` of your own to change that.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data import Dataset, read
from babelquake.engine import Cache, Engine
from babelquake.perturb.suite import Suite
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.studies.compare import Change
from babelquake.studies.compare import compare as _compare
from babelquake.studies.correlate.study import correlate as _correlate
from babelquake.studies.metric.study import metric as _metric
from babelquake.studies.mt.study import translation as _translation
from babelquake.studies.qe.study import quality as _quality
from babelquake.systems import System

Data = Dataset | str | Path | Sequence[str | Path]


def translation(
    systems: Sequence[str | System],
    data: Data,
    suite: str | Suite = "everyday",
    scorers: Sequence[str | Scorer] = ("chrf",),
    out: str | Path = "run",
    **options: Any,
) -> Run:
    """How sturdy are translation systems? See `babelquake.studies.mt.study`."""
    return _translation(systems, _read(data), suite, scorers, out, **_cached(options))


def metric(
    scorers: Sequence[str | Scorer],
    data: Data,
    suite: str | Suite = "jwalapuram2023",
    out: str | Path = "run",
    **options: Any,
) -> Run:
    """Does a metric move for the right reasons? See `babelquake.studies.metric.study`."""
    return _metric(scorers, _read(data), out, suite, **_cached(options))


def quality(
    scorers: Sequence[str | Scorer],
    data: Data,
    suite: str | Suite = "kanojia2021",
    out: str | Path = "run",
    **options: Any,
) -> Run:
    """Does a QE model see what matters? See `babelquake.studies.qe.study`."""
    return _quality(scorers, _read(data), out, suite, **_cached(options))


def correlate(scorers: Sequence[str | Scorer], data: Data, **options: Any) -> pl.DataFrame:
    """Agreement with human judgements. See `babelquake.studies.correlate.study`."""
    return _correlate(scorers, _read(data), **_cached(options))


def compare(old: Run | str | Path, new: Run | str | Path, **options: Any) -> list[Change]:
    """What fell between two runs? See `babelquake.studies.compare`."""
    before, after = (run if isinstance(run, Run) else Run.open(run) for run in (old, new))
    return _compare(before, after, **options)


def _read(data: Data) -> Dataset:
    return data if isinstance(data, Dataset) else read(data)


def _cached(options: dict[str, Any]) -> dict[str, Any]:
    return options if "engine" in options else {**options, "engine": Engine(Cache())}
