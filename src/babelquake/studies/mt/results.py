"""All results of the MT study: cells and their tests, inconsistency, differences, ranks, overall figures, failures.

Robustness is relative: whoever copies, or always says the same, loses nothing under noise. So every run has the quality
of a copy of the source, and of one sentence for everything, beside that of its systems on clean text, by chrF, and by
BLEU and TER where they judge.

Failures: for each language pair and system the share of clean translations with each kind (`failures`), the share under
each perturbation (`failures` of that perturbation), and the difference on the same segments with a paired test
(`failures_delta`), all kinds, systems and perturbations of a language pair in one family. `hallucination` is Lee et
al.'s (2018): translations that were fine for the clean source and loop, are detached or in another language for the
perturbed.
"""

import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from babelquake.engine import Progress
from babelquake.languages import sides
from babelquake.perturb.labels import REPEAT, known_card
from babelquake.runs.measures import Kind, Measure
from babelquake.runs.run import Run
from babelquake.runs.tables import counted, same
from babelquake.scorers import Questions, Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.scorers.base import Array
from babelquake.scorers.strings.bleu import Bleu
from babelquake.scorers.strings.chrf import ChrF
from babelquake.scorers.strings.ter import Ter
from babelquake.stats.bootstrap import Resampled, bootstrap, ratio_of, resampled_sums
from babelquake.stats.intervals import rate_sd
from babelquake.stats.reliability import components
from babelquake.stats.resampling import by_unit
from babelquake.stats.testing import exchange_test
from babelquake.studies.cells import Cell, Families, enough, measured, share
from babelquake.studies.detection import ANY, cards_with, failure_cells, kinds_of_exchange
from babelquake.studies.kinds import mt as kinds
from babelquake.studies.kinds import over_changed
from babelquake.studies.mt.cells import Judged, cells, places, quality
from babelquake.studies.mt.robustness import (
    cell_measures,
    defence_measures,
    defended_in,
    overall,
    overall_figures,
    ranks,
    robust_consis_correlation,
    self_agreement,
    system_differences,
)
from babelquake.studies.options import FailureEncoder
from babelquake.systems import System

INVENTED = ("detached", "loop", "off-target", "source-language")
"""What makes a translation a hallucination where its clean counterpart has none of it."""
NOISE = ["perturbation", "level"]


def failure_measures(judged: Judged, failures: pl.LazyFrame, encoder: FailureEncoder = "none") -> list[Measure]:
    """Rates clean and perturbed, differences and hallucinations."""
    lines = pl.col("exchange").struct.field("lines").list.len()
    made = (
        judged.translations.filter(judged.told)
        .select("language_pair", "system", "row", *NOISE, "replicate", lines=lines)
        .with_columns(lines=pl.col("lines").max().over("language_pair", "system"))
        .collect()
    )
    found = failures.filter(judged.told).select("language_pair", "system", "row", *NOISE, "replicate", "kind").collect()
    measures: list[Measure] = []
    families = Families()
    for (pair, system), here in made.group_by(["language_pair", "system"], maintain_order=True):
        same = (pl.col("language_pair").eq_missing(pair), pl.col("system") == system)
        flags = found.filter(*same)
        place = {"language_pair": pair, "system": system}
        occurring = sorted(flags["kind"].unique().to_list())
        clean = _flagged(here.filter(pl.col("perturbation").is_null()), flags, occurring)
        parts = here["lines"][0]
        cards = cards_with(encoder, *sides(pair), injected=bool(_injecting(here["perturbation"])))
        cards += [] if parts is None else kinds_of_exchange(parts > 0)
        measures += _clean_rates(clean, [card.kind for card in cards], occurring, place)
        for (perturbation, level), part in here.drop_nulls("perturbation").group_by(NOISE, maintain_order=True):
            cell = {**place, "perturbation": perturbation, "level": level}
            noisy = _flagged(part, flags, occurring)
            measures += _perturbed_rates(judged, clean, noisy, occurring, cell, families)
    return [*measures, *families.judge()]


