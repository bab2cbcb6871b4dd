"""Ratings on their way to other tools: tables, mt-metrics-eval's `.seg.score`, and the attack study."""

from pathlib import Path

import polars as pl

from babelquake.data import write
from babelquake.errors import UserError, setting
from babelquake.files import store_text

SIDES = ("original", "perturbed")


def export(segments: pl.DataFrame, path: str | Path, score: str = "z") -> None:
    """Write segment means: `.seg.score` as mt-metrics-eval reads it, anything else as a table (TSV, Parquet, …).

    `score` says which mean a `.seg.score` file holds, `z` or `raw`; tables hold both.
    """
    target = Path(path)
    if target.name.endswith(".score"):
        text = "".join(f"{system}\t{value}\n" for system, value in segment_scores(segments, score))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            store_text(text, target)
        except OSError as error:
            raise UserError(f"{target} cannot be written: {error.strerror}.") from None
        return
    write(segments, target)


def segment_scores(segments: pl.DataFrame, score: str = "z") -> list[tuple[str, str]]:
    """System and score of every segment of every system, `None` where nobody judged.

    Segments with numbers for names are lines of a test set, counted from 1; others keep their order of appearance.
    """
    if "language_pair" in segments.columns and segments["language_pair"].n_unique() > 1:
        raise UserError(f"a .seg.score file has one language pair. Choose it with {setting('language_pair')}.")
    names = segments["segment"].unique(maintain_order=True).to_list()
    if all(name.isdecimal() for name in names):
        names = [str(place) for place in range(1, max(map(int, names)) + 1)]
    known = {
        (system, segment): value for system, segment, value in segments.select("system", "segment", score).iter_rows()
    }
    systems = sorted(segments["system"].unique().to_list())
    return [(system, _shown(known.get((system, name)))) for system in systems for name in names]


def for_attack(segments: pl.DataFrame) -> pl.DataFrame:
    """What the attack study takes: `tuple`, `side` (original or perturbed), `z`, `mean_raw` and `n`.

    Only side-by-side ratings have it: their systems are the two sides.
    """
    if not set(segments["system"].unique()) <= set(SIDES):
        raise UserError("these are not ratings of original and perturbed translations, which the attack study needs.")
    return segments.select(
        tuple=pl.col("segment"), side=pl.col("system"), z=pl.col("z"), mean_raw=pl.col("raw"), n=pl.col("n")
    )


def _shown(value: float | None) -> str:
    return "None" if value is None else repr(value)
