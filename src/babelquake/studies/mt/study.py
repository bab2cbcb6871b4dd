"""The MT study: how do translations change when the source changes a little? (Niu 2020; Jwalapuram 2023 §4)"""

from collections import Counter
from collections.abc import Iterator

import polars as pl

from babelquake.data import Dataset
from babelquake.data.columns import VARIANTS
from babelquake.errors import UserError, setting
from babelquake.languages import sides
from babelquake.perturb.labels import REPEAT
from babelquake.perturb.suite import Suite
from babelquake.runs.info import Audit
from babelquake.runs.run import Run
from babelquake.runs.tables import counted
from babelquake.scorers.strings.chrf import ChrF
from babelquake.studies.card import Study
from babelquake.studies.detection import detection, encoder_of
from babelquake.studies.execution import execute
from babelquake.studies.final_marks import not_sampled, without_duplicates
from babelquake.studies.forecast import keep_within_budget
from babelquake.studies.inquiries import documents_of
from babelquake.studies.judging import require_scores, text_in
from babelquake.studies.kinds import mt as kinds
from babelquake.studies.mt import MtOptions
from babelquake.studies.mt.cells import Judged
from babelquake.studies.mt.results import all_cells, baselines, mt_results, prompt_variance, sameness
from babelquake.studies.mt.robustness import overall_pairs
from babelquake.studies.mt.verdict import mt_findings
from babelquake.studies.options import takes
from babelquake.studies.plan import Material, Plan, Systems
from babelquake.studies.resolve import (
    AnySystem,
    given_references,
    references_each,
    scorers_of,
    several,
    without_masked_lm,
)
from babelquake.studies.segment_units import slicing_column, unit_for, with_units
from babelquake.studies.variants import (
    achieved_shares,
    no_system,
    suite_for,
    systems_for,
    unmade_variants,
    vocabularies,
    with_given,
)
from babelquake.systems import system as system_of
from babelquake.systems.defended import behind_each
from babelquake.text import ending


def plan(options: MtOptions) -> Plan:
    """Perturb sources, or take the variants that the data bring; translate; judge (Niu 2020 §2)."""
    data = options.dataset()
    if not data.has("source"):
        raise UserError(f"{data.name} has no sources: the MT study perturbs the column `source`.")
    suite, said = without_masked_lm(suite_for(options, data, DEFAULT_SUITE))
    refuse_other_sides(options, suite)
    segments, unchanged = with_given(one_row_per_source(data.segments, options.deduplicate), data)
    slicing_column(options.by, segments)
    unit = unit_for(options.unit, data, data.has("perturbed"))
    segments = with_units(segments, unit)
    given: list[AnySystem] = several(options.systems)
    named = [item if isinstance(item, str) else system_of(item) for item in given]
    systems, absent = systems_for(named, data, segments, data.segments["language_pair"].unique().sort())
    systems = behind_each(systems, options.defences)
    left_out = not_sampled(segments, "source", suite, options.full_stops, options.seed)
    documents = sends_documents(options, data, suite, systems)
    if documents:
        segments = with_units(documents_of(segments), "document")
    if options.side == "prompt":
        segments = with_prompts(segments, systems)
    return Plan(
        MT.name,
        options,
        data,
        scorers_of(options.scorers),
        suite,
        Material(
            segments,
            "translation",
            "source",
            left_out,
            column=options.side,
            repeats=options.repeats,
            documents=documents,
        ),
        vocabularies(segments, options.side, suite, source_language),
        systems,
        options.reset,
        detection(encoder_of(options.encoder)),
        notes=(*data.notes, *said, *unchanged, *absent, *unmade_variants(systems, suite)),
        unit=unit,
    )


