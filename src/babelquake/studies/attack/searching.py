"""One recipe against one victim: hundreds of sentences side by side, each kept as soon as it is finished.

Victims have a scale: the mean and spread of their scores of every tuple of the data (Huang 2023 §2.2).
"""

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from babelquake.attacks.attack import Attack, Check, Outcome
from babelquake.attacks.constraints import Constraint, SelfSimilarity, word_distance
from babelquake.attacks.goal import Goal, Inconsistent
from babelquake.attacks.recipes import Recipe
from babelquake.attacks.requests import AttackModels
from babelquake.attacks.sentence import Sentence
from babelquake.attacks.victim import Scale, ScorerVictim, SystemVictim, Victim
from babelquake.engine import Ask, Engine, Progress
from babelquake.errors import ResumableError
from babelquake.generators import Dialogue
from babelquake.runs.tables import Journal
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.studies.judging import of_each, require_each, scores_frame
from babelquake.systems.base import System

SCHEMA: dict[str, Any] = {
    "row": pl.Int64,
    "met": pl.Boolean,
    "fits": pl.Boolean,
    "success": pl.Boolean,
    "spent": pl.Boolean,
    "queries": pl.Int64,
    "original": pl.String,
    "perturbed": pl.String,
    "edits": pl.String,
    "words_changed": pl.Int64,
    "score": pl.Float64,
    "score_perturbed": pl.Float64,
    "gain": pl.Float64,
    "constraints": pl.String,
}
MODELS_IN_TURN = 4
"""Models that a search asks in turn, round after round: victim, masked model, fluency, similarity or chrF."""


@dataclass(frozen=True)
class Plan:
    """Everything an attack on one sentence needs but the sentence."""

    goal: Goal
    recipe: Recipe
    constraints: tuple[Constraint, ...]
    stop_words: Callable[[str], bool]
    models: AttackModels
    scorer: Scorer | None
    """The victim; None where a system is attacked."""
    scale: Scale | None
    check: Check = "after"
    max_queries: int | None = None

    def text(self, row: dict[str, Any]) -> str:
        """What is attacked: the translation, or the source where the victim is a system."""
        return str(row["source"] if self.goal.on_system else row["translation"])

    def search(self, row: dict[str, Any]) -> Generator[list[Any], list[Any], Outcome]:
        """The attack on one segment, in the engine's words."""
        attack = Attack(
            original=Sentence.of(self.text(row)),
            victim=self._victim(row),
            goal=self.goal,
            constraints=self._limits(row),
            moves=[move.of_segment(row.get("references") or ()) for move in self.recipe.moves],
            stop_words=self.stop_words,
            spared=self.recipe.stop_words,
            check=self.check,
            max_queries=self.max_queries,
        )
        return self.models.asked(attack.running(self.recipe.search))

    def _victim(self, row: dict[str, Any]) -> Victim:
        if self.scorer is None or self.scale is None:
            return SystemVictim(row["source"])
        references = tuple(row["references"]) if "reference" in self.scorer.needs else None
        return ScorerVictim(self.scale, references, self._source(row))

    def _limits(self, row: dict[str, Any]) -> tuple[Constraint, ...]:
        references = tuple(row["references"] or ()) or None
        limits = tuple(
            limit.of_segment(row["source"], references, row["language_pair"])
            for limit in (*self.recipe.constraints, *self.constraints)
        )
        if self.scorer is None or self.scale is None:
            return limits
        own = likeness(self.goal, self.scorer, self.scale, row["source"])
        fitted = [
            replace(limit, scale=self.scale.sd, source=self._source(row))
            if isinstance(limit, SelfSimilarity)
            else limit
            for limit in limits
        ]
        return (*fitted, own) if own is not None else tuple(fitted)

    def _source(self, row: dict[str, Any]) -> str | None:
        """The segment's source, where the victim looks at it."""
        return row["source"] if self.scorer is not None and "source" in self.scorer.needs else None


def likeness(goal: Goal, victim: Scorer, scale: Scale, source: str | None) -> SelfSimilarity | None:
    """How alike the victim must find original and candidate, where the goal wants that."""
    if not isinstance(goal, Inconsistent):
        return None
    symmetric = victim.tells_sides_apart if goal.similarity == "auto" else goal.similarity == "symmetric"
    return SelfSimilarity(goal.within, symmetric, scale.sd, source if "source" in victim.needs else None)


def attacked(
    engine: Engine,
    plan: Plan,
    rows: Sequence[dict[str, Any]],
    journal: Journal,
    *,
    label: str,
    width: int,
    deadline: float | None = None,
) -> pl.DataFrame:
    """Attack every row that the journal does not hold yet; the finished table, in order of the rows.

    What passes through the search is not written to disk, but for answers of paid services. At the `deadline` (of
    `time.monotonic`) the sentences in flight are given up and the run ends as one that can be continued.
    """
    done = {entry["row"]: entry for entry in journal.read()}
    left = [row for row in rows if row["row"] not in done]
    with (
        journal,
        _searching(engine) as inner,
        Progress(label, len(rows), unit="sentences", quiet=engine.quiet) as progress,
    ):
        watch = Watch(progress, label, sum(entry["success"] for entry in done.values()), deadline)
        progress.advance(len(done))
        searches = (watch.over(plan.search(row)) for row in left)
        found: Iterator[tuple[int, Outcome]] = inner.search(searches, plan.scorer, width)
        for position, outcome in found:
            entry = _entry(left[position], plan.text(left[position]), outcome)
            journal.write(entry)
            done[entry["row"]] = entry
            watch.finished(entry["success"])
    return pl.DataFrame([done[row["row"]] for row in rows], schema=SCHEMA, orient="row")


