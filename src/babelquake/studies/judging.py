"""Scorers asked about translations as they are, one model in memory at a time, and their scores as a table.

Texts that a scorer has no score for – ready-made scores, or a function that gave NaN – are named and counted.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data import Dataset
from babelquake.engine import Engine, in_turn
from babelquake.errors import UserError
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.base import Array

S = TypeVar("S", bound=Scorer)
T = TypeVar("T")


def questions_about(data: Dataset) -> Questions:
    """What scorers are asked of every translation, in the order of the data."""
    translations, sources = (data.segments[name].fill_null("").to_list() for name in ("translation", "source"))
    return Questions(translations, data.segments["references"].to_list() if data.has("references") else None, sources)


def judged_columns(segments: pl.DataFrame, by: str | None) -> pl.DataFrame:
    """Numbered segments whose `text` is judged, with the columns that they are resampled or told apart by."""
    columns = ["row", "id", "language_pair", "system", "text", "source", "translation", "references", "score"]
    columns += [name for name in dict.fromkeys(("document", by)) if name in segments.columns and name not in columns]
    return segments.drop("row", strict=False).with_row_index("row").select(columns)


def of_each(scorers: Sequence[S], told: Callable[[S], T]) -> dict[str, T]:
    """What is told of each scorer, by name and in their order; models are asked one after another."""
    found = {scorer.name: told(scorer) for scorer in in_turn(scorers)}
    return {scorer.name: found[scorer.name] for scorer in scorers}


def score_each(scorer: Scorer, questions: Questions, engine: Engine, data: str) -> Array:
    """One score per question; refused where the scorer needs references that the data of that name do not have."""
    if "reference" in scorer.needs and questions.references is None:
        raise UserError(f"{data} has no references, which scorer '{scorer.name}' needs.")
    return scorer.score_rows(engine.judge(scorer, questions))


def scores_frame(keys: pl.DataFrame, scores: Mapping[str, Array]) -> pl.DataFrame:
    """One row for each of `keys` and scorer."""
    return pl.concat(
        keys.with_columns(scorer=pl.lit(name), score=pl.Series(values, dtype=pl.Float64))
        for name, values in scores.items()
    )


SHOWN = 80
PLACE = ["row", "perturbation", "level", "replicate"]
TextOf = Callable[[Mapping[str, Any]], str]
"""Finds the text that a row of scores is of."""


def require_each(
    scorer: Scorer, scores: Array, segments: pl.DataFrame, what: str, wanted: NDArray[np.bool_] | None = None
) -> None:
    """Every translation, or every one that is wanted, needs a score from a scorer that must answer."""
    asked = np.ones(len(scores), dtype=np.bool_) if wanted is None else wanted
    if (missing := np.flatnonzero(asked & np.isnan(scores))).size and must_answer([scorer]):
        first = segments.row(int(missing[0]), named=True)
        text = first["translation"] or ""
        raise missing_error(scorer, missing.size, int(asked.sum()), what, first["id"], text)


def missing_error(scorer: Scorer, missing: int, total: int, what: str, first_id: str, first_text: str) -> UserError:
    """Says how many texts have no score and which is the first."""
    text = first_text if len(first_text) <= SHOWN else first_text[: SHOWN - 1] + "…"
    return UserError(
        f"{scorer.name} has no score for {missing} of {total} {what}; the first is of {first_id}: “{text}”. "
        f"{scorer.silence}"
    )


def require_scores(scores: pl.LazyFrame, scorers: Sequence[Scorer], what: str, text_of: TextOf) -> None:
    """Every judged text needs a score from each of these scorers; `scores` has columns id, scorer and score."""
    for scorer in scorers:
        mine = scores.filter(pl.col("scorer") == scorer.name)
        lacking = mine.filter(pl.col("score").is_nan())
        missing, total = (_number(some.select(pl.len())) for some in (lacking, mine))
        if missing:
            first = lacking.head(1).collect().row(0, named=True)
            raise missing_error(scorer, missing, total, what, first["id"], text_of(first))


def must_answer(scorers: Sequence[Scorer]) -> list[Scorer]:
    """Those that must answer; a chat model, here or elsewhere, may refuse some texts."""
    return [scorer for scorer in scorers if not (scorer.remote or scorer.may_refuse)]


def text_in(table: pl.LazyFrame, column: str, *places: str) -> TextOf:
    """Looks up the text of a row of scores in a table, by the columns that say which it is."""

    def text(row: Mapping[str, Any]) -> str:
        here = [pl.col(name).eq_missing(pl.lit(row[name])) for name in places]
        return str(table.filter(*here).select(column).head(1).collect().item())

    return text


def text_among(tables: Mapping[str, pl.LazyFrame], segments: pl.DataFrame) -> TextOf:
    """Looks it up among the clean texts or the perturbed ones."""
    clean, perturbed = text_in(segments.lazy(), "text", "row"), text_in(tables["variants"], "text", *PLACE)
    return lambda row: clean(row) if row["perturbation"] is None else perturbed(row)


def without_perturbed(tables: Mapping[str, pl.LazyFrame], segments: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """The scorers that know none of the texts the perturbations made; a clean text may come out of one unchanged."""
    found = []
    for name in names:
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


def _number(count: pl.LazyFrame) -> int:
    """One number out of a table that may be too large for memory."""
    return int(count.collect(engine="streaming").item())
