"""How far a judge that is asked in several ways can be trusted: asked again, in the other order, with other prompts.

A judge's answers are a table of segments × prompts × orders × repeats. Segments are the unit of chance throughout:

- `repeat_sd`: how far answers to the very same question scatter, pooled over segments, prompts and orders;
- `order_bias`: by how many points of 100 a translation is liked better when it is shown first; tested by exchanging the
  two orders of whole segments;
- `prompt_sd`: the standard deviation over prompts, from a two-way analysis of variance (`stats.variance_components`);
- `parse_failures`: answers that are not what was asked for.

Agreement with people has two sources of error: the segments that people judged, and the prompts with which the judge
was asked. Repeats differ from segment to segment by chance, which drawing segments takes in; a prompt is the same for
all of them, so prompts are drawn as well (`with_prompts_drawn`): prompts with replacement, scores averaged over them,
the agreement computed again; its deviations, enlarged by √(P/(P − 1)) as a sample of P underestimates its variance, are
added to those of the drawn segments. Both orders are always asked, and are not drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl

from babelquake.engine import Engine
from babelquake.randomness import Stream
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import Measure, Results
from babelquake.scorers import Questions
from babelquake.scorers.base import Array
from babelquake.scorers.llm_judge import LlmJudge, Way
from babelquake.stats.bootstrap import Resampled, bootstrap, ratio_of
from babelquake.stats.reliability import components
from babelquake.stats.resampling import Keys, by_unit
from babelquake.studies.card import Session
from babelquake.studies.cells import Families, difference_of, enough, measured, share
from babelquake.studies.kinds import judges
from babelquake.studies.segment_units import unit_keys

ANSWERS = "answers"
"""The table with every answer of every judge."""
DRAWS = 200
"""How often prompts are drawn."""
RATIO = ratio_of(0, 1)


@dataclass(frozen=True)
class Panel:
    """What one judge answered: `scores` is prompts × orders × repeats × segments, NaN where nothing could be read."""

    scorer: str
    scores: Array

    @property
    def by_prompt(self) -> Array:
        """Its score with each prompt alone, prompts × segments."""
        return _mean(self.scores, (1, 2))


def answers_of(judges: Sequence[LlmJudge], questions: Questions, engine: Engine) -> pl.DataFrame:
    """Every answer of every judge to questions that were judged before: nothing is asked twice."""
    rows = pl.int_range(len(questions), dtype=pl.UInt32, eager=True)
    return pl.concat(
        pl.DataFrame({"row": rows}).with_columns(
            scorer=pl.lit(judge.name),
            prompt=pl.lit(way.prompt, pl.UInt32),
            swapped=pl.lit(way.swapped),
            repeat=pl.lit(way.repeat, pl.UInt32),
            score=pl.Series(one.score_rows(engine.judge(one, questions)), dtype=pl.Float64).fill_nan(None),
        )
        for judge in judges
        for way, one in zip(judge.asked if len(judge.ways) > 1 else [judge.way], judge.ways, strict=True)
    )


def answers_in(session: Session, questions: Callable[[], Questions]) -> pl.DataFrame:
    """The table of a study's chat models, stored with its run; an empty one where no scorer is one."""
    judges = [scorer for scorer in session.scorers if isinstance(scorer, LlmJudge)]
    return session.once(ANSWERS, lambda: answers_of(judges, questions(), session.engine)) if judges else pl.DataFrame()


def panels_of(answers: pl.DataFrame) -> list[Panel]:
    """The answers as one table per judge."""
    found = []
    for (scorer,), part in answers.group_by("scorer", maintain_order=True) if answers.height else ():
        ways = [Way(*way) for way in part.select("prompt", "swapped", "repeat").unique(maintain_order=True).rows()]
        shape = tuple(len({way[place] for way in ways}) for place in range(3))
        ordered = part.sort("prompt", "swapped", "repeat", "row")["score"].to_numpy()
        found.append(Panel(str(scorer), ordered.astype(np.float64).reshape(*shape, -1)))
    return found


def reliability(answers: pl.DataFrame, segments: pl.DataFrame, resamples: int, seed: int) -> list[Measure]:
    """All measures of every judge, per language pair; `segments` has one row for each that was judged, in order."""
    pairs = segments["language_pair"]
    keys = unit_keys(segments)
    families, measures = Families(), []
    for panel in panels_of(answers):
        for pair in pairs.unique(maintain_order=True):
            here = np.flatnonzero(pairs.eq_missing(pl.Series([pair], dtype=pairs.dtype)).to_numpy())
            place = {"language_pair": pair, "scorer": panel.scorer}
            measures += _of_one(panel.scores[..., here], keys[here], place, resamples, seed, families)
    return measures + families.judge()


