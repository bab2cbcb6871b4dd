"""Rated pairs of original and perturbed translations, as Huang & Baldwin 2023 published theirs: Figures 2 and 5.

The file is a table with one row a pair, TSV, CSV or Parquet. Columns are found by the names of the authors' code or by
ours: metric, attack_algo, year, the metric's normalised score of the original and of the perturbed translation, and
people's standardised ratings of both. A column that is called otherwise is renamed in the file's header.
"""

import re
from pathlib import Path

import polars as pl

from babelquake.attacks.goal import Overpenalise
from babelquake.errors import UserError
from babelquake.papers.paper import PaperTable
from babelquake.runs.measures import measures_frame
from babelquake.studies.attack.measures import human_measures, read_ratings

NAMES = {
    "victim": ("metric", "victim"),
    "recipe": ("attack_algo", "method", "recipe"),
    "year": ("year",),
    "score": ("original_score", "score"),
    "score_perturbed": ("adv_score", "score_perturbed"),
    "human": ("human_original", "human"),
    "human_perturbed": ("human_adv", "human_perturbed"),
}
"""What is needed, and what a column that holds it may be called."""


def rated_pairs(file: Path, card: PaperTable, seed: int) -> pl.DataFrame:
    """The measures of rated pairs; metrics have the paper's names."""
    given = read_ratings(file)
    found = {name: next((column for column in known if column in given.columns), None) for name, known in NAMES.items()}
    if missing := [" or ".join(NAMES[name]) for name, column in found.items() if column is None]:
        raise UserError(
            f"{file} has no column {', no column '.join(missing)}; it has: {', '.join(given.columns)}. "
            "Rename its header."
        )
    numbers = ("score", "score_perturbed", "human", "human_perturbed")
    table = given.select(pl.col(column).alias(name) for name, column in found.items() if column is not None)
    table = table.with_columns(pl.col(*numbers).cast(pl.Float64, strict=False)).drop_nulls(numbers)
    victims = {_plain(name): name for name in card.scorers}
    recipes = {_plain(name): name for name in card.options["recipes"]}
    table = table.with_columns(
        victim=_known(file, table["victim"], victims),
        recipe=_known(file, table["recipe"], recipes),
        year="wmt" + pl.col("year").cast(pl.String).str.extract(r"(\d\d)$", 1),
    )
    goal = Overpenalise()
    table = table.with_columns(
        human_drop=pl.Series(map(goal.gain, table["human"], table["human_perturbed"]), dtype=pl.Float64),
        metric_drop=pl.Series(map(goal.gain, table["score"], table["score_perturbed"]), dtype=pl.Float64),
    )
    return measures_frame(human_measures(table, "year", seed))


def _known(file: Path, said: pl.Series, names: dict[str, str]) -> pl.Series:
    """Names of the file as the table names them."""
    plain = [_plain(str(name)) for name in said]
    if strange := next((name for name in plain if name not in names), None):
        raise UserError(f"{file}: '{strange}' is none of {', '.join(names)}.")
    return pl.Series([names[name] for name in plain], dtype=pl.String)


def _plain(name: str) -> str:
    """`deep_word_bug` and `DeepWordBug` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