def _flagged(made: pl.DataFrame, flags: pl.DataFrame, kinds_: list[str]) -> pl.DataFrame:
    """One row per translation: its row, and for each kind whether it has it, `any` first."""
    on = ["row", *NOISE, "replicate"]
    told = made.select(on)
    for kind in [ANY, *kinds_]:
        some = flags if kind == ANY else flags.filter(pl.col("kind") == kind)
        marked = some.select(on).unique().with_columns(pl.lit(1.0).alias(kind))
        told = told.join(marked, on=on, how="left", nulls_equal=True, maintain_order="left")
    if invented := [kind for kind in kinds_ if kind in INVENTED]:
        told = told.with_columns(invented=pl.max_horizontal(invented))
    else:
        told = told.with_columns(invented=pl.lit(None, pl.Float64))
    return told.with_columns(pl.col(ANY, "invented", *kinds_).fill_null(0.0))


def _clean_rates(
    clean: pl.DataFrame, served: list[str], occurring: list[str], place: dict[str, str | None]
) -> list[Measure]:
    """The rate of every kind that was looked for, those that do not occur included: a gate asks for these too."""
    n = clean.height
    measures = []
    for kind in [ANY, *served, *(kind for kind in occurring if kind not in served)]:
        count = int(clean[kind].sum()) if kind == ANY or kind in occurring else 0
        measures.append(share(kinds.FAILURES, count, n, sd=100 * rate_sd(count, n), scorer=kind, **place))
    return measures


def _perturbed_rates(
    judged: Judged,
    clean: pl.DataFrame,
    noisy: pl.DataFrame,
    occurring: list[str],
    place: dict[str, str | float | None],
    families: Families,
) -> Iterator[Measure]:
    """The rates of one perturbation, and their differences from those of the same segments' clean translations."""
    names = [ANY, "invented", *occurring]
    before = noisy.select("row").join(
        clean.select("row", *names).unique("row", maintain_order=True), on="row", how="left", maintain_order="left"
    )
    units = judged.keys[noisy["row"].to_numpy()]
    first = np.column_stack([before.select(names).fill_null(0.0).to_numpy(), np.ones(noisy.height)])
    second = np.column_stack([noisy.select(names).to_numpy(), np.ones(noisy.height)])
    fresh = (second[:, 1] > first[:, 1]).astype(np.float64)
    together = np.column_stack([100 * first[:, :-1], 100 * second[:, :-1], 100 * fresh, first[:, -1]])
    ordered, rows = by_unit(units, together)
    drawn, whole = resampled_sums(rows, enough(judged.resamples), judged.seed, ordered), rows.sum(axis=0)
    n, count = noisy["row"].n_unique(), len(names)
    family = (str(place["language_pair"]), "failures", "more failures under perturbation")
    for number, kind in enumerate(names):
        if kind == "invented":
            continue
        was, now = (_column(whole, drawn, column) for column in (number, count + number))
        yield measured(kinds.FAILURES, now, n, scorer=kind, **place)
        if not was.value and not now.value:
            continue
        delta = now - was
        sides_ = [rows[:, [column, -1]] for column in (count + number, number)]
        test = exchange_test(ratio_of(0, 1), [sides_[0]], [sides_[1]], delta, seed=judged.seed, keys=ordered)
        families.add(family, measured(kinds.FAILURES_DELTA, delta, n, scorer=kind, **place), test)
    invented = _column(whole, drawn, 2 * count)
    yield measured(kinds.HALLUCINATION, invented, n, **place)


def _column(whole: Array, drawn: Array, column: int) -> Resampled:
    """A column's sum over that of the last, the number of translations."""
    share = ratio_of(column, -1)
    return Resampled(float(np.asarray(share(whole))), np.asarray(share(drawn)))