@contextmanager
def _searching(engine: Engine) -> Iterator[Engine]:
    """The engine without its bars that keeps what is paid for only: the same budget, several models resident."""
    inner = copy(engine)
    inner.searching, inner.quiet, inner.resident = True, True, MODELS_IN_TURN
    try:
        yield inner
    finally:
        engine.budget, engine.calls = inner.budget, inner.calls


class Watch:
    """Sees every question of the searches under way: tells how it goes, and ends them at the deadline.

    At least one sentence is finished before a deadline counts, so that a run with a short limit comes to its end too,
    limit by limit.
    """

    def __init__(self, progress: Progress, label: str, successes: int, deadline: float | None) -> None:
        self.progress, self.label, self.successes, self.deadline = progress, label, successes, deadline
        self.started = time.monotonic()
        self.questions = self.sentences = 0

    def over(self, search: Generator[list[Any], list[Any], Outcome]) -> Generator[list[Any], list[Any], Outcome]:
        """The same search, watched."""
        dialogue = Dialogue(search)
        while not dialogue.over:
            asked = dialogue.asked
            if self.sentences and self.deadline is not None and time.monotonic() > self.deadline:
                raise ResumableError(
                    f"the time limit is reached: {self.progress.done} of {self.progress.total} sentences are "
                    f"attacked ({self.label}). The same command continues from here."
                )
            self.questions += sum(not isinstance(one, Ask) or isinstance(one.resource, System) for one in asked)
            self._tell(0)
            dialogue.tell((yield asked))
        return dialogue.result

    def finished(self, success: bool) -> None:
        """One sentence more."""
        self.sentences += 1
        self.successes += success
        self._tell(1)

    def _tell(self, sentences: int) -> None:
        speed = self.questions / max(time.monotonic() - self.started, 1e-9)
        self.progress.advance(sentences, f"{self.label}: {self.successes} found, {speed:,.0f} queries/s")


def _entry(row: dict[str, Any], original: str, outcome: Outcome) -> dict[str, Any]:
    best = outcome.best
    return {
        "row": row["row"],
        "met": best.met,
        "fits": outcome.fits,
        "success": best.met and outcome.fits,
        "spent": outcome.spent,
        "queries": outcome.queries,
        "original": original,
        "perturbed": best.sentence.text,
        "edits": json.dumps([edit._asdict() for edit in best.sentence.edits], ensure_ascii=False),
        "words_changed": word_distance(original, best.sentence.text),
        "score": outcome.original,
        "score_perturbed": best.score,
        "gain": best.gain,
        "constraints": json.dumps(outcome.values),
    }


def judged(engine: Engine, victim: Scorer, segments: pl.DataFrame, texts: Sequence[str]) -> Array:
    """One raw score per text, as translations of segments."""
    references = segments["references"].to_list() if "reference" in victim.needs else None
    sources = segments["source"].to_list() if "source" in victim.needs else None
    return victim.score_rows(engine.judge(victim, Questions(texts, references, sources)))


def scores_of(engine: Engine, victims: Sequence[Scorer], segments: pl.DataFrame) -> pl.DataFrame:
    """Raw scores of all translations by all victims: columns row, scorer, score."""
    texts = segments["translation"].to_list()
    scores = of_each(victims, lambda victim: judged(engine, victim, segments, texts))
    for victim in victims:
        require_each(victim, scores[victim.name], segments, "translations")
    return scores_frame(segments.select("row"), scores)


def scales(victims: Sequence[Scorer], scores: pl.DataFrame) -> dict[str, Scale]:
    """Mean and standard deviation of every victim over the data."""
    return {
        victim.name: Scale.over(
            scores.filter(pl.col("scorer") == victim.name)["score"].to_numpy(), victim.higher_is_better, victim.name
        )
        for victim in victims
    }


def transfer_scores(
    engine: Engine, victims: Sequence[Scorer], found: pl.DataFrame, known: dict[str, Scale], goal: Goal
) -> pl.DataFrame:
    """Every perturbation found, under every victim, per tuple and `other`.

    Normalised scores `before` and `after`, and whether the victim finds both texts as `alike` as the goal wants.
    """

    def told(victim: Scorer) -> pl.DataFrame:
        scale = known[victim.name]
        before, after = (
            [scale.normalised(float(score)) for score in judged(engine, victim, found, found[side].to_list())]
            for side in ("original", "perturbed")
        )
        return found.select("tuple").with_columns(
            other=pl.lit(victim.name),
            before=pl.Series(before, dtype=pl.Float64),
            after=pl.Series(after, dtype=pl.Float64),
            alike=pl.Series(_alike(engine, victim, scale, found, goal), dtype=pl.Boolean),
        )

    return pl.concat(of_each(victims, told).values())


def _alike(engine: Engine, victim: Scorer, scale: Scale, found: pl.DataFrame, goal: Goal) -> list[bool]:
    """Whether the victim finds original and perturbed as alike as the goal wants; goals that want nothing take all."""
    rows = found.select("original", "perturbed", "source").rows()
    limits = [likeness(goal, victim, scale, source) for *_, source in rows]
    asked = [
        limit.measured(Sentence.of(original), [Sentence.of(perturbed)])
        for limit, (original, perturbed, _) in zip(limits, rows, strict=True)
        if limit is not None
    ]
    values = dict(engine.search(asked, victim, stored=True))
    places = iter(range(len(asked)))
    return [limit is None or limit.allows(values[next(places)][0]) for limit in limits]
