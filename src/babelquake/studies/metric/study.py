"""The metric study: does a metric move for the right reasons?

Three questions, chosen by the data and the side that is perturbed:

- sensitivity (Jwalapuram 2023 §3.1): f(X, X) against f(X′, X), or f(Y, R) against f(Y′, R) for `--side translation`;
- agreement with humans under noise on the references (Vu 2022), where the data have human judgements;
- challenge sets (DEMETR), where the data bring their own perturbed translations.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.languages import sides
from babelquake.models.tokenizers import tokenizer
from babelquake.perturb.labels import known_card
from babelquake.perturb.suite import Suite
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import STATISTICS, Measure, Results, Row, apart, largest_first, values
from babelquake.runs.run import Run
from babelquake.runs.tables import same
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.intervals import wilson
from babelquake.stats.parallel import in_parallel
from babelquake.studies.agreement import (
    AGREEMENTS,
    How,
    Judgements,
    agreement_cell,
    agreement_measures,
    judged_in,
    judgements,
    keep_preferences,
)
from babelquake.studies.card import Session, Study
from babelquake.studies.cells import LEAST_CHANGED, Cell, Place, Scored
from babelquake.studies.challenge_sets import aces_measures, challenge_cells, challenge_results, judge_triples, triples
from babelquake.studies.execution import execute
from babelquake.studies.final_marks import are_split, unsampled, without_duplicates
from babelquake.studies.forecast import keep_within_budget
from babelquake.studies.judge_reliability import answers_in, judge_findings, reliability
from babelquake.studies.judging import judged_columns, must_answer, require_scores, text_among
from babelquake.studies.kinds import judges, pitfalls
from babelquake.studies.kinds import metric as kinds
from babelquake.studies.metric import MetricOptions, Side
from babelquake.studies.metric.measures import (
    best_of_findings,
    best_of_measures,
    sensitivity,
    sensitivity_cells,
    unknown_tokens,
)
from babelquake.studies.options import Unit, listed, takes
from babelquake.studies.pitfalls import expected, pitfall_findings, pitfall_measures
from babelquake.studies.plan import Given, Material, Plan
from babelquake.studies.resolve import references_each, scorers_of, without_masked_lm
from babelquake.studies.segment_units import slices_of, slicing_column, unit_for, with_units
from babelquake.studies.variants import (
    achieved_shares,
    meaning_of,
    meanings_of,
    suite_for,
    vocabularies,
    with_given,
)

GIVEN = {"source": "perturbed", "translation": "translation_perturbed", "reference": "reference_perturbed"}
"""The column of variants that data bring, by the side that is perturbed."""
DEFAULT_SUITE = "jwalapuram2023"


def mode_of(data: Dataset, side: Side, suite: object = None) -> str:
    """Which question the data and the side ask: of a challenge set with a suite beside it, how far scores move."""
    if side == "translation" and data.has(GIVEN[side]) and not suite:
        return "challenge"
    if side == "reference" and data.has("translation") and (data.has("score") or data.preferences is not None):
        return "agreement"
    return "sensitivity"


def material_of(data: Dataset, options: MetricOptions, mode: str, suite: Suite, unit: Unit = "segment") -> Material:
    """The texts to perturb. Source and reference texts are judged against themselves: f(X′, X), or f(X′, X, X)."""
    side = options.side
    text = pl.col("references").list.first() if side == "reference" else pl.col(side)
    if side == "source" or (side == "reference" and mode == "sensitivity"):
        if not data.has("source" if side == "source" else "references"):
            raise UserError(f"{data.name} has no {side} column for {setting('side', side)}.")
        once = data.segments.unique(["id", "language_pair"], maintain_order=True)
        segments = (without_duplicates(once) if options.deduplicate else once).with_columns(text=text)
        segments = segments.with_columns(
            source=pl.col("text"), references=pl.concat_list("text"), system=pl.lit(None, pl.String)
        )
    else:
        if options.deduplicate:
            raise UserError(
                f"{setting('deduplicate')} is for texts that are judged against themselves. Use "
                f"{setting('side', 'source')}, or {setting('side', 'reference')} with data without human judgements."
            )
        for needed in ("translation", "references"):
            if not data.has(needed):
                raise UserError(
                    f"{data.name} has no {needed}: {setting('side', side)} judges translations against references."
                )
        segments = data.segments.with_columns(text=text)
        if data.has(GIVEN[side]):
            segments = segments.unique(["id", "language_pair", "system"], maintain_order=True)
    segments = judged_columns(segments, options.by)
    if mode == "sensitivity":
        segments, _ = with_given(segments, data, GIVEN[side], "text")
    segments = with_units(segments, unit)
    return Material(
        segments,
        "reference" if mode == "agreement" else "translation",
        "source" if side == "source" else "target",
        unsampled(segments, "text", options.full_stops, options.seed) if are_split(suite) else frozenset(),
    )


AGREEMENT = ("darr", "kendall_like", "pearson")


def noise_cells(
    scored: Scored, given: Sequence[Judgements], perturbations: Sequence[tuple[str, float | None]], threshold: float
) -> Iterator[Cell]:
    """A cell per scorer, attack (label, level) and language pair; where it does not apply, the clean score stands."""
    how = How(scored.resamples, scored.seed, threshold)

    def make(at: tuple[Scorer, pl.DataFrame, str, float | None, Judgements]) -> Cell:
        scorer, table, label, level, some = at
        clean, noisy = (
            _by_row(table.filter(same(perturbation=name, level=degree)), scored.segments.height)
            for name, degree in ((None, None), (label, level))
        )
        values = scorer.sign * np.where(np.isnan(noisy), clean, noisy)[some.rows]
        place = Place(some.language_pair, scorer.name, label, level)
        return agreement_cell(place, some, values, AGREEMENT, how)

    for scorer in scored.scorers:
        table = scored.by(scorer).select("row", "perturbation", "level", "score").collect()
        yield from in_parallel(make, [(scorer, table, *cell, some) for cell in perturbations for some in given])


def _attacks(data: Dataset) -> list[str]:
    """Each attack at its levels, and at 0, where references are clean."""
    levels: dict[str, list[float]] = {}
    for name, level in data.attacked:
        levels.setdefault(name, [0.0]).append(level)
    if not levels:
        raise UserError(f"{data.name} has no perturbed references. Leave {setting('attacked')} out to have them made.")
    return [f"{name}[level={'|'.join(f'{level:g}' for level in sorted(some))}]" for name, some in levels.items()]


def attacked_texts(data: Dataset, suite: Suite) -> Given:
    """References that somebody else attacked, for every attack and level of the suite; level 0 is the clean one."""
    found: dict[tuple[str, float | None], Sequence[str]] = {}
    for perturbation in suite.perturbations:
        if perturbation.level == 0:
            continue
        texts = None if perturbation.level is None else data.attacked.get((perturbation.name, perturbation.level))
        if texts is None:
            known = ", ".join(f"{name}[level={level:g}]" for name, level in data.attacked) or "none"
            raise UserError(f"{data.name} has no references under {perturbation.spec}; it has: {known}.")
        found[perturbation.cell] = texts()
    return found


def _by_row(table: pl.DataFrame, rows: int) -> Array:
    values = np.full(rows, np.nan)
    values[table["row"].to_numpy()] = table["score"].to_numpy()
    return values


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterable[Cell]:
    """The cells of a finished run, by the question that it answers."""
    mode = next(iter(run.info.facts.modes), "sensitivity")
    if mode == "challenge":
        return challenge_cells(run.scores, run.segments, resamples, seed)
    scored = Scored(run.scan("sums"), run.segments, scorers, resamples, seed)
    if mode == "sensitivity":
        return sensitivity_cells(scored)
    chosen = scored.sums.filter(pl.col("perturbation").is_not_null()).select("perturbation", "level")
    wanted = chosen.unique(maintain_order=True).collect().rows()
    return noise_cells(scored, judged_in(run), wanted, run.info.number("threshold", 25.0))


def must_not_fall(run: Run, measure: str, perturbation: str | None) -> bool:
    """Harmful changes are meant to cost: a metric's Δ counts where the meaning is preserved."""
    return measure != "delta" or run.info.facts.meaning.get(perturbation or "") == "preserving"