MT = Study(
    "mt",
    MtOptions,
    question="How robust are these translation systems?",
    inputs=("source",),
    measures=tuple(kinds),
    gated=(
        "quality",
        "quality_perturbed",
        "robust",
        "consis",
        "overall_quality_perturbed",
        "overall_robust",
        "overall_consis",
        "overall_hurt",
        "obeyed",
        "translated",
        "failures",
        "failures_perturbed",
    ),
    subject="system",
    cells=lambda run, scorers, resamples, seed: all_cells(run, scorers, resamples, seed),
    overall=overall_pairs,
    counts=lambda run, measure, perturbation: measure not in ("quality", "failures") or perturbation is None,
    plan=plan,
    findings=mt_findings,
)


@takes(MtOptions)
def mt(options: MtOptions) -> Run:
    """ROBUST, CONSIS, % inconsistent and failures, for systems under a suite of source perturbations.

    Data may bring their own variants (columns `source` and `perturbed`) and translations of both (`translation` and
    `translation_perturbed`): then `systems` need not be named, and `suite` adds made variants. Without given variants
    the suite is `everyday`. `reset` undoes final marks that follow the source's (§4.1): `auto` and `paper` for the
    punctuation family only. `replicates` repeats stochastic perturbations; segments stay the unit of resampling.
    """
    planned = plan(options)
    systems, suite = planned.systems or {}, planned.perturbations
    if not any(systems.values()):
        raise UserError(no_system(planned.data))
    keep_within_budget(planned)
    named, encoder = [item.identity for item in next(iter(systems.values()), [])], encoder_of(options.encoder)
    with MT.session(planned, systems=named, encoder=encoder) as session:
        run = session.run
        segments = session.once("segments", lambda: planned.segments)
        session.note_systems({(pair, item.name): item.signature for pair in systems for item in systems[pair]})
        session.attach(references_each(segments))
        if session.finished:
            return run
        tables = execute(planned, session)
        run.info.facts.audit = audit(segments)
        scores, translations = tables["scores"], tables["translations"]
        session.say(*planned.notes, *_notes(segments, tables["variants"], translations, suite))
        text_of = text_in(translations, "judged", "system", "row", "perturbation", "level", "replicate")
        require_scores(scores, session.scorers, "translations", text_of)
        if names := [scorer.name for scorer in session.scorers if "reference" not in scorer.needs]:
            session.say(f"{', '.join(names)} cannot compare two translations: no CONSIS.")
        judged = Judged.of(scores, translations, options.resamples, options.seed, segments, options.by)
        results = mt_results(
            judged,
            session.scorers,
            options.threshold,
            tables["failures"],
            encoder,
            planned.systems,
            options.margin,
            session.engine.quiet,
        )
        if options.side == "prompt":
            results += prompt_variance(scores)
        if results:
            results += [*baselines(segments, translations, session.scorers), *sameness(segments, translations)]
            changed = tables["variants"].filter(pl.col("perturbation") != REPEAT)
            results += achieved_shares(changed, segments, options.side)
        return session.finish(results, language=source_language, extra_signatures={"chrf": ChrF().signature})


def refuse_other_sides(options: MtOptions, suite: Suite) -> None:
    """UserError where sources are to be changed in ways of prompts, or prompts in ways of documents."""
    prompts, documents = (
        [one for one in suite.perturbations if one.card.family == family] for family in ("prompt", "document")
    )
    if options.side == "source" and prompts and len(prompts) == len(suite.perturbations):
        raise UserError(f"{prompts[0].label} changes prompts, not sources. Use {setting('side', 'prompt')}.")
    if options.side == "prompt" and documents:
        raise UserError(f"{documents[0].label} changes documents, not prompts. Use {setting('side', 'source')}.")


def sends_documents(options: MtOptions, data: Dataset, suite: Suite, systems: Systems) -> bool:
    """Whether texts are whole documents: asked for, and there is a system that takes them or a change of documents."""
    if options.unit != "document" or data.has("perturbed"):
        return False
    able = any(system.documents for some in systems.values() for system in some)
    return able or any(one.card.family == "document" for one in suite.perturbations)


