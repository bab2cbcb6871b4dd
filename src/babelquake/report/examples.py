"""The sentences behind the numbers, worst first: as a table, and packed into little space for the page.

Packed they are a table of distinct strings and columns of numbers, deflated, in base64. Large runs keep the most
damaged half of what fits and a keyed random sample of the rest; the page says how many of how many it shows.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.errors import UserError, setting
from babelquake.report.names import labelled, scorer_text
from babelquake.report.pages import Examples, page_of
from babelquake.report.table import Table, number
from babelquake.runs.run import AnyRun, Run, opened

SORTS = ("drop", "row")
EVERY = pl.lit(True)
"""No row is left out."""
CELL = ["perturbation", "level", "replicate"]
THAN = [f"than_{name}" for name in CELL]
"""The cell that a perturbed text is compared with, in place of the clean text."""


def examples(run: AnyRun) -> pl.LazyFrame:
    """Every judged variant with its damage: columns row, id, perturbation, level, before, after, drop …

    `with_texts` adds the perturbed `text` and the `original` of those that are shown: a large run has too many to join
    them all.
    """
    (given,) = opened(run)
    return _of(given).rows(given, EVERY)


def _of(run: Run) -> Examples:
    found = page_of(run).examples
    if found is None:
        raise UserError(f"a {run.info.study} run has no examples.")
    return found


def with_texts(run: Run, chosen: pl.DataFrame) -> pl.DataFrame:
    """Chosen examples with the perturbed text and the one that it is compared with."""
    if "text" in chosen.columns:
        return chosen
    chosen = chosen.with_columns(pl.col("level").cast(pl.Float64))  # null where no perturbation has a level
    rows = chosen["row"].unique().implode()
    variants = run.scan("variants").filter(pl.col("row").is_in(rows)).select("row", *CELL, "text").collect()
    originals = _originals(run).filter(pl.col("row").is_in(rows)).collect()
    found = chosen.join(variants, on=["row", *CELL], how="left", nulls_equal=True, maintain_order="left").join(
        originals, on="row", how="left", maintain_order="left"
    )
    if set(THAN) <= set(found.columns):
        than = variants.select(
            "row", *(pl.col(name).alias(to) for name, to in zip(CELL, THAN, strict=True)), than="text"
        )
        found = found.join(than, on=["row", *THAN], how="left", nulls_equal=True, maintain_order="left")
        found = found.with_columns(original=pl.coalesce("than", "original")).drop("than")
    return _with_errors(run, found) if run.has("spans") else found


def _with_errors(run: Run, chosen: pl.DataFrame) -> pl.DataFrame:
    """What the scorer itself marked as wrong in the perturbed text, where it was kept."""
    one = pl.element().struct
    words = pl.format("{} “{}”", one.field("severity"), one.field("text"))
    marked = run.scan("spans").select("row", "scorer", *CELL, errors=pl.col("spans").list.eval(words).list.join(", "))
    marked = marked.with_columns(errors=pl.when(pl.col("errors") == "").then(pl.lit("none")).otherwise("errors"))
    keys = ["row", "scorer", *CELL]
    found = chosen.join(marked.collect(), on=keys, how="left", nulls_equal=True, maintain_order="left")
    return found.with_columns(errors=pl.when(pl.col("after").is_not_null()).then("errors"))  # who refused said nothing


def example_table(run: AnyRun, most: int = 20, sort: str = "drop") -> Table:
    """The first examples in the wanted order."""
    if sort not in SORTS:
        raise UserError(f"{setting('sort', sort)}: expected {' or '.join(SORTS)}.")
    (given,) = opened(run)
    headings, found = _of(given).listed, examples(given)
    order = (
        found.sort("drop", descending=True, nulls_last=True, maintain_order=True)
        if sort == "drop"
        else found.sort("row")
    )
    rows = with_texts(given, order.head(most).collect())
    shown = [name for name in headings if name in rows.columns and rows[name].null_count() < rows.height]
    lines = tuple(tuple(_cell(row[name]) for name in shown) for row in rows.iter_rows(named=True))
    return Table("Examples", tuple(headings[name] for name in shown), lines)


def _originals(run: Run) -> pl.LazyFrame:
    """The clean texts: the column the study perturbed."""
    segments = run.scan("segments")
    columns = segments.collect_schema()
    if "row" not in columns:
        segments = segments.with_row_index("row")
    if "text" in columns:
        text = pl.col("text")
    elif run.info.config.get("side") == "reference":
        text = pl.col("references").list.first()
    else:
        text = pl.col(str(run.info.config.get("side", "translation")))
    return segments.select("row", text.alias("original"))


def _cell(value: object) -> str:
    return number(value, 1) if isinstance(value, float) else "" if value is None else str(value)


Facets = Sequence[tuple[str, str]]
"""What examples are filtered by: column, label."""


class Packed:
    """Examples as the page's script reads them: texts that changed, texts beside them, facets, damage."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.table = table
        self._strings: dict[str, int] = {}
        self._texts: list[dict[str, Any]] = []

    def changed(self, label: str, was: str, now: str) -> None:
        """A text before and after, by the names of their columns."""
        self._texts.append({"label": label, "was": self._numbers(was), "now": self._numbers(now)})

    def beside(self, label: str, column: str, **more: Any) -> None:
        """A text that did not change, where any example has it."""
        if column in self.table.columns and self.table[column].null_count() < self.table.height:
            self._texts.append({"label": label, "plain": self._numbers(column), **more})

    def columns(
        self, unit: str, wanted: Facets, numbers: Sequence[str] = ("drop",), called: str = "damage"
    ) -> dict[str, Any]:
        """Everything together.

        `unit` says what the damage is, or whatever it is `called`, and `numbers` are columns that are shown beside it.
        """
        return {
            "unit": unit,
            "called": called,
            **{name: _rounded(self.table[name]) for name in numbers},
            "facets": [_facet(self.table[column], label) for column, label in wanted],
            "texts": self._texts,
            "strings": list(self._strings),
            "ids": self.table["id"].to_list(),
        }

    def _numbers(self, column: str) -> list[int]:
        return _numbered(self.table[column], self._strings)


