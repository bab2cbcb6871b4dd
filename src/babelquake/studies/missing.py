"""Texts that a scorer has no score for – ready-made scores, or a function that gave NaN – named and counted."""

from collections.abc import Mapping, Sequence

import polars as pl

from babelquake.errors import UserError
from babelquake.scorers.base import Scorer

SHOWN = 80
PLACE = ["row", "perturbation", "level", "replicate"]


def missing_error(scorer: Scorer, missing: int, total: int, what: str, first_id: str, first_text: str) -> UserError:
    """Says how many texts have no score and which is the first."""
    text = first_text if len(first_text) <= SHOWN else first_text[: SHOWN - 1] + "…"
    return UserError(
        f"{scorer.name} has no score for {missing} of {total} {what}; the first is of {first_id}: “{text}”. "
        f"{scorer.silence}"
    )


def require_scores(tables: Mapping[str, pl.LazyFrame], segments: pl.DataFrame, judges: Sequence[Scorer]) -> None:
    """Every text, clean or perturbed, needs a score from each of these scorers; a remote judge may refuse some."""
    for judge in judges:
        if judge.remote:
            continue
        mine = tables["scores"].filter(pl.col("scorer") == judge.name)
        lacking = mine.filter(pl.col("score").is_nan())
        missing, total = (_number(some.select(pl.len())) for some in (lacking, mine))
        if missing:
            first = lacking.head(1).collect().row(0, named=True)
            raise missing_error(judge, missing, total, "texts", first["id"], _text(tables, segments, first))


def without_perturbed(tables: Mapping[str, pl.LazyFrame], segments: pl.DataFrame, judges: Sequence[str]) -> list[str]:
    """The scorers that know none of the texts the perturbations made; a clean text may come out of one unchanged."""
    found = []
    for name in judges:
        mine = tables["scores"].filter(pl.col("scorer") == name)
        if not _number(mine.select(pl.col("score").is_nan().sum())):
            continue
        new = (
            tables["variants"]
            .join(segments.lazy().select("text"), on="text", how="anti")
            .select(*PLACE)
            .join(mine.select(*PLACE, "score"), on=PLACE, nulls_equal=True)
        )
        if not _number(new.select(pl.col("score").is_not_nan().sum())):
            found.append(name)
    return found


def require_clean_scores(scores: pl.DataFrame, segments: pl.DataFrame, judges: Sequence[Scorer], what: str) -> None:
    """Every one of these rows needs a score, unless a remote judge refused: columns row, id, scorer and score."""
    for judge in judges:
        if judge.remote:
            continue
        mine = scores.filter(pl.col("scorer") == judge.name)
        lacking = mine.filter(pl.col("score").is_nan())
        if lacking.height:
            text = segments.filter(pl.col("row") == lacking["row"][0])["text"][0]
            raise missing_error(judge, lacking.height, mine.height, what, lacking["id"][0], text)


def _number(count: pl.LazyFrame) -> int:
    """One number out of a table that may be too large for memory."""
    return int(count.collect(engine="streaming").item())


def _text(tables: Mapping[str, pl.LazyFrame], segments: pl.DataFrame, at: Mapping[str, object]) -> str:
    if at["perturbation"] is None:
        return str(segments.filter(pl.col("row") == at["row"])["text"][0])
    here = [pl.col(name).eq_missing(pl.lit(at[name])) for name in PLACE]
    return str(tables["variants"].filter(*here).select("text").head(1).collect().item())