def with_prompts(segments: pl.DataFrame, systems: Systems) -> pl.DataFrame:
    """Segments with the instruction that is perturbed: their own, in the column `prompt`, or the systems'."""
    prompts = {item.prompt for some in systems.values() for item in some}
    lacking = [item.name for some in systems.values() for item in some if item.prompt is None]
    if lacking:
        raise UserError(
            f"{setting('side', 'prompt')}: {lacking[0]} has no prompt. Use a chat model: openai[…], or hf[…] with a "
            "decoder-only model."
        )
    written = {prompt.written for prompt in prompts if prompt is not None}
    languages = {prompt.language for prompt in prompts if prompt is not None}
    if len(written) != 1 or len(languages) != 1:
        raise UserError(f"{setting('side', 'prompt')}: the systems have different prompts. Test them one by one.")
    own = pl.col("prompt").cast(pl.String) if "prompt" in segments.columns else pl.lit(None, pl.String)
    return segments.with_columns(
        prompt=own.fill_null(pl.lit(written.pop())), prompt_language=pl.lit(languages.pop(), pl.String)
    )


def _notes(segments: pl.DataFrame, variants: pl.LazyFrame, translations: pl.LazyFrame, suite: Suite) -> Iterator[str]:
    """What is left out: missing references, perturbations without a row, blank sources, documents cut otherwise."""
    translated = segments.filter(pl.col("source").fill_null("").str.strip_chars() != "")
    missing = int((given_references(translated["references"]).list.len() == 0).sum())
    if missing == translated.height and missing:
        yield "No segment has a reference: only CONSIS and % inconsistent are measured."
    elif missing:
        yield (
            f"{missing} of {translated.height} segments have no reference and are left out of quality, Δ and ROBUST; "
            "CONSIS and % inconsistent are measured on all."
        )
    cell = ["perturbation", "level"]
    applied = set(counted(variants, pl.lit(True), cell).select(cell).iter_rows())
    yield from (f"{one.spec} applies to no segment." for one in suite.perturbations if one.cell not in applied)
    if blank := segments.height - translated.height:
        yield f"{blank} of {segments.height} segments have a blank source and are left out."
    fits = pl.col("by_sentence")
    count, whole = translations.select(fits.count(), (~fits).sum().alias("whole")).collect().row(0)
    if whole:
        yield f"{whole:,} of {count:,} documents were judged as a whole: their lines do not fit those sent."


DEFAULT_SUITE = "everyday"
"""What sources are perturbed by unless the user or the data say otherwise."""


def one_row_per_source(segments: pl.DataFrame, deduplicate: bool) -> pl.DataFrame:
    """The segments without translations they may come with, numbered; on request without duplicates."""
    own = {"translation", "system", "score", "row", *VARIANTS}
    columns = [name for name in segments.columns if name not in own]
    once = segments.unique(["id", "language_pair"], maintain_order=True).select(columns)
    return (without_duplicates(once) if deduplicate else once).with_row_index("row")


def source_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return sides(pair)[0]


def audit(segments: pl.DataFrame) -> Audit:
    """Shares of segments, in per cent: ends in different marks than its reference, duplicate source, blank source."""
    sides = segments.select(pl.col("source").fill_null(""), reference=pl.col("references").list.first().fill_null(""))
    told = sides.filter(pl.all_horizontal(pl.all().str.strip_chars() != ""))
    mismatched = sum(ending(source).kind != ending(reference).kind for source, reference in told.iter_rows())
    distinct = segments.unique(["id", "language_pair"], maintain_order=True)["source"].fill_null("")
    blank = int((distinct.str.strip_chars() == "").sum())
    return Audit(
        segments=len(distinct),
        mismatched_endings=_percent(mismatched, told.height),
        duplicate_sources=_percent(len(distinct) - distinct.n_unique(), len(distinct)),
        blank_sources=_percent(blank, len(distinct)),
        endings=dict(sorted(Counter(ending(text).kind for text in distinct).items())),
    )


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 3) if whole else None