def with_scorers_shown(table: pl.DataFrame) -> pl.DataFrame:
    """Scorers as the field writes them."""
    scorers = table["scorer"].unique().to_list()
    return table.with_columns(pl.col("scorer").replace({name: scorer_text(name, scorers) for name in scorers}))


def _facet(column: pl.Series, label: str) -> dict[str, Any]:
    """A column to filter by, as numbers into its own short list."""
    known: dict[str, int] = {}
    numbers = _numbered(column, known)
    return {"key": column.name, "label": label, "values": list(known), "column": numbers}


def _numbered(texts: pl.Series, known: dict[str, int]) -> list[int]:
    """Numbers of strings in order of appearance; None is −1."""
    return [-1 if text is None else known.setdefault(text, len(known)) for text in texts]


def _rounded(column: pl.Series) -> list[float | None]:
    """Four significant digits are enough to sort and to show."""
    return [None if value is None or value != value else float(f"{value:.4g}") for value in column]


Array = np.ndarray[Any, np.dtype[Any]]


def packed(payload: dict[str, Any]) -> str:
    """JSON, deflated, in base64: letters that no browser takes for markup."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def example_columns(run: Run, most: int) -> dict[str, Any]:
    """At most so many examples as columns of numbers into a table of strings."""
    shape = page_of(run).examples
    if shape is None:
        return {"total": 0, "shown": 0, "facets": [], "texts": [], "strings": [], "drop": []}
    keys = shape.rows(run, EVERY).select(shape.who, "row", "drop").collect()
    chosen = choose(keys[shape.who], keys["row"].to_numpy(), keys["drop"].to_numpy(), most)
    rows = keys["row"].gather(chosen).unique()
    wanted = pl.col("row").is_in(rows.implode())
    nth = np.flatnonzero(np.isin(np.flatnonzero(keys["row"].is_in(rows.implode()).to_numpy()), chosen))
    shown = shape.rows(run, wanted).with_row_index("place").filter(pl.col("place").is_in(pl.Series(nth).implode()))
    table = with_texts(run, shown.collect()).sort("row", "place")
    table = table.join(_context(run, wanted), on="row", how="left", maintain_order="left")
    named = labelled(run.measures["perturbation"])
    table = table.with_columns(
        cell=pl.Series([named(*cell) for cell in table.select("perturbation", "level").iter_rows()], dtype=pl.String)
    )
    return {"total": keys.height, "shown": table.height, **shape.columns(run, table)}


def choose(groups: pl.Series, rows: Array, drops: Array, most: int) -> list[int]:
    """Places of the examples to keep: half the most damaged of each system or scorer, half at random."""
    if len(drops) <= most:
        return list(range(len(drops)))
    order = np.argsort(-np.nan_to_num(drops.astype(np.float64), nan=-np.inf), kind="stable")
    codes = groups.cast(pl.String).fill_null("").rank("dense").to_numpy()[order]
    within = np.empty(len(order), np.int64)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        within[members] = np.arange(len(members))
    worst = order[np.argsort(within, kind="stable")[: most // 2]]
    left = np.setdiff1d(np.arange(len(drops)), worst)
    drawn = left[np.argsort(mixed(left.astype(np.uint64) + (rows[left].astype(np.uint64) << np.uint64(32))))]
    return sorted([*worst.tolist(), *drawn[: most - len(worst)].tolist()])


def mixed(keys: Array) -> Array:
    """SplitMix64's finaliser: numbers that look random and depend on the key alone."""
    with np.errstate(over="ignore"):
        keys = keys + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(keys ^ (keys >> np.uint64(31)))