MOST = 2_000
"""Segments that baselines are measured on, evenly spread, so that they cost the same however large the data are."""
CANDIDATES, TRIED_ON = 16, 100
"""Sentences that are tried as the one for everything, and the segments they are tried on."""


def baselines(segments: pl.DataFrame, translations: pl.LazyFrame, scorers: Sequence[Scorer]) -> Iterator[Measure]:
    """Per language pair and string metric: quality of each system's clean text, of a copy, of one sentence for all."""
    chrf = scorer_of("chrf")
    told = [chrf, *(one for one in scorers if isinstance(one, Bleu | ChrF | Ter) and one.name != chrf.name)]
    usable = segments.filter(
        pl.col("source").str.strip_chars() != "",
        pl.col("references").list.eval(pl.element().str.strip_chars() != "").list.any(),
    )
    for (pair,), every in usable.group_by("language_pair", maintain_order=True):
        part = every.gather_every(-(-every.height // MOST))
        clean = _clean(translations, part["row"])
        fixed = _one_for_all(part)
        for scorer in told:
            place = {"language_pair": pair, "scorer": scorer.name}
            for system, texts in clean.items():
                value = _quality(scorer, texts, part)
                yield Measure(kinds.BASELINE_SYSTEM, value, part.height, system=system, **place)
            yield Measure(kinds.BASELINE_COPY, _quality(scorer, part["source"].to_list(), part), part.height, **place)
            yield Measure(kinds.BASELINE_CONSTANT, _quality(scorer, [fixed] * part.height, part), part.height, **place)


def sameness(segments: pl.DataFrame, translations: pl.LazyFrame) -> Iterator[Measure]:
    """Per language pair without references: how many clean translations are their source, or one and the same."""
    known = segments.filter(pl.col("source").str.strip_chars() != "")
    unknown = ~pl.col("references").list.eval(pl.element().str.strip_chars() != "").list.any().fill_null(value=False)
    for (pair,), every in known.group_by("language_pair", maintain_order=True):
        part = every.unique("source", keep="first", maintain_order=True).gather_every(-(-every.height // MOST))
        if not every.select(unknown.all()).item():
            continue
        sources = part["source"].str.strip_chars().str.to_lowercase().to_list()
        for system, texts in _clean(translations, part["row"]).items():
            made, place = [text.strip().lower() for text in texts], {"language_pair": pair, "system": system}
            copied = sum(map(operator.eq, made, sources))
            yield share(kinds.SOURCE_AGAIN, copied, len(made), **place)
            yield share(kinds.ALWAYS_SAME, max(Counter(made).values()), len(made), **place)


def _clean(translations: pl.LazyFrame, rows: pl.Series) -> dict[str, list[str]]:
    """Every system's translations of these segments' own sources, in order."""
    chosen = pl.col("perturbation").is_null() & pl.col("row").is_in(rows.implode())
    table = translations.filter(chosen).select("system", "row", "judged").sort("row").collect()
    found = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
    return {name: part["judged"].to_list() for name, part in found.items() if part.height == len(rows)}


def _one_for_all(segments: pl.DataFrame) -> str:
    """The reference, of a few of all lengths, that would do best as the translation of everything."""
    firsts = segments["references"].list.first().fill_null("")
    ordered = firsts.gather(firsts.str.len_chars().arg_sort())
    candidates = ordered.gather_every(-(-len(ordered) // CANDIDATES)).to_list()
    some = segments.gather_every(-(-segments.height // TRIED_ON))
    scores = [_quality(ChrF(), [text] * some.height, some) for text in candidates]
    return str(candidates[int(np.argmax(scores))])


def _quality(scorer: Scorer, texts: Sequence[str], segments: pl.DataFrame) -> float:
    rows = scorer.statistics(Questions(texts, segments["references"].to_list(), segments["source"].to_list()))
    return float(np.asarray(quality(scorer, rows.sum(axis=0))))


PLACE = ["language_pair", "system", "scorer"]
PROMPT = ["perturbation", "level", "replicate"]


def prompt_variance(scores: pl.LazyFrame) -> list[Measure]:
    """What matters more, the wording of the prompt or the source? Standard deviations per system and scorer.

    Every source is translated with every prompt: a table of scores without gaps, whose variance has three parts: over
    prompts, over sources, and the rest.
    """
    rows = scores.filter(pl.col("perturbation").ne_missing(REPEAT)).select(*PLACE, "row", *PROMPT, "score").collect()
    measures = []
    for place, part in rows.group_by(PLACE, maintain_order=True):
        table = _table(part)
        if min(table.shape) < 2:
            continue
        where = dict(zip(PLACE, place, strict=True))
        parts = components(table)
        sizes = (table.shape[1], table.shape[0], table.size)
        for kind, found, n in zip((kinds.SD_PROMPTS, kinds.SD_SOURCES, kinds.SD_REST), parts, sizes, strict=True):
            measures.append(Measure(kind, found.value, n, low=found.low, high=found.high, **where))
    return measures


def _table(part: pl.DataFrame) -> Array:
    """Sources × prompts; a prompt with which a source has no score is left out."""
    known = part.filter(pl.col("score").is_finite())
    named = known.with_columns(
        prompt=pl.concat_str([pl.col(name).cast(pl.String).fill_null("") for name in PROMPT], separator="|")
    )
    if named.is_empty():
        return np.zeros((0, 0))
    wide = named.pivot("prompt", index="row", values="score", aggregate_function="mean").drop("row")
    full = [name for name in wide.columns if wide[name].null_count() == 0]
    return wide.select(full).to_numpy()


CELL = ["language_pair", "system", "perturbation", "level"]
KEYS = [*CELL, "row", "replicate"]


def injection_measures(judged: Judged, failures: pl.LazyFrame) -> list[Measure]:
    """Did it translate or obey? Per system and form of the instruction.

    `obeyed` and `translated` are shares of translations, with Wilson's intervals by segment. They do not add up to
    100: a copy of the source, a text cut off or an answer to somebody else's question is neither, and a question that
    was translated and then answered is both. ROBUST and CONSIS of these perturbations are about what was translated
    beside the instruction (`reset.without_instruction`).
    """
    translations = judged.translations
    labels = _injecting(translations.select("perturbation").unique().collect()["perturbation"])
    if not labels:
        return []
    injected = judged.told & pl.col("perturbation").is_in(labels)
    made = translations.filter(injected).select(KEYS)
    for name, kind in (("obeyed", "obeyed"), ("lost", "not-translated")):
        flags = failures.filter(injected & (pl.col("kind") == kind)).select(KEYS).unique()
        marked = flags.with_columns(pl.lit(1.0).alias(name))
        made = made.join(marked, on=KEYS, how="left", nulls_equal=True).with_columns(pl.col(name).fill_null(0.0))
    shares = (
        made.group_by(CELL, maintain_order=True)
        .agg(pl.col("obeyed", "lost").mean(), pl.col("row").n_unique().alias("n"))
        .sort(CELL)
        .collect()
    )
    found: list[Measure] = []
    for row in shares.iter_rows(named=True):
        place = {name: row[name] for name in CELL}
        for told, part in ((kinds.OBEYED, row["obeyed"]), (kinds.TRANSLATED, 1 - row["lost"])):
            n, count = row["n"], part * row["n"]  # Agresti and Coull's deviation is not 0 where a share is 0 or 1
            found.append(share(told, count, n, sd=100 * rate_sd(count + 2, n + 4), **place))
    return found


def _injecting(perturbations: pl.Series) -> list[str]:
    """Those that put an instruction into the text."""
    there = perturbations.drop_nulls().unique(maintain_order=True)
    return [label for label in there if (card := known_card(label)) is not None and card.injects]


def inconsistency(judged: Judged, threshold: float) -> list[Measure]:
    """Sentence-level chrF(Y′, Y) below the threshold (75 in Jwalapuram 2023 §4.1), in per cent of texts.

    The share over all texts, and over those that the perturbation really changed where that is not all of them;
    of slices, the share over all texts of each.
    """
    translations, told = judged.translations, judged.told
    listed = counted(translations, told & pl.col("perturbation").is_not_null(), CELL)
    measures = []
    for place in listed.select(CELL).iter_rows(named=True):
        part = translations.filter(told & same(**place)).select("row", "consistency", "changed").collect()
        some = part.filter(pl.col("changed"))
        count = some["row"].n_unique()
        found: list[tuple[Kind, str | None, pl.DataFrame]] = [(kinds.INCONSISTENT, None, part)]
        if 0 < some.height < part.height:
            found.append((over_changed(kinds.INCONSISTENT), None, some))
        found += [
            (kinds.INCONSISTENT, name, part.filter(pl.col("row").is_in(pl.Series(rows).implode())))
            for name, rows in judged.slices.items()
        ]
        for kind, group, here in found:
            if here.is_empty():
                continue
            below = 100.0 * (here["consistency"] < threshold).to_numpy()
            units, rows = by_unit(judged.keys[here["row"].to_numpy()], np.stack([below, np.ones_like(below)], axis=1))
            drawn = bootstrap(ratio_of(0, 1), [rows], judged.resamples, judged.seed, units)
            n = here["row"].n_unique()
            told_of = {"scorer": "chrf", "changed": count if group is None else n, "group": group, **place}
            measures.append(measured(kind, drawn, n, **told_of))
    return measures


def mt_results(
    judged: Judged,
    scorers: Sequence[Scorer],
    threshold: float,
    failures: pl.LazyFrame | None = None,
    encoder: FailureEncoder = "none",
    systems: Mapping[str | None, Sequence[System]] | None = None,
    margin: float = 0.2,
    quiet: bool = True,
) -> list[Measure]:
    """All results of the study; the measures of parts are tested in families apart.

    Systems are compared with each other; those of `systems` that stand behind defences only with the same system
    without, where clean text may lose `margin` points.
    """
    found = mt_cells(replace(judged, resamples=enough(judged.resamples)), scorers, quiet)
    whole = [cell for cell in found if cell.place.group is None]
    measures = cell_measures(found) + inconsistency(judged, threshold)
    defended = {one.name for _, one in defended_in(systems or {})}
    bare = [cell for cell in whole if cell.place.system not in defended]
    measures += system_differences(bare) + ranks(bare) + robust_consis_correlation(bare) + overall(bare)
    if systems and defended:
        measures += overall_figures([cell for cell in whole if cell.place.system in defended])
        measures += defence_measures(whole, systems, scorers, margin)
    measures += self_agreement(whole)
    if failures is not None:
        measures += failure_measures(judged, failures, encoder) + injection_measures(judged, failures)
    return measures


def mt_cells(judged: Judged, scorers: Sequence[Scorer], quiet: bool = True) -> list[Cell]:
    """The cells of a run, from its tables; those of slices after those of all."""
    found: list[Cell] = []
    total = sum(map(len, places(judged, scorers)))
    with Progress("resampling", total, "cells", quiet) as progress:
        for some in cells(judged, scorers):
            found += some
            progress.advance(1)
    return found


def all_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    """The cells of a finished run: what scorers say, and how often translations fail."""
    judged = Judged.of(run.scan("scores"), run.scan("translations"), resamples, seed, run.segments)
    found = mt_cells(judged, scorers)
    if run.has("failures"):
        on = ["language_pair", "system", "row", "perturbation", "level", "replicate"]
        made = judged.translations.filter(judged.told).select(on).collect().with_row_index("place")
        made = made.with_columns(key=pl.Series(judged.keys[made["row"].to_numpy()]))
        flags = run.table("failures").join(made.select(*on, "place"), on=on, how="inner", nulls_equal=True)
        found += failure_cells(run, made, flags, resamples, seed)
    return found
