"""The numbers of the metric study: how far scores move, unknown tokens, and what it does to select by a scorer.

How much a metric's score changes when the text does (Jwalapuram 2023 §3.1, Tables 2–4): Δ is "better is up" for every
scorer, so what an error rate gained counts as a loss. Scores themselves stand as the scorer gives them.

Unknown tokens say how much of a text a tokenizer does not know as whole words (Vu 2022 Appendix A, Algorithm 1): tokens
that are [UNK], and words that had to be split. WordPiece marks the rest of a split word with `##`; SentencePiece marks
the beginning of a word with `▁` and byte-level BPE with `Ġ`, so there a piece without the mark that holds a letter or
digit continues a word, in the same sense.

Selection pressure: of N candidates pick what one scorer likes best – how do the others, and people, like the pick?
Reranking, minimum Bayes risk decoding and reinforcement learning select by a metric. Candidates of a segment are the
translations that the data have of it and, with a suite, changed versions of them. What a pick among n of M candidates
is worth on average is known exactly: the candidate of rank j (from 0) is picked with C(M−1−j, n−1) / C(M, n).
Scores are in standard deviations of each judge's scores of unchanged translations, and stand against a random pick.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any

import numpy as np
import polars as pl

from babelquake.errors import UserError, setting
from babelquake.files import ROWS_TOGETHER
from babelquake.models.tokenizers import tokenizer
from babelquake.perturb.labels import known_card
from babelquake.runs.findings import Finding
from babelquake.runs.measures import Measure, Results, apart
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
    average,
    enough,
    exchange_of,
    measured,
    measured_loss,
    parts_of,
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
        parts = parts_of(sides.rows, sides.changed, slices or {})
        return [_cell(Place(**place, **part), scorer, sides, chosen, *draws) for part, chosen in parts]

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
        for row in total.filter(pl.col("known") > 0).iter_rows(named=True):
            place = {name: row[name] for name in places}
            found.append(Measure(kind, 100 * (row["more"] / row["known"]), row["n"], scorer=scorer.name, **place))
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
    harmful = lost.filter(meaning="altering").select("row", other="lost")
    shared = lost.filter(meaning="preserving").join(harmful, on="row", maintain_order="left")
    return _counted(shared, (pl.col("lost") > pl.col("other")) & (pl.col("lost") > 0))


def _rewarded(lost: pl.DataFrame) -> pl.DataFrame:
    """Per harmful change: how many texts (`n`) it was made in, and in how many the score rose."""
    return _counted(lost.filter(meaning="altering"), pl.col("lost") < 0)


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


PEOPLE, HARMFUL = "people", "harmful"
GIVEN = "given translations"
"""The part of the candidates that people may have judged: those that came with the data."""
CELL = ["row", "perturbation", "level"]


def best_of_measures(scored: Scored, meanings: Mapping[str, str], most: int) -> Iterator[Measure]:
    """For every picker, judge and number of candidates what picking gains; for all candidates, and for given ones."""
    table = _candidates(scored, meanings)
    judges = [scorer.name for scorer in scored.scorers]
    given = table.filter(pl.col("perturbation").is_null())
    several = table.height > given.height
    largest = 0
    for (pair,), part in table.group_by("language_pair", maintain_order=True):
        mine = given.filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        rated = mine if mine[PEOPLE].null_count() == 0 else None
        among = [(None if several else GIVEN, part, judges)]
        if several or rated is not None:
            among.append((GIVEN, mine, [*judges, PEOPLE] if rated is not None else judges))
        for group, some, by in among[-1:] if not several else among:
            pools = [pool for _, pool in some.group_by("key", maintain_order=True)]
            largest = max([largest, *(pool.height for pool in pools)])
            wanted = most if group is None else min(most, max(pool.height for pool in pools))
            enough = [pool for pool in pools if pool.height >= wanted]
            if wanted > 1 and enough:
                yield from _curves(enough, judges, by, wanted, {"language_pair": pair, "group": group})
    if largest < 2 or (several and largest < most):
        raise UserError(
            f"{setting('best_of', most)}: the data have at most {largest} candidates per segment. Use data with "
            f"translations of several systems, or {setting('suite', metavar='SUITE')} for changed versions of them."
        )


def _candidates(scored: Scored, meanings: Mapping[str, str]) -> pl.DataFrame:
    """One row per candidate: its segment, what every scorer says of it in standard deviations, and what people do."""
    on = [*CELL, "language_pair"]
    found = scored.sums.select(on).unique(maintain_order=True).collect()
    for scorer in scored.scorers:
        mine = scored.by(scorer).select(*on, "score").collect()
        clean = mine.filter(pl.col("perturbation").is_null())["score"].to_numpy()
        mean, spread = float(np.nanmean(clean)), float(np.nanstd(clean))
        if not spread > 0:
            raise UserError(
                f"{setting('best_of')}: {scorer.name} gives every translation the same score, so it cannot pick one."
            )
        turned = mine.with_columns(((pl.col("score") - mean) / spread * scorer.sign).alias(scorer.name)).drop("score")
        found = found.join(turned, on=on, nulls_equal=True, maintain_order="left")
    names = found["perturbation"].drop_nulls().unique().to_list()
    cards = {name: card for name in names if (card := known_card(name)) is not None}
    # a change that brings its own reference, or is made of the segment's, is no version of the translation
    whole = [name for name, card in cards.items() if card.rewrites or "reference" in card.wants]
    human = pl.col("score").cast(pl.Float64)
    rated = scored.segments.select("row", ((human - human.mean()) / human.std(ddof=0)).alias(PEOPLE))
    kept = found.filter(pl.col("perturbation").is_null() | ~pl.col("perturbation").is_in(whole))
    kept = kept.filter(pl.all_horizontal(pl.col(scorer.name).is_finite() for scorer in scored.scorers))
    return kept.join(rated, on="row", how="left", maintain_order="left").with_columns(
        key=pl.Series(scored.keys[kept["row"].to_numpy()]),
        harmful=pl.col("perturbation").replace_strict(meanings, default=None).eq_missing("altering").cast(pl.Float64),
    )


def _curves(
    pools: Sequence[pl.DataFrame], pickers: Sequence[str], judges: Sequence[str], most: int, place: Mapping[str, Any]
) -> Iterator[Measure]:
    for picker in pickers:
        for n in counts(most):
            gains = np.array([_gains(pool, picker, judges, n) for pool in pools])
            for judge, each in zip(judges, gains.T, strict=True):
                yield average(kinds.BEST_OF, each, **place, scorer=picker, other=judge, level=float(n))
            if place["group"] is None:
                shares = np.array(
                    [100 * picked(pool[picker].to_numpy(), n) @ pool[HARMFUL].to_numpy() for pool in pools]
                )
                yield average(kinds.PICKED_HARMFUL, shares, **place, scorer=picker, level=float(n))


def counts(most: int) -> list[int]:
    """1, 2, 4 … and the largest."""
    return sorted({1 << power for power in range(most.bit_length()) if 1 << power <= most} | {most})


def _gains(pool: pl.DataFrame, picker: str, judges: Sequence[str], n: int) -> Array:
    """What each judge gains on average when the picker picks among n of a segment's candidates, over a random one."""
    chances = picked(pool[picker].to_numpy(), n)
    liked = pool.select(judges).to_numpy()
    return np.asarray(chances @ liked - liked.mean(axis=0))