METRIC = Study(
    "metric",
    MetricOptions,
    question="Do these metrics move for the right reasons?",
    inputs=("source|references",),
    measures=(*kinds, *AGREEMENTS.values(), *pitfalls, *judges),
    gated=("delta", "darr", "kendall_like", "pearson", "detection_accuracy"),
    cells=stored_cells,
    counts=must_not_fall,
    plan=lambda options: plan(options),
    findings=lambda run: metric_findings(run),
)
Rows = list[Measure]


def plan(options: MetricOptions) -> Plan:
    """Perturb one side of the data, or take texts that others perturbed; judge."""
    data, side = options.dataset(), options.side
    mode, scorers = mode_of(data, side, options.suite), scorers_of(options.scorers)
    unit = unit_for(options.unit, data, data.has(GIVEN[side]))
    slicing_column(options.by, data.segments)
    if mode == "agreement" and (options.by or unit == "document"):
        raise UserError(
            f"{setting('by')} and {setting('unit', 'document')} do not work with agreement with human judgements."
        )
    if options.attacked and mode != "agreement":
        asked = f"use {setting('side', 'reference')}"
        lacks = asked if side != "reference" else f"{data.name} has no judgements"
        raise UserError(f"{setting('attacked')} uses perturbed references that come with human judgements: {lacks}.")
    if options.best_of is not None and (mode != "sensitivity" or side != "translation"):
        raise UserError(
            f"{setting('best_of')} picks among translations. Use {setting('side', 'translation')} and no challenge set."
        )
    if mode == "challenge":
        return Plan(
            METRIC.name,
            options,
            data,
            scorers,
            beside=lambda: triples(data.segments)[1].values(),
            notes=data.notes,
            unit=unit,
        )
    default = _attacks(data) if options.attacked else DEFAULT_SUITE
    suite, said = without_masked_lm(suite_for(options, data, default, GIVEN[side], options.best_of is not None))
    material = material_of(data, options, mode, suite, unit)
    if options.attacked:
        material = replace(material, given=attacked_texts(data, suite))
    words = vocabularies(material.segments, "text", suite, material.lang)
    notes = (*data.notes, *said)
    return Plan(METRIC.name, options, data, scorers, suite, material, words, notes=notes, unit=unit)


