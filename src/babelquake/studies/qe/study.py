"""The QE study: does a quality-estimation model see what matters, and only that? (Kanojia 2021)

Good translations are probed with meaning-preserving (MPP) and meaning-altering (MAP) changes; a strong model loses
little score to the former and much to the latter. §3: segments with a mean raw DA of 70 or more; §5: 20 replicates of
stochastic probes, averaged per segment, then over the set; §6.3: models ranked by MPP − MAP and by Pearson.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.languages import sides
from babelquake.perturb.suite import suite as suite_of
from babelquake.runs.findings import Finding
from babelquake.runs.info import Flag, Probe
from babelquake.runs.measures import Results, largest_first, values
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.scores import Scores
from babelquake.studies.agreement import How, agreement_cell, agreement_measures, judgements
from babelquake.studies.card import Study
from babelquake.studies.cells import Cell, Place, Scored, enough
from babelquake.studies.execution import execute
from babelquake.studies.forecast import keep_within_budget
from babelquake.studies.judge_reliability import answers_in, judge_findings, reliability
from babelquake.studies.judging import (
    judged_columns,
    must_answer,
    of_each,
    require_scores,
    scores_frame,
    text_among,
    text_in,
    without_perturbed,
)
from babelquake.studies.kinds import judges, pitfalls
from babelquake.studies.kinds import qe as kinds
from babelquake.studies.options import takes
from babelquake.studies.pitfalls import expected, pitfall_findings, pitfall_measures
from babelquake.studies.plan import Material, Plan
from babelquake.studies.qe import QeOptions
from babelquake.studies.qe.discrimination import (
    probe_results,
    probed_models,
    ranking_results,
    resampled_values,
    rivalries,
    standardised,
)
from babelquake.studies.resolve import references_each, scorers_of, several, with_masked_lm
from babelquake.studies.segment_units import slices_of, slicing_column, unit_for, with_units
from babelquake.studies.variants import meaning_of, meanings_of, suite_for, vocabularies, with_given

DEFAULT_SUITE = "kanojia2021"
"""What translations are probed with unless the user or the data say otherwise."""
DEFAULT_SCORER = "qe-multi"
"""The estimator that ships: who is asked unless the user names others or brings their scores."""
TRANSLATIONS = "translation_perturbed"
"""The column of variants that data bring."""


def judged_segments(data: Dataset, by: str | None = None) -> pl.DataFrame:
    """Rows with a translation; in parallel data the reference stands for a good translation (§6.3).

    Variants that the data bring go with them, and the columns that they are resampled or told apart by.
    """
    segments = data.segments
    if not data.has("source"):
        raise UserError(f"{data.name} has no sources: quality estimation judges a translation by its source.")
    if not data.has("translation"):
        if not data.has("references"):
            raise UserError(f"{data.name} has neither translations nor references to probe.")
        segments = segments.with_columns(
            translation=pl.col("references").list.first(), references=pl.lit(None, pl.List(pl.String))
        )
    references = pl.when(pl.col("references").is_null()).then(pl.concat_list("source")).otherwise(pl.col("references"))
    if data.has(TRANSLATIONS):
        segments = segments.unique(["id", "language_pair", "system"], maintain_order=True)
    usable = segments.drop_nulls(["translation", "source"]).with_columns(references=references, text="translation")
    return with_given(judged_columns(usable, by), data, TRANSLATIONS, "text")[0]


def select(segments: pl.DataFrame, threshold: float) -> tuple[pl.DataFrame, str]:
    """The high-quality segments, renumbered, and one sentence that says which they are."""
    if segments["score"].null_count() == segments.height:
        return segments, f"no human scores: all {segments.height} translations count as good and are probed."
    kept = segments.filter(pl.col("score") >= threshold)
    if not kept.height:
        highest = float(np.nanmax(segments["score"].to_numpy()))
        raise UserError(
            f"no segment has a human score of {threshold:g} or more (the highest is {highest:g}). Use a lower "
            f"{setting('threshold')}."
        )
    text = f"{kept.height} of {segments.height} segments have a human score of {threshold:g} or more: these are probed."
    return kept.drop("row").with_row_index("row"), text


def qe_findings(run: Run) -> list[Finding]:
    """Per language pair: the best and the worst model, agreement of rankings; then the warnings."""
    results = Results.of(run).whole
    found: list[Finding] = [*pitfall_findings(run)]
    for pair in values(results.where("discrimination", "drop"), "language_pair"):
        found += _models(results, pair)
        for row in results.known("rank_agreement", language_pair=pair):
            found.append(Finding.on("ranks_agree", row, test=row))
    return [*found, *judge_findings(results), *_warnings(run.info.facts.flags)]


def _models(results: Results, pair: str | None) -> Iterator[Finding]:
    rows = results.known("discrimination", language_pair=pair)
    if len(rows) == 1:
        facts = {"digits": min(3, results.digits(rows[0]["scorer"]))}
        yield Finding.on("discriminates", rows[0], weight="answer", test=rows[0], facts=facts)
    rows = largest_first(results.known("discrimination_standardised", language_pair=pair))
    if len(rows) > 1:
        ends = rows[0]["scorer"], rows[-1]["scorer"]
        test = results.between("discrimination_standardised", "scorer", *ends, language_pair=pair)
        yield Finding.on("discriminates_best", *rows, weight="answer", test=test)


def _warnings(flags: list[Flag]) -> Iterator[Finding]:
    """How many warnings the study gave each model, and the first of them."""
    for scorer in dict.fromkeys(flag.scorer for flag in flags):
        texts = [flag.text for flag in flags if flag.scorer == scorer]
        yield Finding(what="warnings", who=scorer, facts={"count": len(texts), "first": texts[0]})


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """The cells of a finished run: discrimination on the probed segments."""
    for model in probed_models(Scored(run.scan("sums"), run.segments, scorers, resamples, seed), run.info.facts.probes):
        if (cell := model.discrimination()) is not None:
            yield cell


QE = Study(
    "qe",
    QeOptions,
    question="Do these quality estimators notice what matters?",
    inputs=("source", "translation|references"),
    measures=(*kinds, *pitfalls, *judges),
    gated=("discrimination", "pearson"),
    cells=stored_cells,
    plan=lambda options: plan(options),
    findings=qe_findings,
)
TITLES = {
    "punct-remove": "punctuation removed (MPP1)",
    "punct-replace": "punctuation replaced (MPP2)",
    "det-remove": "determiners removed (MPP3)",
    "det-replace": "determiners replaced (MPP4)",
    "upper-words": "words upper-cased (MPP5)",
    "lower-words": "words lower-cased (MPP6)",
    "negation-remove": "negation removed (MAP1)",
    "word-drop": "a content word omitted (MAP2)",
    "word-repeat": "a content word repeated (MAP3)",
    "word-insert": "a random word added (MAP4)",
    "word-replace": "a content word replaced (MAP5)",
    "mask-replace": "words replaced by a masked LM (MAP6)",
    "antonym": "words replaced by antonyms (MAP7)",
    "source-copy": "source copied (MAP8)",
}


@dataclass(frozen=True)
class QePlan(Plan):
    """What the QE study will do."""

    everything: pl.DataFrame = field(default_factory=pl.DataFrame)
    """All translations; the material are the good ones."""
    selection: str = ""
    """One sentence that says which are probed."""


def plan(options: QeOptions) -> QePlan:
    """Probe good translations, and judge all of them as they are (Kanojia 2021 §3)."""
    data = options.dataset()
    unit = unit_for(options.unit, data, data.has(TRANSLATIONS))
    everything = with_units(judged_segments(data, options.by), unit)
    slicing_column(options.by, everything)
    selected, selection = select(everything, options.threshold)
    languages = [sides(pair)[1] for pair in everything["language_pair"].unique()]
    suite = suite_for(options, data, DEFAULT_SUITE, TRANSLATIONS)
    suite, said = with_masked_lm(suite, options.masked_lm, languages)  # that mask-replace (MAP6) asks
    scorers = scorers_of(several(options.scorers) or DEFAULT_SCORER)
    whole = Material(everything, "translation", "target")
    probed = () if data.has("translation") else ("There is no column translation, so the references are probed.",)
    return QePlan(
        QE.name,
        options,
        data,
        scorers,
        suite,
        Material(selected, "translation", "target"),
        vocabularies(everything, "text", suite, whole.lang),
        beside=lambda: [whole.batch(everything, everything["text"].to_list())],
        with_references=data.has("references") and data.has("translation"),
        notes=(*data.notes, *probed, selection, *_reference_note(data, scorers), *said),
        unit=unit,
        everything=everything,
        selection=selection,
    )


@takes(QeOptions)
def qe(options: QeOptions) -> Run:
    """Score drops per probe, discrimination MPP − MAP, rankings and flags, for any scorers.

    A scorer that needs a reference is given the source where the data have none: chrF against the source is the
    simplest baseline there is.
    """
    planned, seed, resamples = plan(options), options.seed, options.resamples
    keep_within_budget(planned)
    everything, selected, suite = planned.everything, planned.segments, planned.perturbations
    made = suite.perturbations and not suite.asks
    lacking = (suite_of(options.suite or DEFAULT_SUITE).lacking or None) if made else None
    with QE.session(planned) as session:
        run = session.run
        session.attach(references_each(planned.data.segments) if planned.data.has("references") else 1)
        if session.finished:
            return run
        run.info.facts.selection = planned.selection
        run.info.facts.probes = {
            perturbation.label: Probe(
                meaning=meaning_of(perturbation), title=TITLES.get(perturbation.name, perturbation.label)
            )
            for perturbation in suite.perturbations
        } | {
            label: Probe(meaning=meaning, title=label)
            for label, meaning in meanings_of(planned.data, TRANSLATIONS).items()
        }
        run.info.facts.left_out = lacking
        run.info.facts.expectations = expected(suite)
        session.say(*planned.notes)
        session.once("segments", lambda: selected)
        tables = execute(planned, session)
        unprobed = _unprobed(tables, selected, session.scorers, list(session.ready))
        (asked,) = planned.beside()
        keys, engine = everything.select("row", "id", "language_pair", "system"), session.engine
        humans = session.once(
            "humans",
            lambda: scores_frame(keys, of_each(session.scorers, lambda one: one.score_rows(engine.judge(one, asked)))),
        )
        require_scores(
            humans.lazy(), must_answer(session.scorers), "translations", text_in(everything.lazy(), "text", "row")
        )
        scored = Scored(tables["sums"], selected, session.scorers, enough(resamples), seed)
        asked_of = scored, run.info.facts.probes, unprobed
        probed = list(probed_models(*asked_of))
        measures = probe_results(probed)
        slices = slices_of(selected, options.by)
        parts = probe_results(model for part in slices.items() for model in probed_models(*asked_of, part))
        spreads = _spreads(humans)
        measures += [*standardised(measures, spreads), *rivalries(probed, spreads)]
        agreement = pearson_cells(everything, humans, session.scorers, resamples, seed)
        measures += agreement_measures(agreement)
        measures += ranking_results(measures, seed, resampled_values(probed, spreads, agreement))
        measures += reliability(answers_in(session, lambda: asked), everything, resamples, seed)
        measures += parts
        probed_by = [scorer for scorer in session.scorers if scorer.name not in unprobed]
        measures += pitfall_measures(replace(scored, scorers=probed_by), suite, options.tolerance)
        run.info.facts.flags = [flag for model in probed for flag in model.flags()]
        silent = "has no scores for perturbed texts: only its mean and its Pearson are reported."
        session.say(*(f"{name} {silent}" for name in unprobed))
        return session.finish(measures, language=planned.perturbed.lang, threshold=options.threshold)


def _spreads(humans: pl.DataFrame) -> dict[tuple[str | None, str], float]:
    """The standard deviation of every scorer's scores of unperturbed translations."""
    table = humans.group_by(["language_pair", "scorer"]).agg(pl.col("score").std())
    return {(pair, scorer): spread or 0.0 for pair, scorer, spread in table.iter_rows()}