def _of_one(
    scores: Array, keys: Keys, place: dict[str, str | None], resamples: int, seed: int, families: Families
) -> list[Measure]:
    (prompts, orders, repeats, _), n = scores.shape, len(np.unique(keys))
    # the interval of what could not be read has as many units as there are segments
    measures = [share(judges.PARSE_FAILURES, float(np.isnan(scores).mean()) * n, n, **place)]
    if repeats > 1:
        units, rows = by_unit(keys, _within(scores))
        drawn = bootstrap(lambda sums: np.sqrt(RATIO(sums)), [rows], resamples, seed, units)
        if np.isfinite(drawn.value):
            measures.append(measured(judges.REPEAT_SD, drawn, n, **place))
    if prompts > 1:
        table = _mean(scores, (1, 2)).T
        table = table[np.isfinite(table).all(axis=1)]
        if len(table) > 1:
            found = components(table)[0]
            measures.append(Measure(judges.PROMPT_SD, found.value, len(table), low=found.low, high=found.high, **place))  # type: ignore[arg-type]
    if orders > 1:
        first, second = _mean(scores[:, 0], (0, 1)), _mean(scores[:, 1], (0, 1))
        known = np.isfinite(first + second)
        if known.any():
            ones = np.ones(int(known.sum()))
            sides = [by_unit(keys[known], np.stack([one[known], ones], axis=1))[1] for one in (first, second)]
            units = np.unique(keys[known])
            drawn, test = difference_of(RATIO, sides, units, enough(resamples), seed)
            bias = measured(judges.ORDER_BIAS, drawn, len(units), **place)
            families.add((place["language_pair"], place["scorer"], "order"), bias, test)
    return measures


def _within(scores: Array) -> Array:
    """Per segment the squared deviations of repeats from their mean, and their degrees of freedom."""
    known = np.isfinite(scores)
    counts = known.sum(axis=2)
    means = np.where(known, scores, 0.0).sum(axis=2) / np.maximum(counts, 1)
    squares = np.where(known, (scores - means[:, :, None]) ** 2, 0.0).sum(axis=(0, 1, 2))
    return np.stack([squares, np.maximum(counts - 1, 0).sum(axis=(0, 1))], axis=1).astype(np.float64)


def _mean(scores: Array, axes: tuple[int, ...]) -> Array:
    """The mean of what could be read; NaN where nothing could."""
    known = np.isfinite(scores)
    counts = known.sum(axis=axes)
    sums = np.where(known, scores, 0.0).sum(axis=axes)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def with_prompts_drawn(
    drawn: Resampled, by_prompt: Array, agreement: Callable[[Array], float], scorer: str, seed: int
) -> Resampled:
    """A resampled agreement with the choice of prompts as a second source of error; `by_prompt` is prompts × rows."""
    prompts = len(by_prompt)
    if prompts < 2:
        return drawn
    rng = Stream("prompts", seed, scorer)
    chosen = [[rng.below(prompts) for _ in range(prompts)] for _ in range(DRAWS)]
    known = {tuple(sorted(some)): 0.0 for some in chosen}
    for some in known:
        known[some] = agreement(_mean(by_prompt[list(some)], (0,)))
    values = np.array([known[tuple(sorted(some))] for some in chosen])
    values = values[np.isfinite(values)]
    if not values.size:
        return drawn
    deviations = (values - values.mean()) * sqrt(prompts / (prompts - 1))
    added = deviations[np.arange(drawn.values.size) % deviations.size]
    return Resampled(drawn.value, np.clip(drawn.values + added, -1, 1))


def scores_by_prompt(answers: pl.DataFrame) -> dict[str, Array]:
    """The scores of judges with each prompt alone, prompts × rows, by scorer."""
    return {panel.scorer: panel.by_prompt for panel in panels_of(answers)}


FINDINGS = {
    "judge_unread": judges.PARSE_FAILURES,
    "judge_again": judges.REPEAT_SD,
    "judge_order": judges.ORDER_BIAS,
    "judge_prompts": judges.PROMPT_SD,
}
"""What is said of each measure."""


def judge_findings(results: Results) -> list[Finding]:
    """How far each judge can be trusted, as far as it was measured; nothing on answers where all could be read."""
    return [
        Finding.on(what, row, test=number if number.tested else None)
        for what, kind in FINDINGS.items()
        for row in results.known(kind.name)
        if (number := Number.of(row)).value or kind is not judges.PARSE_FAILURES
    ]
