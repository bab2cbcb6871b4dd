"""Challenge sets: do metrics rank the better translation of a source above the worse ones?

A set has several hypotheses of every source. Which is better is said by the set (sets that `challenge build` made have
a key), or by `order`; where nobody says it, hyp-1 is better than the others. Scores come from metrics elsewhere, as the
WMT evaluation task returns them or as ACES's tool writes them beside the texts, or from scorers here. A worse
hypothesis that is the same text tests nothing.

Of every pair of a better and a worse hypothesis: does the better score strictly higher (accuracy), and by how many
standard deviations of the metric's scores (sensitivity)? Of every source: does the better outrank every worse one?
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.data.challenge_sets import read_returned
from babelquake.data.published_sets import scored_metrics
from babelquake.errors import UserError, setting
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import Measure, Results, Row, values
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import bootstrap, ratio_of
from babelquake.stats.intervals import wilson
from babelquake.stats.resampling import by_unit, over_units
from babelquake.studies.card import Session, Study
from babelquake.studies.cells import Cell, Families, Place, difference_of, measured
from babelquake.studies.challenge import ChallengeOptions
from babelquake.studies.challenge_sets import aces_measures
from babelquake.studies.judging import of_each, questions_about, score_each, scores_frame
from babelquake.studies.kinds import challenge as kinds
from babelquake.studies.kinds import shared
from babelquake.studies.options import listed, takes
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import references_each, scorers_of
from babelquake.studies.segment_units import Slices, groups_of, keys_by_row, slices_of

RANKED = "outranks_all"
TIED = 1e-4
"""Standard deviations up to which two scores are equal: batches and half precision move a number that far."""
MOST_TIED = 0.95
"""Share of pairs with equal scores above which a metric does not look at the translation."""


def challenge_findings(run: Run) -> list[Finding]:
    """Per language pair the best and the worst metric, with the tests of worst against next and best against next."""
    results = Results.of(run)
    rows = [row for row in results.known(RANKED) if row["perturbation"] is None and row["group"] is None]
    tied = run.table("pairs").group_by("language_pair", "scorer").agg((pl.col("gap").abs() <= TIED).mean())
    blind = {(pair, scorer) for pair, scorer, share in tied.rows() if share > MOST_TIED}
    return [found for pair in values(rows, "language_pair") for found in _about(results, rows, pair, blind)]


def _about(
    results: Results, rows: list[Row], pair: str | None, blind: Set[tuple[str | None, str]]
) -> Iterator[Finding]:
    here = [row for row in rows if row["language_pair"] == pair]
    same = [row for row in here if (pair, row["scorer"]) in blind]
    if same:
        yield Finding.on("does_not_look", *same)
    ranked = sorted((row for row in here if row not in same), key=lambda row: float(row["value"]))
    if not ranked:
        return
    for what, ends in (("ranks_best", ranked[::-1]), ("ranks_worst", ranked)):
        level = [row for row in ends if float(row["value"]) == float(ends[0]["value"])]
        if what == "ranks_worst" and len(level) == len(ends):
            continue
        test = _surely(results, level, ends[len(level)], pair) if len(level) < len(ends) else None
        yield Finding.on(what, *ends, weight="answer", test=test, facts={"level": len(level)})


def _surely(results: Results, level: list[Row], following: Row, pair: str | None) -> Number | None:
    """The least certain of the tests of metrics that are level against the one that follows."""
    tests = [results.between(RANKED, "scorer", row["scorer"], following["scorer"], language_pair=pair) for row in level]
    found = [Number.of(test) for test in tests if test]
    if len(found) < len(level):
        return None
    return max(found, key=lambda one: 2.0 if one.p is None or not one.tested else one.p)


FORMULAS = {
    "detection_accuracy": ratio_of(1, 0, times=100),
    "outranks_all": ratio_of(4, 3, times=100),
    "sensitivity": ratio_of(5, 6),
}
"""Of the sums of: pairs, those that the better wins, those it loses, sources, those it wins, losses in sd, pairs of any
kind."""
SAME = "same"
"""What a set expects of variants that keep the meaning: they are no worse, so only sensitivity looks at them."""
FIRST = "hyp-1"


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """The cells of a finished run."""
    yield from challenge_cells(run.table("pairs"), run.segments, resamples, seed)


CHALLENGE = Study(
    "challenge",
    ChallengeOptions,
    question="Do these metrics rank better translations above worse ones?",
    words=("challenge", "score"),
    inputs=("translation",),
    measures=(*kinds, shared.ACES_SCORE, shared.SCORE),
    gated=("detection_accuracy", "outranks_all"),
    cells=stored_cells,
    findings=challenge_findings,
    plan=lambda options: plan(options),
)


def plan(options: ChallengeOptions) -> Plan:
    """Judge every hypothesis; scores that were returned or stand beside the texts cost nothing."""
    data = hypotheses(options.dataset())
    scorers = scorers_of(options.scorers)
    return Plan("challenge", options, data, scorers, beside=lambda: [questions_about(data)], notes=data.notes)


@takes(ChallengeOptions)
def challenge(options: ChallengeOptions) -> Run:
    """Accuracy, sensitivity and rank of metrics on a challenge set, from returned scores or scorers."""
    given = options.dataset()
    data = hypotheses(given)
    scorers = scorers_of(options.scorers)
    order = [name.strip() for part in listed(options.order) for name in part.split(",")]
    read = [scores for folder in listed(options.returned) for scores in read_returned(folder, data)]
    returned = _scored(given.segments) | dict(read)
    if not scorers and not returned:
        ways = f"{setting('returned', metavar='DIR')}, or {setting('scorers', metavar='SCORER')}"
        raise UserError(f"No scores of {data.name} given. Use {ways}, such as chrf.")
    lower = listed(options.lower)
    for name in lower:
        if name not in returned:
            raise UserError(
                f"{setting('lower', name)}: no returned scores have this name. There are: {', '.join(returned)}."
            )
    with CHALLENGE.session(Plan(CHALLENGE.name, options, data, scorers), order=order) as session:
        session.attach(references_each(data.segments) if data.has("references") else None)
        if session.finished:
            return session.run
        session.say(*data.notes)
        segments = session.once("segments", lambda: data.segments.drop("row", strict=False).with_row_index("row"))
        signed = {name: -scores if name in lower else scores for name, scores in returned.items()}
        scores = session.once("scores", lambda: _scores(session, segments, signed))
        if segments["system"].n_unique() == 1:
            session.say("Every source has one hypothesis: there are mean scores, but nothing to rank.")
        elif not order and "better" not in segments.columns:
            taken = f"{FIRST} is taken as the best (see {setting('order')})"
            session.say(f"The set does not say which hypotheses are better: {taken}.")
        pairs = session.once("pairs", lambda: judged_pairs(segments, scores, order))
        cells = [*challenge_cells(pairs, segments, session.resamples, session.seed, slices_of(segments, options.by))]
        measures = _measures(cells, session.seed)
        measures += score_measures(segments, scores, session.resamples, session.seed)
        triples = pairs.rename({"category": "phenomenon", "score_worse": "score_perturbed"})
        measures += aces_measures(triples, segments, session.resamples, session.seed)
        return session.finish(measures, order="|".join(order) or None)


def hypotheses(data: Dataset) -> Dataset:
    """One row per hypothesis; of a set with translations and damaged versions, the former are better."""
    if not data.has("translation_perturbed"):
        return data
    good = data.segments.with_columns(system=pl.lit("good"))
    bad = data.segments.with_columns(system=pl.lit("incorrect"), translation="translation_perturbed")
    category = next((name for name in ("phenomenon", "perturbation") if name in good.columns), None)
    both = pl.concat([good, bad]).drop("translation_perturbed").with_columns(better=pl.lit("good"))
    named = both.with_columns(category=pl.col(category).cast(pl.String)) if category else both
    return Dataset(data.name, named, notes=data.notes)


def _scored(segments: pl.DataFrame) -> dict[str, Array]:
    """Scores that stand beside the texts: of the translations, then of their damaged versions, as `hypotheses` has."""
    return {
        name: pl.concat([good.cast(pl.Float64), bad.cast(pl.Float64)]).fill_null(np.nan).to_numpy()
        for name, (good, bad) in scored_metrics(segments).items()
        if "translation_perturbed" in segments.columns
    }


def _scores(session: Session, segments: pl.DataFrame, returned: Mapping[str, Array]) -> pl.DataFrame:
    """One row per hypothesis and metric, higher is better."""
    keys = segments.select("row", "id", "language_pair", "system")
    asked = questions_about(session.data)

    def judged(scorer: Scorer) -> Array:
        return scorer.sign * score_each(scorer, asked, session.engine, session.data.name)

    return scores_frame(keys, {**returned, **of_each(session.scorers, judged)})


def judged_pairs(segments: pl.DataFrame, scores: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Every better and worse hypothesis of a source with both scores by every metric.

    `gap` is in standard deviations of the metric's scores of the language pair.
    """
    known = set(segments["system"].unique())
    for name in order:
        if name not in known:
            raise UserError(
                f"{setting('order', name)}: the set has no such hypothesis. It has: {', '.join(sorted(known))}."
            )
    rows: list[tuple[object, ...]] = []
    for _, item in segments.group_by("language_pair", "id", maintain_order=True):
        rows += _pairs(item.to_dicts(), order)
    schema = {"row": pl.UInt32, "worse": pl.UInt32, "source": pl.String, "category": pl.String, "expected": pl.String}
    wanted = pl.DataFrame(rows, schema=schema, orient="row")
    given = scores.select("row", "language_pair", "scorer", "score").with_columns(pl.col("score").fill_nan(None))
    spread = given.group_by("scorer", "language_pair").agg(sd=pl.col("score").std())
    found = wanted.join(given, on="row", how="inner", maintain_order="left").join(
        given.select(worse="row", scorer="scorer", score_worse="score"), on=["worse", "scorer"], maintain_order="left"
    )
    gap = (pl.col("score") - pl.col("score_worse")) / pl.when(pl.col("sd") > 0).then("sd").otherwise(1.0)
    return (
        found.drop_nulls(["score", "score_worse"])
        .join(spread, on=["scorer", "language_pair"], how="left", nulls_equal=True, maintain_order="left")
        .with_columns(gap=gap)
        .drop("sd")
    )