def pearson_cells(
    segments: pl.DataFrame, humans: pl.DataFrame, scorers: Sequence[Scorer], resamples: int, seed: int
) -> list[Cell]:
    """Pearson with human scores on the complete data (Table 5)."""
    cells = []
    for scorer in scorers:
        values = scorer.sign * humans.filter(pl.col("scorer") == scorer.name)["score"].to_numpy()
        for given in judgements(segments, None):
            place = Place(given.language_pair, scorer.name)
            cells.append(agreement_cell(place, given, values[given.rows], ["pearson"], How(resamples, seed)))
    return cells


def _reference_note(data: Dataset, scorers: Sequence[Scorer]) -> list[str]:
    names = [scorer.name for scorer in scorers if "reference" in scorer.needs]
    if not names:
        return []
    against = "references" if data.has("references") and data.has("translation") else "sources"
    return [f"{', '.join(names)} compared translations with their {against}."]


def _unprobed(
    tables: Mapping[str, pl.LazyFrame], selected: pl.DataFrame, scorers: Sequence[Scorer], ready: Sequence[str]
) -> list[str]:
    """Scorers without scores for perturbed texts: those whose scores belong to rows, and files that hold none.

    A file that holds scores for some of the perturbed texts must hold them for all.
    """
    by_text = [scorer for scorer in scorers if scorer.name not in ready]
    looked_up = [scorer.name for scorer in by_text if isinstance(scorer, Scores)]
    unprobed = [*ready, *without_perturbed(tables, selected, looked_up)]
    probed = [scorer for scorer in by_text if scorer.name not in unprobed]
    require_scores(tables["scores"], must_answer(probed), "texts", text_among(tables, selected))
    return [scorer.name for scorer in scorers if scorer.name in unprobed]
