"""The MT study: how do translations change when the source changes a little? (Niu 2020; Jwalapuram 2023 §4)"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from babelquake.errors import UserError
from babelquake.perturb.suite import Suite
from babelquake.runs.chunks import counted
from babelquake.runs.measures import kinds_in
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.strings.chrf import ChrF
from babelquake.studies.achieved import achieved_shares
from babelquake.studies.card import Study
from babelquake.studies.final_marks import not_sampled
from babelquake.studies.given_variants import brings_variants, systems_for
from babelquake.studies.mask_model import without_masked_lm
from babelquake.studies.missing_scores import require_scores, text_in
from babelquake.studies.mt import kinds
from babelquake.studies.mt.audit import audit
from babelquake.studies.mt.baselines import baselines
from babelquake.studies.mt.exchange import export_sources
from babelquake.studies.mt.forecast import forecast, keep_within, translated
from babelquake.studies.mt.options import MtOptions
from babelquake.studies.mt.overall import overall_pairs
from babelquake.studies.mt.results import mt_cells, mt_results
from babelquake.studies.mt.sources import source_language, sources_of, suite_for
from babelquake.studies.mt.translating import make_tables
from babelquake.studies.mt.verdict import mt_findings
from babelquake.studies.options import takes
from babelquake.studies.resolve import AnySystem, given_references, references_each, scorers_of, several
from babelquake.studies.segment_units import unit_for, with_units
from babelquake.studies.slices import slicing_column
from babelquake.systems import system as system_of

MT = Study(
    "mt",
    MtOptions,
    question="How robust are these translation systems?",
    inputs=("source",),
    measures=kinds_in(kinds),
    gated=(
        "quality",
        "quality_perturbed",
        "robust",
        "consis",
        "failures",
        "overall_quality_perturbed",
        "overall_robust",
        "overall_consis",
    ),
    subject="system",
    cells=lambda run, scorers, resamples, seed: mt_cells(
        run.scan("scores"), run.scan("translations"), scorers, resamples, seed, segments=run.segments
    ),
    overall=overall_pairs,
    counts=lambda run, measure, perturbation: measure != "quality" or perturbation is None,
    forecast=lambda options: forecast(
        systems=options.systems,
        data=options.dataset(),
        suite=options.suite,
        seed=options.seed,
        replicates=options.replicates,
        vocabulary=options.vocabulary,
        sample=options.sample,
        engine=options.made_engine(),
    ),
    export=lambda options, folder: export_sources(
        folder=folder,
        data=options.dataset(),
        suite=options.suite,
        seed=options.seed,
        replicates=options.replicates,
        vocabulary=options.vocabulary,
        sample=options.sample,
    ),
    findings=mt_findings,
)


@takes(MtOptions)
def mt(options: MtOptions) -> Run:
    """ROBUST, CONSIS, % inconsistent and what changed, for systems under a suite of source perturbations.

    Data may bring variants of their own (columns `source` and `perturbed`) and translations of both (`translation` and
    `translation_perturbed`): then `systems` need not be named, and `suite` adds made variants. Without given variants
    the suite is `everyday`.
    `reset` undoes final marks that follow the source's (§4.1): `auto` and `paper` for the punctuation family only.
    `sample` bounds the split of sentences that end in a full stop for `final-…` perturbations (§2.1: 1000),
    `deduplicate` keeps the first of equal sources and references. `replicates` repeats stochastic perturbations;
    segments stay the unit of resampling. `by` is a column whose values are measured one by one too, or `length`; `unit`
    says what is resampled: segments, or documents, which is the default where data that bring variants have them.
    `budget` is the most characters that remote systems may be sent.
    """
    material = options.dataset()
    if not material.has("source"):
        raise UserError(f"{material.name} has no sources: the MT study perturbs the column `source`.")
    seed, sample, threshold, resamples = options.seed, options.sample, options.threshold, options.resamples
    chosen, said = without_masked_lm(suite_for(options.suite, material, options.replicates, options.vocabulary))
    given: list[AnySystem] = several(options.systems)
    named = [item if isinstance(item, str) else system_of(item) for item in given]
    numbered, unchanged = sources_of(material, options.deduplicate)
    slicing_column(options.by, numbered)
    unit = unit_for(options.unit, material, brings_variants(material))
    numbered = with_units(numbered, unit)
    made, absent = systems_for(named, material, numbered, material.segments["language_pair"].unique().sort())
    engine = options.made_engine()
    options = replace(options, engine=engine)
    if options.budget is not None and not translated(options.out, options.restart):
        keep_within(
            options.budget,
            forecast(systems=named, data=material, suite=chosen, seed=seed, sample=sample, engine=engine),
        )
    with MT.session(
        options,
        data=material,
        scorers=scorers_of(options.scorers),
        suite=chosen,
        systems=[item.identity for item in next(iter(made.values()), [])],
        unit=unit if unit == "document" else options.unit,
    ) as session:
        run = session.run
        segments = session.once("segments", lambda: numbered)
        session.note_systems({(pair, item.name): item.signature for pair in made for item in made[pair]})
        session.attach(references_each(segments))
        if session.finished:
            return run
        left_out = not_sampled(segments, "source", chosen, sample, seed)
        tables = make_tables(session, segments, made, options.reset, left_out)
        run.info.facts.audit = audit(segments)
        session.say(*material.notes, *said, *unchanged, *absent)
        session.say(*_missing_references(segments), *_not_applicable(tables["variants"], chosen))
        session.say(*_blank_sources(segments))
        scores, translations = tables["scores"], tables["translations"]
        text_of = text_in(translations, "judged", "system", "row", "perturbation", "level", "replicate")
        require_scores(scores, session.scorers, "translations", text_of)
        session.say(*_without_consis(session.scorers))
        results = mt_results(
            scores, translations, session.scorers, threshold, resamples, seed, engine.quiet, segments, options.by
        )
        if results:
            results += baselines(segments, translations, session.scorers)
            results += achieved_shares(tables["variants"], segments, "source")
        return session.finish(
            results,
            language=source_language,
            extra_signatures={"chrf": ChrF().signature},
            unit=unit if unit == "document" else None,
        )


def _without_consis(scorers: Sequence[Scorer]) -> list[str]:
    names = [scorer.name for scorer in scorers if "reference" not in scorer.needs]
    return [f"{', '.join(names)} cannot compare two translations: no CONSIS."] if names else []


def _missing_references(segments: pl.DataFrame) -> list[str]:
    translated = segments.filter(pl.col("source").fill_null("").str.strip_chars() != "")
    missing = int((given_references(translated["references"]).list.len() == 0).sum())
    if not missing:
        return []
    if missing == translated.height:
        return ["No segment has a reference: only CONSIS and % inconsistent are measured."]
    return [
        f"{missing} of {translated.height} segments have no reference and are left out of quality, Δ and ROBUST; "
        "CONSIS and % inconsistent are measured on all."
    ]


def _blank_sources(segments: pl.DataFrame) -> list[str]:
    blank = segments.filter(pl.col("source").fill_null("").str.strip_chars() == "").height
    return [f"{blank} of {segments.height} segments have a blank source and are left out."] if blank else []


def _not_applicable(variants: pl.LazyFrame, chosen: Suite) -> list[str]:
    """Perturbations without a row in the results, named rather than dropped in silence."""
    applied = set(
        counted(variants, pl.lit(True), ["perturbation", "level"]).select("perturbation", "level").iter_rows()
    )
    return [
        f"{perturbation.spec} applies to no segment."
        for perturbation in chosen.perturbations
        if perturbation.cell not in applied
    ]
