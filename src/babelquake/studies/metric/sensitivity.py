"""How much a metric's score changes when the text does (Jwalapuram 2023 §3.1, Tables 2–4), and unknown tokens.

Δ is "better is up" for every scorer: what an error rate gained counts as a loss. Scores themselves stand as the scorer
gives them.

Unknown tokens say how much of a text a tokenizer does not know as whole words (Vu 2022 Appendix A, Algorithm 1): tokens
that are [UNK], and words that had to be split. WordPiece marks the rest of a split word with `##`; SentencePiece marks
the beginning of a word with `▁` and byte-level BPE with `Ġ`, so there a piece without the mark that holds a letter or
digit continues a word, in the same sense.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from babelquake.files import ROWS_TOGETHER
from babelquake.models.tokenizers import tokenizer
from babelquake.runs.measures import Measure
from babelquake.runs.tables import counted, same
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import bootstrap, ratio_of
from babelquake.stats.parallel import in_parallel
from babelquake.stats.resampling import Keys, by_unit
from babelquake.studies.cells import (
    Cell,
    Chosen,
    Families,
    Place,
    Scored,
    Sides,
    enough,
    exchange_of,
    measured,
    measured_loss,
)
from babelquake.studies.kinds import metric as kinds
from babelquake.studies.segment_units import Slices, keys_by_row, slices_of

KINDS = {"score": kinds.SCORE, "score_perturbed": kinds.SCORE_PERTURBED, "delta": kinds.DELTA}
PLACES = ["language_pair", "scorer", "perturbation", "level"]
TEXTS_COMPARED = 4096
"""Texts whose harmless and harmful changes are set side by side at once."""


def sensitivity(scored: Scored, meanings: Mapping[str, str], by: str | None = None) -> list[Measure]:
    """f of clean texts, f of perturbed ones and Δ, as Tables 2 and 3, and how often harmless changes cost more."""
    measures: list[Measure] = []
    families = Families()
    enough_drawn = replace(scored, resamples=enough(scored.resamples))
    for cell in sensitivity_cells(enough_drawn, slices_of(scored.segments, by)):
        place = {**cell.place.columns, "changed": cell.changed}
        named = {
            name: measured(cell.place.kind(kind), cell.numbers[name], cell.n, **place) for name, kind in KINDS.items()
        }
        named["delta"] = measured_loss(cell.place.kind(KINDS["delta"]), cell, "delta", cell.few_changed, **place)
        families.add(cell.place.asked("Δ"), named["delta"], cell.tests["delta"])
        measures += named.values()
    families.judge()
    return measures + [row for scorer in scored.scorers for row in _wrong_order(scored, scorer, meanings)]


def sensitivity_cells(scored: Scored, slices: Slices | None = None) -> Iterator[Cell]:
    """A cell per scorer, language pair and perturbation: over all texts, and over the changed ones if not all are."""
    by_name = {scorer.name: scorer for scorer in scored.scorers}
    sums, keys, draws = scored.sums, scored.keys, (scored.resamples, scored.seed)
    wanted = pl.col("perturbation").is_not_null() & pl.col("scorer").is_in(list(by_name))
    places = counted(sums, wanted, PLACES).select(PLACES)

    def make(place: Mapping[str, Any]) -> list[Cell]:
        scorer, sides = by_name[place["scorer"]], _Cut(sums, place, keys)
        found = [_cell(Place(**place), scorer, sides, None, *draws)]
        if 0 < sides.changed.sum() < len(sides.changed):
            found.append(_cell(Place(**place, only_changed=True), scorer, sides, sides.changed, *draws))
        for name, rows in (slices or {}).items():
            if (inside := np.isin(sides.rows, rows)).any():
                found.append(_cell(Place(**place, group=name), scorer, sides, inside, *draws))
        return found

    for some in in_parallel(make, places.iter_rows(named=True), len(keys)):
        yield from some


class _Cut(Sides):
    """The sides of one cell, cut from the table of sums."""

    def __init__(self, sums: pl.LazyFrame, place: Mapping[str, Any], keys: Keys) -> None:
        here = {name: place[name] for name in ("scorer", "language_pair")}
        super().__init__(sums, same(**place), same(**here, perturbation=None), ["row", "replicates", "changed"], keys)
        self.replicates, self.changed = (self.noisy.index[name].to_numpy() for name in ("replicates", "changed"))


def _cell(place: Place, scorer: Scorer, sides: _Cut, chosen: Chosen, resamples: int, seed: int) -> Cell:
    """One cell, over all its texts or over those chosen."""

    def better_up(sums: Array) -> Array:
        return scorer.sign * scorer.aggregate(sums)

    keys = sides.keys if chosen is None else sides.keys[chosen]
    changed = sides.changed if chosen is None or place.group is None else sides.changed[chosen]
    cell = Cell(place, np.unique(keys), len(keys), int(changed.sum()))
    tables = [partial(sides.baseline, sides.replicates, chosen), partial(sides.perturbed, "statistics", chosen)]
    formulas = {
        "score": lambda before, after: scorer.aggregate(before),
        "score_perturbed": lambda before, after: scorer.aggregate(after),
        "delta": lambda before, after: better_up(after) - better_up(before),
    }
    cell.compute(formulas, tables, resamples, seed)
    cell.tests["delta"] = exchange_of(cell, better_up, tables, seed)
    cell.sides.clear()
    return cell


def _wrong_order(scored: Scored, scorer: Scorer, meanings: Mapping[str, str]) -> list[Measure]:
    """How often a harmless change costs a text more than a harmful one, and a harmful one raises the score.

    The first is the point of Table 4, counted. A harmless change that costs nothing costs no more than a harmful one
    that is rewarded: that is the second.
    """
    places = ["language_pair", "perturbation", "level"]
    noisy = (pl.col("scorer") == scorer.name) & pl.col("perturbation").is_not_null()
    there = counted(scored.sums, noisy, ["perturbation"])["perturbation"]
    if not {"altering", "preserving"} <= {meanings.get(name) for name in there}:
        return []
    mine = scored.by(scorer).select(*places, "row", "score")
    lost = [_losses(texts, scorer, meanings) for texts in _some_texts(mine)]
    found = []
    for kind, counted_in in ((kinds.HARMLESS_COSTS_MORE, _costs_more), (kinds.REWARDS_HARMFUL, _rewarded)):
        total = pl.concat(map(counted_in, lost)).group_by(places, maintain_order=True).sum()
        found += [
            Measure(
                kind,
                100 * (row["more"] / row["known"]),
                row["n"],
                scorer=scorer.name,
                **{name: row[name] for name in places},
            )
            for row in total.iter_rows(named=True)
            if row["known"]
        ]
    return found


def _some_texts(table: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """A table's rows by text, a few thousand texts at a time: each is compared with others of the same text."""
    rows = int(table.select(pl.col("row").max()).collect().item()) + 1
    for start in range(0, rows, ROWS_TOGETHER):
        read = table.filter(pl.col("row").is_between(start, start + ROWS_TOGETHER - 1)).collect()
        for _, texts in read.group_by(pl.col("row") // TEXTS_COMPARED, maintain_order=True):
            yield texts


def _losses(texts: pl.DataFrame, scorer: Scorer, meanings: Mapping[str, str]) -> pl.DataFrame:
    """What every change of some texts cost, and whether it is harmless."""
    clean = texts.filter(pl.col("perturbation").is_null()).select("row", pl.col("score").alias("clean"))
    lost = texts.filter(pl.col("perturbation").is_not_null()).join(clean, on="row", maintain_order="left")
    meaning = pl.col("perturbation").replace_strict(meanings, default=None)
    return lost.with_columns(lost=scorer.sign * (pl.col("clean") - pl.col("score")), meaning=meaning)


def _costs_more(lost: pl.DataFrame) -> pl.DataFrame:
    """Per harmless change: beside how many harmful ones (`n`) it stands, and than how many it costs more."""
    harmful = lost.filter(pl.col("meaning") == "altering").select("row", pl.col("lost").alias("other"))
    shared = lost.filter(pl.col("meaning") == "preserving").join(harmful, on="row", maintain_order="left")
    return _counted(shared, (pl.col("lost") > pl.col("other")) & (pl.col("lost") > 0))


def _rewarded(lost: pl.DataFrame) -> pl.DataFrame:
    """Per harmful change: how many texts (`n`) it was made in, and in how many the score rose."""
    return _counted(lost.filter(pl.col("meaning") == "altering"), pl.col("lost") < 0)


def _counted(table: pl.DataFrame, more: pl.Expr) -> pl.DataFrame:
    return table.group_by("language_pair", "perturbation", "level", maintain_order=True).agg(
        more.sum().cast(pl.Int64).alias("more"),
        more.count().cast(pl.Int64).alias("known"),
        pl.len().cast(pl.Int64).alias("n"),
    )


FORMULAS = ((kinds.UNKNOWN_TOKENS, ratio_of(1, 0)), (kinds.UNK_SHARE, ratio_of(2, 3, times=100)))
"""Of the sums of what `_counts` gives."""
WORD_STARTS = ("▁", "Ġ")


def count_unknown(tokens: Sequence[str], unknown: str = "[UNK]") -> int:
    """Algorithm 1: unknown tokens plus words that were split.

    Taken at its word, the algorithm forgets a split word when nothing but [UNK] follows it up to the end of the
    sentence; its description (Appendix A) counts every split word, and so does this.
    """
    count, splitting = 0, False
    marked = any(token.startswith(WORD_STARTS) for token in tokens)
    for place, token in enumerate(tokens):
        if unknown in token:
            count += 1
            splitting = False
        elif place and _continues(token, marked):
            count += not splitting
            splitting = True
        else:
            splitting = False
    return count


def _continues(token: str, marked: bool) -> bool:
    """Whether a token goes on with the word before it; `marked` where the tokenizer marks the beginnings of words."""
    if token.startswith("##"):
        return True
    return marked and not token.startswith(WORD_STARTS) and any(map(str.isalnum, token))


def unknown_tokens(
    variants: pl.LazyFrame, segments: pl.DataFrame, tokenizers: Sequence[str], resamples: int, seed: int
) -> list[Measure]:
    """Average number of unknown tokens per segment, and the share of [UNK] among all tokens (Vu Figure 1, Table 4)."""
    measures: list[Measure] = []
    if not tokenizers:
        return measures
    keys = keys_by_row(segments)
    same = ["language_pair", "id", "perturbation", "level", "replicate", "text"]
    table = variants.unique(same, maintain_order=True).collect()
    groups = ["language_pair", "perturbation", "level"]
    for what in tokenizers:
        cutter = tokenizer(what)
        for values, part in table.group_by(groups, maintain_order=True):
            cut = cutter.tokens(part["text"].to_list())
            counts = np.array([_counts(some, cutter.unknown) for some in cut], dtype=np.float64)
            units, rows = by_unit(keys[part["row"].to_numpy()], counts)
            place = {**dict(zip(groups, values, strict=True)), "tokenizer": cutter.name}
            for kind, function in FORMULAS:
                drawn = bootstrap(function, [rows], resamples, seed, units)
                measures.append(measured(kind, drawn, len(cut), **place))
    return measures


def _counts(tokens: Sequence[str], unknown: str) -> tuple[int, int, int, int]:
    """Of one text: 1, unknown tokens and split words, [UNK], tokens."""
    return 1, count_unknown(tokens, unknown), sum(unknown in token for token in tokens), len(tokens)