def _pairs(item: list[dict[str, object]], order: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The better and the worse of one source: by the set's key, by the order, or the first against the others."""
    by_name = {str(row["system"]): row for row in item}
    best = [str(item[0]["better"])] if item[0].get("better") is not None else list(order or [FIRST])
    ranked = [name for name in best if name in by_name]
    rest = [name for name in by_name if name not in best]
    pairs = [*combinations(ranked, 2), *((one, other) for one in ranked for other in rest)]
    for one, other in pairs:
        better, worse = by_name[one], by_name[other]
        if better["translation"] != worse["translation"]:
            category = better.get("category") or (other if len(by_name) > 2 else None)
            yield better["row"], worse["row"], better["id"], category, better.get("expected")


def challenge_cells(
    pairs: pl.DataFrame, segments: pl.DataFrame, resamples: int, seed: int, slices: Slices | None = None
) -> Iterator[Cell]:
    """A cell per language pair and metric, for all pairs, for every category and for every slice.

    Accuracy is tested against chance, under which the better and the worse could be exchanged in every source.
    """
    keys = keys_by_row(segments)
    for (pair,), here in pairs.group_by("language_pair", maintain_order=True):
        labels = {"category": "perturbation"} if here["category"].n_unique() > 1 else {}
        for group, some in groups_of(here, labels, slices):
            units = np.unique(keys[some["row"].to_numpy()])
            for (scorer,), mine in some.group_by("scorer", maintain_order=True):
                rows = over_units(keys[mine["row"].to_numpy()], _statistics(mine), units)
                cell = Cell(Place(pair, scorer, **group), units, mine.height)
                wanted = FORMULAS if rows[:, 0].sum() else {"sensitivity": FORMULAS["sensitivity"]}
                cell.sizes = {"detection_accuracy": int(rows[:, 0].sum()), RANKED: int(rows[:, 3].sum())}
                cell.compute(wanted, [rows], resamples, seed)
                if "detection_accuracy" in wanted:  # does the better win more often than the worse?
                    sides = (rows[:, [0, 1]], rows[:, [0, 2]])
                    _, test = difference_of(FORMULAS["detection_accuracy"], sides, units, resamples, seed)
                    cell.tests["detection_accuracy"] = test
                yield cell


def _statistics(pairs: pl.DataFrame) -> Array:
    """A row per pair: what `FORMULAS` sum. A source counts once, with the first of its pairs."""
    gap = pairs["gap"].to_numpy()
    counted = pairs["expected"].fill_null("worse").ne(SAME)
    won = pl.Series(gap > TIED) & counted
    of_source = pl.DataFrame({"source": pairs["source"], "won": won | ~counted})
    first = pl.DataFrame([pairs["source"], counted.alias("counted")]).select(pl.struct(pl.all()).is_first_distinct())
    all_won = of_source.select(pl.col("won").all().over("source"))["won"]
    lost = pl.Series(gap < -TIED) & counted
    once = first.to_series() & counted
    columns = [counted, won, lost, once, once & all_won, gap, np.ones(len(gap))]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def _measures(cells: Sequence[Cell], seed: int) -> list[Measure]:
    """Every cell's numbers; accuracy against chance; every two metrics compared on all pairs of a language pair."""
    measures, families = [], Families()
    for cell in cells:
        for name in cell.numbers:
            measure = _measured(cell, name)
            if name in cell.tests:
                families.add(cell.place.asked("better above worse"), measure, cell.tests[name])
            else:
                measures.append(measure)
    whole = [cell for cell in cells if cell.place.perturbation is None and cell.place.group is None]
    for one, other in combinations([cell for cell in whole if RANKED in cell.numbers], 2):
        if one.place.language_pair == other.place.language_pair and np.array_equal(one.keys, other.keys):
            place, kind = {**one.place.columns, "other": other.place.scorer}, kinds.OUTRANKS_ALL.difference()
            family = (one.place.language_pair, "rank of two metrics")
            families.compare(family, kind, (one, other), RANKED, seed=seed, **place)
    return measures + families.judge()


def _measured(cell: Cell, name: str) -> Measure:
    """A number of a cell; a share of 0 or 100 % is the same in all resamples and has Wilson's interval over sources."""
    found = measured(kinds.by_name[name], cell.numbers[name], cell.sizes.get(name, cell.n), **cell.place.columns)
    if name in cell.sizes and found.value in (0.0, 100.0):
        units = len(cell.keys)
        found.low, found.high = (100 * end for end in wilson(units * found.value / 100, units))
    return found


def score_measures(segments: pl.DataFrame, scores: pl.DataFrame, resamples: int, seed: int) -> list[Measure]:
    """The mean score of every hypothesis by every metric, and of every category of a set that has such."""
    keys = keys_by_row(segments)
    known = scores.filter(pl.col("score").is_not_nan())
    wanted: list[tuple[str, ...]] = [("language_pair", "system", "scorer")]
    if "category" in segments.columns:
        categories = segments.select("row", pl.col("category").cast(pl.String))
        known = known.join(categories, on="row", how="left", maintain_order="left")
        wanted.append((*wanted[0], "category"))
    found = []
    for columns in wanted:
        for place, some in known.drop_nulls(columns[-1]).group_by(columns, maintain_order=True):
            named: dict[str, Any] = dict(zip(columns, place, strict=True))
            rows = np.stack([some["score"].to_numpy(), np.ones(some.height)], axis=1)
            units, summed = by_unit(keys[some["row"].to_numpy()], rows)
            drawn = bootstrap(ratio_of(0, 1), [summed], resamples, seed, units)
            named["perturbation"] = named.pop("category", None)
            found.append(measured(shared.SCORE, drawn, some.height, **named))
    return found