def picked(scores: Array, n: int) -> Array:
    """How probable it is that each candidate is the best of n drawn without replacement; equal scores share."""
    size = len(scores)
    ranked = np.array([comb(size - 1 - rank, n - 1) / comb(size, n) for rank in range(size)])
    _, places, same = np.unique(-scores, return_inverse=True, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(same)[:-1]])
    return np.asarray((np.add.reduceat(ranked, starts) / same)[places])


def best_of_findings(results: Results) -> Iterator[Finding]:
    """Per picker what it gains by its own measure, and what the others gain, at the largest number of candidates.

    Where candidates were changed, also how often the pick is a text that a change made worse.
    """
    rows = results.known(kinds.BEST_OF.name)
    for (pair, group, picker), mine in apart(rows, "language_pair", "group", "scorer"):
        top = max(row["level"] for row in mine)
        last = [row for row in mine if row["level"] == top]
        last.sort(key=lambda row: (row["other"] != picker, -float(row["value"])))
        if group is None:
            key = {"scorer": picker, "language_pair": pair, "level": top}
            last += results.known(kinds.PICKED_HARMFUL.name, **key)
        facts = {"candidates": top, "among": group or "translations and changed versions of them"}
        yield Finding.on("best_of", *last, weight="answer", level=None, facts=facts)