@takes(MetricOptions)
def metric(options: MetricOptions) -> Run:
    """Sensitivity, agreement under noise, or detection of known errors, for any scorers.

    `suite` is jwalapuram2023 where none is given. `attacked` takes the perturbed references that come with the data
    instead of making them, all of them where no suite chooses. `tokenizers` adds unknown-token counts (Vu Figure 1).
    """
    tokenizers = listed(options.tokenizers)
    for what in tokenizers:
        tokenizer(what)
    planned, side = plan(options), options.side
    keep_within_budget(planned)
    mode = mode_of(planned.data, side, options.suite)
    references = references_each(planned.data.segments) if side == "translation" and mode != "agreement" else 1
    with METRIC.session(planned, tokenizers=tokenizers) as session:
        session.attach(references)
        if session.finished:
            return session.run
        session.say(*planned.notes)
        session.run.info.facts.modes = [mode]
        rows = QUESTIONS[mode](session, planned, options)
        return session.finish(rows, language=lambda pair: sides(pair)[0 if side == "source" else 1], side=side)


def _sensitivity(session: Session, planned: Plan, options: MetricOptions) -> Rows:
    """How far does the score move when the text does?"""
    tables, segments = _judged(session, planned, options.side), planned.segments
    meanings, draws = session.run.info.facts.meaning, (session.resamples, session.seed)
    scored = Scored(tables["sums"], segments, session.scorers, *draws)
    measures = sensitivity(scored, meanings, options.by)
    measures += achieved_shares(tables["variants"], segments, "text")
    measures += pitfall_measures(scored, planned.perturbations, options.tolerance)
    material = planned.material
    if material is not None:
        answers = answers_in(session, lambda: material.batch(segments, segments["text"].fill_null("").to_list()))
        measures += reliability(answers, segments, *draws)
    if options.best_of is not None:
        measures += best_of_measures(scored, meanings, options.best_of)
    return measures + unknown_tokens(tables["variants"], segments, listed(options.tokenizers), *draws)


