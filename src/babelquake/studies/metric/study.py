"""The metric study: does a metric move for the right reasons?

Three questions, chosen by the data and the side that is perturbed:

- sensitivity (Jwalapuram 2023 §3.1): f(X, X) against f(X′, X), or f(Y, R) against f(Y′, R) for `--side translation`;
- agreement with humans under noise on the references (Vu 2022), where the data have human judgements;
- challenge sets (DEMETR), where the data bring their own perturbed translations.
"""

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from babelquake.errors import UserError
from babelquake.languages import sides
from babelquake.models.tokenizers import tokenizer
from babelquake.runs.measures import Measure, kinds_in
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.studies.agreement import AGREEMENTS, agreement_measures, judged_in, judgements, keep_preferences
from babelquake.studies.card import Study
from babelquake.studies.cells import Cell
from babelquake.studies.final_marks import are_split
from babelquake.studies.mask_model import without_masked_lm
from babelquake.studies.metric import kinds
from babelquake.studies.metric.agreement import attacked_texts, noise_cells, suite_for
from babelquake.studies.metric.challenge import challenge_cells, challenge_results, judge_triples
from babelquake.studies.metric.exchange import export_metric_texts
from babelquake.studies.metric.material import material_of, mode_of
from babelquake.studies.metric.options import MetricOptions
from babelquake.studies.metric.sensitivity import sensitivity, sensitivity_cells
from babelquake.studies.metric.unknown_tokens import unknown_tokens
from babelquake.studies.metric.verdict import metric_findings
from babelquake.studies.missing_scores import require_scores, steady, text_among
from babelquake.studies.options import takes
from babelquake.studies.probing import Material, probe
from babelquake.studies.resolve import references_each, scorers_of, several
from babelquake.studies.session import Session
from babelquake.studies.variants import meaning_of, vocabularies


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterable[Cell]:
    """The cells of a finished run, by the question that it answers."""
    mode = next(iter(run.info.facts.modes), "sensitivity")
    if mode == "challenge":
        return challenge_cells(run.scores, run.segments, resamples, seed)
    sums = run.scan("sums")
    if mode == "sensitivity":
        return sensitivity_cells(sums, run.segments, scorers, resamples, seed)
    chosen = sums.filter(pl.col("perturbation").is_not_null()).select("perturbation", "level")
    wanted = chosen.unique(maintain_order=True).collect().rows()
    threshold = run.info.number("threshold", 25.0)
    return noise_cells(judged_in(run), run.segments.height, sums, scorers, wanted, resamples, seed, threshold)


def must_not_fall(run: Run, measure: str, perturbation: str | None) -> bool:
    """Harmful changes are meant to cost: a metric's Δ counts where the meaning is preserved."""
    return measure != "delta" or run.info.facts.meaning.get(perturbation or "") == "preserving"


METRIC = Study(
    "metric",
    MetricOptions,
    question="Do these metrics move for the right reasons?",
    inputs=("source|references",),
    measures=(*kinds_in(kinds), *AGREEMENTS.values()),
    gated=("delta", "darr", "kendall_like", "pearson", "detection_accuracy"),
    cells=stored_cells,
    counts=must_not_fall,
    export=lambda options, folder: export_metric_texts(
        folder=folder,
        data=options.dataset(),
        suite=options.suite,
        side=options.side,
        seed=options.seed,
        replicates=options.replicates,
        vocabulary=options.vocabulary,
        sample=options.sample,
        deduplicate=options.deduplicate,
        attacked=options.attacked,
    ),
    findings=metric_findings,
)
Rows = list[Measure]


@takes(MetricOptions)
def metric(options: MetricOptions) -> Run:
    """Sensitivity, agreement under noise, or detection of known errors, for any scorers.

    `suite` is jwalapuram2023 where none is given. `sample` bounds the split of sentences that end in a full stop
    (§2.1: 1000), `deduplicate` keeps the first of equal sources and references. `attacked` takes the perturbed
    references that come with the data instead of making them, all of them where no suite chooses. `tokenizers` adds
    unknown-token counts (Vu Figure 1).
    """
    material, side = options.dataset(), options.side
    mode = mode_of(material, side)
    if options.attacked and mode != "agreement":
        lacks = "use --side reference" if side != "reference" else f"{material.name} has no judgements"
        raise UserError(f"--attacked takes perturbed references that come with data with human judgements: {lacks}.")
    tokenizers: list[str] = several(options.tokenizers)
    for what in tokenizers:
        tokenizer(what)
    chosen, said = None, list[str]()
    if mode != "challenge":
        chosen, said = without_masked_lm(suite_for(material, options))
    with METRIC.session(
        options, data=material, scorers=scorers_of(options.scorers), suite=chosen, tokenizers=tokenizers
    ) as session:
        session.attach(references_each(material.segments) if side == "translation" and mode != "agreement" else 1)
        if session.finished:
            return session.run
        session.say(*material.notes, *said)
        session.run.info.facts.modes = [mode]
        rows = QUESTIONS[mode](session, options)
        return session.finish(rows, language=lambda pair: sides(pair)[0 if side == "source" else 1], side=side)


def _sensitivity(session: Session, options: MetricOptions) -> Rows:
    """How far does the score move when the text does?"""
    material = _material(session, options, "sensitivity")
    tables = _probed(session, material)
    meanings, segments = session.run.info.facts.meaning, material.segments
    measures = sensitivity(tables["sums"], segments, session.scorers, meanings, session.resamples, session.seed)
    return measures + unknown_tokens(
        tables["variants"], segments, several(options.tokenizers), session.resamples, session.seed
    )


def _agreement(session: Session, options: MetricOptions) -> Rows:
    """Does the metric still agree with people when its references are noisy?"""
    suite = session.perturbations
    material = _material(session, options, "agreement")
    keep_preferences(session)
    if options.attacked:
        material = replace(material, given=attacked_texts(session.data, suite))
    tables = _probed(session, material)
    given, scorers = judgements(session.data.segments, session.data.preferences), session.scorers
    wanted = [perturbation.cell for perturbation in suite.perturbations]
    draws = session.resamples, session.seed
    cells = noise_cells(given, len(session.data), tables["sums"], scorers, wanted, *draws, options.threshold)
    return agreement_measures([*cells]) + unknown_tokens(
        tables["variants"], material.segments, several(options.tokenizers), *draws
    )


def _challenge(session: Session, options: MetricOptions) -> Rows:
    """Does the metric prefer a translation to a version of it with one known error?"""
    segments = session.once("segments", lambda: session.data.segments.with_row_index("row"))
    scores = session.once("scores", lambda: judge_triples(segments, session.scorers, session.engine))
    return challenge_results(scores, segments, session.resamples, session.seed)


QUESTIONS = {"sensitivity": _sensitivity, "agreement": _agreement, "challenge": _challenge}


def _material(session: Session, options: MetricOptions, mode: str) -> Material:
    """The texts to perturb, split by their final marks where the suite goes by them."""
    sample = options.sample if are_split(session.perturbations) else None
    return material_of(session.data, options.side, mode, sample, session.seed, options.deduplicate)


def _probed(session: Session, material: Material) -> dict[str, pl.LazyFrame]:
    """The material under the suite; every scorer must know every text."""
    suite = session.perturbations
    session.once("segments", lambda: material.segments)
    session.run.info.facts.meaning = {
        perturbation.label: meaning_of(perturbation) for perturbation in suite.perturbations
    }
    tables = probe(session, material, vocabularies(material.segments, "text", suite, material.lang))
    require_scores(tables["scores"], steady(session.scorers), "texts", text_among(tables, material.segments))
    return tables
