"""Translations of a finished `mt` run as data: every system's, and each sample of a system asked several times.

So that `metric --best-of` can pick among the samples of `mt --repeats`, and any study can judge what was translated
before. Translations of perturbed sources are left out: they are of other texts.
"""

from pathlib import Path

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.parquet import parquet_frame
from babelquake.data.request import Request
from babelquake.data.table import Table, columns_of, to_dataset

SEGMENTS, TRANSLATIONS = "segments.parquet", "translations.parquet"
REPEAT = "repeat"
"""What the run calls clean texts that a system was asked for again."""


def is_mt_run(what: str) -> bool:
    """Whether a folder is a run with translations."""
    return all((Path(what) / name).is_file() for name in ("run.json", SEGMENTS, TRANSLATIONS))


def read_mt_run(request: Request) -> Dataset:
    """One row per translation of a clean source; the second sample of S is the system `S, sample 2`."""
    folder = Path(request.what)
    segments, translations = (parquet_frame(Request(str(folder / name))) for name in (SEGMENTS, TRANSLATIONS))
    again = pl.col("perturbation") == REPEAT
    clean = translations.filter(pl.col("perturbation").is_null() | again)
    named = pl.when(again).then(pl.format("{}, sample {}", "system", pl.col("replicate") + 2)).otherwise("system")
    kept = clean.select("row", "translation", named.alias("system"))
    frame = kept.join(segments.drop("translation", "system", strict=False), on="row", maintain_order="left").drop("row")
    table = Table(request.what, folder.name, columns_of(frame), range(1, frame.height + 1), unit="row")
    return to_dataset(table, request.columns, request.language_pair)
