"""Agreement with human judgements by every definition the field uses: what `babelquake correlate` computes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Progress
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import STATISTICS as SPOKEN_OF
from babelquake.runs.measures import Measure, Results, largest_first
from babelquake.runs.measures import values as values_of
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.scorers.scores import Scores
from babelquake.stats.agreement_bootstrap import has_rows
from babelquake.stats.bootstrap import Resampled
from babelquake.studies.agreement import (
    AGREEMENTS,
    How,
    Judgements,
    agreement_cell,
    agreement_measures,
    agreement_value,
    difference,
    judged_in,
    judgements,
    keep_preferences,
)
from babelquake.studies.card import Session, Study
from babelquake.studies.cells import Cell, Families, Place, enough, measured
from babelquake.studies.correlate import OF_SPANS, STATISTICS, CorrelateOptions
from babelquake.studies.correlate.marked_errors import (
    has_marks,
    marked_by,
    marks_frame,
    marks_in,
    marks_of,
    named_spans,
    span_measures,
)
from babelquake.studies.judge_reliability import (
    ANSWERS,
    answers_in,
    judge_findings,
    reliability,
    scores_by_prompt,
    with_prompts_drawn,
)
from babelquake.studies.judging import of_each, questions_about, require_each, score_each, scores_frame
from babelquake.studies.kinds import judges
from babelquake.studies.options import listed, takes
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import references_each, scorers_of

COMPARED = ("darr", "auc", "kendall_like", "pearson", "accuracy", "soft_accuracy")
"""Statistics for which every two scorers are compared."""
CHANCE = dict.fromkeys(("darr", "kendall_like", "pearson", "spearman", "kendall"), 0.0) | {
    "auc": 0.5,
    "soft_accuracy": 0.5,
}
"""What scores that know nothing of the translations get."""


def correlate_findings(run: Run) -> list[Finding]:
    """Per language pair, by the first statistic that the field speaks of."""
    results = Results.of(run)
    found = list[Finding]()
    for pair in values_of(results.known(*SPOKEN_OF), "language_pair"):
        measure = next(name for name in SPOKEN_OF if results.known(name, language_pair=pair))
        found += _about(results, measure, pair)
    return [*found, *judge_findings(results)]


def _about(results: Results, measure: str, pair: str | None) -> Iterator[Finding]:
    """The leader and whoever comes next, with the test of their difference; then all that are significantly behind."""
    rows = largest_first(results.known(measure, language_pair=pair))
    first, *others = rows
    tests = {
        row["scorer"]: Number.of(found)
        for row in others
        if (found := results.between(measure, "scorer", first["scorer"], row["scorer"], language_pair=pair))
    }
    second = others[0]["scorer"] if others else None
    alike = [row for row in rows if row["value"] == first["value"]]
    known = _beside_chance(results, measure, pair)
    if known and not (chance := _against_chance(known[0])) > 0:
        yield Finding.on("agrees_none", *known, weight="alarm", facts={"against": float(chance < 0)})
        return
    if len(alike) > 1:
        yield Finding.on("agree_alike", *alike, weight="answer")
        return
    yield Finding.on("agrees_best", *rows, weight="answer", test=tests.get(second) if second else None)
    for row in others[1:]:
        if (test := tests.get(row["scorer"])) is not None and test.significant:
            yield Finding.on("agrees_less", row, first, test=test)


def _beside_chance(results: Results, measure: str, pair: str | None) -> list[dict[str, Any]]:
    """The scorers' agreement by a statistic whose level of chance is known, the best first; empty where there is none.

    That of pairwise accuracy depends on ties: there Pearson's r says who agrees at all.
    """
    told = "pearson" if measure == "accuracy" else measure
    rows = results.known(told, language_pair=pair) if told in CHANCE else []
    return largest_first(rows)


def _against_chance(row: dict[str, Any]) -> int:
    """1 where an agreement is above chance with its whole interval, −1 where below with all of it, otherwise 0."""
    chance = CHANCE[row["measure"]]
    low, high = (row[end] if row[end] is not None else row["value"] for end in ("low", "high"))
    return int(low > chance) - int(high < chance)


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """The cells of a finished run: agreements that are functions of sums over segments."""
    how = How(resamples, seed, run.info.number("threshold", 25.0))
    by_prompt = scores_by_prompt(run.table(ANSWERS)) if run.has(ANSWERS) else {}
    for given in judged_in(run):
        for scorer in scorers:
            values = run.scores.filter(pl.col("scorer") == scorer.name)["score"].to_numpy()[given.rows]
            place, known = Place(given.language_pair, scorer.name), by_prompt.get(scorer.name)
            yield _cell(place, given, scorer.sign * values, COMPARED, known, how)


def _cell(
    place: Place, given: Judgements, values: Array, statistics: Sequence[str], by_prompt: Array | None, how: How
) -> Cell:
    """The agreements of one scorer; of a judge that was asked with several prompts, with these drawn as well."""
    cell = agreement_cell(place, given, values, statistics, how)
    for name, drawn in cell.numbers.items():
        cell.numbers[name] = _with_prompts(name, drawn, given, by_prompt, place.scorer, how)
    return cell


def _with_prompts(
    name: str, drawn: Resampled, given: Judgements, by_prompt: Array | None, scorer: str, how: How
) -> Resampled:
    """A resampled agreement with the choice of prompts drawn as well, where there were several."""
    if by_prompt is None:
        return drawn
    agreement = partial(agreement_value, name, given, how)
    return with_prompts_drawn(drawn, by_prompt[:, given.rows], agreement, scorer, how.seed)


CORRELATE = Study(
    "correlate",
    CorrelateOptions,
    question="How well do these scores agree with human judgements?",
    inputs=("translation|spans|start_indices", "score|preferences|spans|start_indices"),
    measures=(*AGREEMENTS.values(), *judges),
    gated=COMPARED,
    cells=stored_cells,
    findings=correlate_findings,
    plan=lambda options: plan(options),
)


def plan(options: CorrelateOptions) -> Plan:
    """Judge the translations that people judged."""
    data = options.dataset()
    judged = data.has("translation") and (data.has("score") or data.preferences is not None)
    if not judged and not (has_marks(data) and (options.spans or data.has("translation"))):
        raise UserError(f"{data.name} has no human judgements of translations: a column `score`, or preferences.")
    if options.scorers and not data.has("translation"):
        raise UserError(
            f"{data.name} has no translations for scorers to judge. {setting('spans', metavar='FILE')} works without."
        )
    return Plan(
        CORRELATE.name,
        options,
        data,
        scorers_of(options.scorers),
        beside=lambda: [questions_about(data)],
        with_references=data.has("references"),
        notes=data.notes,
    )


@takes(CorrelateOptions)
def correlate(options: CorrelateOptions) -> Run:
    """Each scorer's agreement with the data's human judgements, and which differences are significant."""
    statistics = [name.replace("-", "_") for name in listed(options.statistics)]
    for name in statistics:
        if name not in STATISTICS:
            raise UserError(f"no agreement is called '{name}'. {did_you_mean(name, STATISTICS)}")
    planned = plan(options)
    material = planned.data
    _require(statistics, material, options)
    with CORRELATE.session(planned, statistics=statistics) as session:
        session.attach(references_each(material.segments) if material.has("references") else None)
        if session.finished:
            return session.run
        session.say(*material.notes)
        segments = session.once("segments", lambda: material.segments.with_row_index("row"))
        keep_preferences(session)
        found = _of_spans(session, options, [name for name in statistics if name in OF_SPANS])
        statistics = [name for name in statistics if name not in OF_SPANS]
        if not session.scorers or not (material.has("score") or material.preferences is not None):
            return session.finish(found, reference=material.reference)
        keys = segments.select("row", "id", "language_pair", "system")
        told = partial(of_each, session.scorers, lambda scorer: _values(scorer, session))
        scores = session.once("scores", lambda: scores_frame(keys, told()))
        answers = answers_in(session, lambda: questions_about(material))
        values = {
            scorer.name: scorer.sign * scores.filter(pl.col("scorer") == scorer.name)["score"].to_numpy()
            for scorer in session.scorers
        }
        measures = agreement_results(session, options, segments, values, statistics, scores_by_prompt(answers))
        trust = reliability(answers, segments, options.resamples, options.seed)
        return session.finish(measures + found + trust, reference=material.reference)


def _of_spans(session: Session, options: CorrelateOptions, statistics: Sequence[str]) -> list[Measure]:
    """How well marked errors agree with those that people marked, where there are both."""
    data = session.data
    marking = [scorer for scorer in session.scorers if scorer.marks_errors]
    if not statistics or not has_marks(data) or not (options.spans or marking):
        return []
    judges = {name: marks_of(data, other, name) for name, other in named_spans(listed(options.spans)).items()}
    judges |= marked_by(marking, questions_about(data), session.engine) if marking else {}
    session.once("marked_errors", lambda: marks_frame(judges))
    return span_measures(data.segments, marks_in(data), judges, statistics, session.resamples, session.seed)


def _require(statistics: Sequence[str], data: Dataset, options: CorrelateOptions) -> None:
    """Refuse statistics of which none can be had from the judgements there are."""
    if options.spans or set(statistics) <= set(OF_SPANS):
        marks_in(data)
    if set(statistics) <= set(OF_SPANS):
        if not options.spans and not any(scorer.marks_errors for scorer in scorers_of(options.scorers)):
            raise UserError(
                f"None of the scorers marks errors. Use {setting('spans', metavar='FILE')} for errors marked elsewhere."
            )
        return
    if options.spans and not options.scorers:
        return
    if data.preferences is None and set(statistics) == {"darr"}:
        raise UserError(
            f"{data.name} has scores and no preferences, which darr is made of: "
            "kendall_like takes scores that differ by the threshold as preferences."
        )
    if not data.has("score") and "darr" not in statistics:
        raise UserError(f"{data.name} has preferences and no scores, which {', '.join(statistics)} need: take darr.")


def agreement_results(
    session: Session,
    options: CorrelateOptions,
    segments: pl.DataFrame,
    values: dict[str, Array],
    statistics: Sequence[str],
    by_prompt: Mapping[str, Array],
) -> list[Measure]:
    """Agreement of every scorer, and of every two of them the difference; `values` has higher is better.

    `by_prompt` has the scores of judges that were asked with several prompts, prompts × rows: the choice of prompts is
    then part of the error, of agreements and of differences; tests are about the prompts that were asked.
    """
    how = How(options.resamples, options.seed, options.threshold, options.by)
    more = replace(how, resamples=enough(options.resamples))
    given = judgements(segments, session.data.preferences)
    known = [(some, name) for some in given for name, scores in values.items() if not np.isnan(scores[some.rows]).all()]
    cells: list[Cell] = []
    with Progress("resampling", len(known) * len(statistics), "agreements", session.engine.quiet) as progress:
        for some, name in known:
            place, own = Place(some.language_pair, name), values[name][some.rows]
            cells.append(_cell(place, some, own, statistics, by_prompt.get(name), how))
            progress.advance(len(statistics))
    families = Families()
    for some in given:
        for one, other in combinations([cell for cell in cells if cell.place.language_pair == some.language_pair], 2):
            names = (one.place.scorer, other.place.scorer)
            for statistic in [name for name in COMPARED if name in one.numbers and name in other.numbers]:
                if statistic != "darr" and not has_rows(statistic, options.by):
                    continue
                ours, theirs = (values[name][some.rows] for name in names)
                drawn, test = difference(statistic, some, ours, theirs, more)
                for name in names:
                    drawn = _with_prompts(statistic, drawn, some, by_prompt.get(name), name, how)
                kind = AGREEMENTS[statistic].difference()
                place_of = {"language_pair": some.language_pair, "scorer": names[0], "other": names[1]}
                measure = measured(kind, drawn, one.sizes[statistic], **place_of)
                families.add((some.language_pair, " − ".join(names), "agreement of two scorers"), measure, test)
    return agreement_measures(cells) + families.judge()


def _values(scorer: Scorer, session: Session) -> Array:
    """One score per row; a scorer of ready-made scores must have them all where humans judged."""
    data, segments = session.data, session.data.segments
    ready = session.ready.get(scorer.name)
    scores = ready if ready is not None else score_each(scorer, questions_about(data), session.engine, data.name)
    judged = (
        segments["score"].is_not_null().to_numpy() if data.preferences is None else np.ones(len(scores), dtype=bool)
    )
    if isinstance(scorer, Scores):  # a file of ready-made scores may be of one language pair
        known = pl.DataFrame({"pair": segments["language_pair"], "known": ~np.isnan(scores)})
        judged &= known.select(pl.col("known").any().over("pair"))["known"].to_numpy()
    require_each(scorer, scores, segments, "judged translations", judged)
    return scores