def _context(run: Run, wanted: pl.Expr) -> pl.DataFrame:
    """Source, translation and first reference of segments, under names that no example has."""
    segments = run.scan("segments")
    there = segments.collect_schema()
    if "row" not in there:
        segments = segments.with_row_index("row")
    texts = [
        (pl.col(name) if name in there else pl.lit(None, pl.String)).alias(f"segment_{name}")
        for name in ("source", "translation")
    ]
    reference = pl.col("references").list.first() if "references" in there else pl.lit(None, pl.String)
    return segments.filter(wanted).select("row", *texts, reference.alias("segment_reference")).collect()


FACETS = (("scorer", "Scorer"), ("cell", "Perturbation"), ("meaning", "Meaning"))
"""What examples are filtered by: column, label."""


def judged_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Every judged variant; those of a challenge set came with the data."""
    return _perturbed_here(run, wanted) if run.has("variants") else _challenge_examples(run, wanted)


def _perturbed_here(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Scores of perturbed texts beside those of what they are compared with: the damage is what the score lost.

    That is the clean text, or another perturbation of it where the suite says so.
    """
    scores = run.scan("scores").filter(wanted).with_columns(pl.col("score").fill_nan(None))
    who = [name for name in ("scorer", "system", "row") if name in scores.collect_schema()]
    changed = scores.filter(pl.col("perturbation").is_not_null()).rename({"score": "after"}).with_columns(_than(run))
    before = scores.rename(dict(zip(CELL, THAN, strict=True))).select(*who, *THAN, before="score")
    both = changed.join(before, on=[*who, *THAN], how="left", nulls_equal=True, maintain_order="left")
    return both.with_columns(drop=_damage(run))


def _than(run: Run) -> list[pl.Expr]:
    """The cell of the text that each perturbed one is compared with; that of the clean text has no perturbation."""
    rules = {label: rule for label, rule in run.info.facts.expectations.items() if rule.than is not None}
    label, levels = pl.col("perturbation"), {name: rule.level for name, rule in rules.items()}
    than = label.replace_strict({name: rule.than for name, rule in rules.items()}, default=None, return_dtype=pl.String)
    level = pl.coalesce(label.replace_strict(levels, default=None, return_dtype=pl.Float64), "level")
    replicate = pl.when(than.is_null()).then(0).otherwise("replicate").cast(pl.UInt32)
    cell = (than, pl.when(than.is_not_null()).then(level), replicate)
    return [one.alias(name) for name, one in zip(THAN, cell, strict=True)]


def _damage(run: Run) -> pl.Expr:
    """What the score lost; of scorers that count errors, what it gained."""
    errors = run.info.facts.lower_is_better
    lost = pl.col("before") - pl.col("after")
    return pl.when(pl.col("scorer").is_in(errors)).then(-lost).otherwise(lost)


def _challenge_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Triples of a challenge set, whose perturbed translations came with the data."""
    segments = (
        run.scan("segments")
        .filter(wanted)
        .select("row", pl.col("translation").alias("original"), pl.col("translation_perturbed").alias("text"))
    )
    return (
        run.scan("scores")
        .filter(wanted)
        .rename({"score": "before", "score_perturbed": "after", "phenomenon": "perturbation"})
        .join(segments, on="row", how="left", maintain_order="left")
        .with_columns(level=pl.lit(None, pl.Float64), drop=_damage(run))
    )


def judged_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The perturbed side before and after, with both scores; the other sides beside it."""
    meanings = run.info.facts.meaning | {label: found.meaning for label, found in run.info.facts.probes.items()}
    meaning = [meanings.get(label, "depends") for label in table["perturbation"]]
    packed = Packed(with_scorers_shown(table).with_columns(meaning=pl.Series(meaning, dtype=pl.String)))
    side = str(run.info.config.get("side", "translation"))
    packed.changed(side.capitalize(), "original", "text")
    for name in ("source", "translation", "reference") if side != "source" else ():
        if name != side and not (name == "reference" and _stands_in(table)):
            packed.beside(name.capitalize(), f"segment_{name}")
    packed.beside("Errors marked", "errors")
    return packed.columns("score lost", FACETS, ("drop", "before", "after"))


def _stands_in(table: pl.DataFrame) -> bool:
    """Whether there are no references: quality estimation compares with the source in their place."""
    return bool((table["segment_reference"] == table["segment_source"]).all())


EXAMPLES = Examples(judged_examples, "scorer", judged_columns)