def _agreement(session: Session, planned: Plan, options: MetricOptions) -> Rows:
    """Does the metric still agree with people when its references are noisy?"""
    keep_preferences(session)
    tables = _judged(session, planned, options.side)
    given = judgements(session.data.segments, session.data.preferences)
    wanted = [perturbation.cell for perturbation in planned.perturbations.perturbations]
    draws = session.resamples, session.seed
    scored = Scored(tables["sums"], session.data.segments, session.scorers, *draws)
    cells = noise_cells(scored, given, wanted, options.threshold)
    unknown = unknown_tokens(tables["variants"], planned.segments, listed(options.tokenizers), *draws)
    return agreement_measures([*cells]) + unknown


def _challenge(session: Session, planned: Plan, options: MetricOptions) -> Rows:
    """Does the metric prefer a translation to a version of it with one known error?"""
    numbered = session.data.segments.drop("row", strict=False).with_row_index("row")
    segments = session.once("segments", lambda: with_units(numbered, planned.unit))
    scores = session.once("scores", lambda: judge_triples(segments, session.scorers, session.engine))
    draws = session.resamples, session.seed
    found = challenge_results(scores, segments, *draws, slices_of(segments, options.by))
    return found + aces_measures(scores, segments, *draws)


QUESTIONS = {"sensitivity": _sensitivity, "agreement": _agreement, "challenge": _challenge}


def _judged(session: Session, planned: Plan, side: Side) -> dict[str, pl.LazyFrame]:
    """The material under the suite and with what the data bring; every scorer must know every text."""
    session.once("segments", lambda: planned.segments)
    session.run.info.facts.meaning = {
        perturbation.label: meaning_of(perturbation) for perturbation in planned.perturbations.perturbations
    } | meanings_of(session.data, GIVEN[side])
    session.run.info.facts.expectations = expected(planned.perturbations)
    tables = execute(planned, session)
    require_scores(tables["scores"], must_answer(session.scorers), "texts", text_among(tables, planned.segments))
    return tables


def metric_findings(run: Run) -> list[Finding]:
    """Sensitivity, agreement with people under noise, challenge sets: whatever the run holds."""
    results = Results.of(run)
    return [
        *pitfall_findings(run),
        *best_of_findings(results),
        *_claims_findings(results.whole),
        *_sensitivity_findings(results.whole, run.info.facts.meaning),
        *_agreement_findings(results),
        *_challenge_findings(results),
        *judge_findings(results.whole),
    ]


def _claims_findings(results: Results) -> Iterator[Finding]:
    """Per scorer: do claims inside the translation or its source raise the score?"""
    rows = [row for row in results.known("delta") if _claims_something(row["perturbation"])]
    for (_, scorer), mine in apart(rows, "language_pair", "scorer"):
        mine = largest_first(mine)
        facts = {"digits": min(3, results.digits(scorer))}
        yield Finding.on("believes_claims", *mine, weight="answer", perturbation=None, level=None, facts=facts)


def _claims_something(perturbation: str | None) -> bool:
    card = known_card(perturbation or "")
    return card is not None and card.family == "injection" and card.side == "translation"


def _sensitivity_findings(results: Results, meaning: dict[str, str]) -> Iterator[Finding]:
    rows = [row for row in results.known("delta") if not _claims_something(row["perturbation"])]
    for (pair,), here in apart(rows, "language_pair"):
        for (scorer,), mine in apart(here, "scorer"):
            harmless = [row for row in mine if meaning.get(row["perturbation"], "preserving") == "preserving"]
            yield Finding(
                what="harmless_moves",
                weight="answer",
                who=scorer,
                language_pair=pair,
                numbers=tuple(map(Number.of, harmless)),
                test=_decisive(harmless),
                facts={"digits": min(3, results.digits(scorer))},
            )
            yield from _wrong_order(results, pair, scorer)


def _decisive(rows: list[Row]) -> Number | None:
    """The row whose test is spoken of: the largest significant move, or any other where none is."""
    numbers = [Number.of(row) for row in rows]
    ranked = sorted(numbers, key=lambda number: (number.significant, number.tested, abs(number.known)))
    return ranked[-1] if ranked else None


RARE = 0.05
"""The share of texts that any scorer may judge the wrong way round."""


def _wrong_order(results: Results, pair: str | None, scorer: str) -> Iterator[Finding]:
    """Harmless changes that cost more than harmful ones, and harmful ones that raise the score: not the same fault.

    Of few texts any share can come out, and one text in forty is no fault: said is what is surely not rare.
    """
    for what in ("harmless_costs_more", "rewards_harmful"):
        known = results.known(what, language_pair=pair, scorer=scorer)
        told = [row for row in known if row["n"] >= LEAST_CHANGED]
        rows = [row for row in told if wilson(row["value"] / 100 * row["n"], row["n"])[0] > RARE]
        if rows:
            yield Finding.on(what, max(rows, key=lambda row: float(row["value"])))


def _agreement_findings(results: Results) -> Iterator[Finding]:
    """Per perturbation: whose agreement with people falls most over its levels, and whose least."""
    measure = next((name for name in STATISTICS if results.known(name)), None)
    if measure is None:
        return
    rows = [row for row in results.known(measure) if row["level"] is not None]
    pairs = values(rows, "language_pair")
    pair = "average" if "average" in pairs else pairs[0] if pairs else None
    rows = [row for row in rows if row["language_pair"] == pair]
    for perturbation in values(rows, "perturbation"):
        falls = _falls([row for row in rows if row["perturbation"] == perturbation])
        if falls:
            ends = [falls[0], falls[-1]] if len(falls) > 1 else falls
            both = [row for fall in ends for row in fall]
            yield Finding.on("agreement_falls", *both, weight="answer", level=falls[0][1]["level"])


def _falls(rows: list[Row]) -> list[tuple[Row, Row]]:
    """Per scorer its agreement at the lowest and at the highest level, the largest loss first."""
    falls = []
    for scorer in values(rows, "scorer"):
        mine = sorted((row for row in rows if row["scorer"] == scorer), key=lambda row: float(row["level"]))
        if len(mine) > 1:
            falls.append((mine[0], mine[-1]))
    return sorted(falls, key=lambda fall: float(fall[1]["value"] - fall[0]["value"]))


def _challenge_findings(results: Results) -> Iterator[Finding]:
    rows = results.known("detection_accuracy")
    for (scorer,), mine in apart(rows, "scorer"):
        overall = [row for row in mine if row["perturbation"] is None and row["group"] is None]
        phenomena = [row for row in mine if row["perturbation"] is not None]
        weakest = [min(phenomena, key=lambda row: float(row["value"]))] if phenomena else []
        numbers = tuple(map(Number.of, (*overall, *weakest)))
        yield Finding(what="detects_errors", weight="answer", who=scorer, numbers=numbers)
