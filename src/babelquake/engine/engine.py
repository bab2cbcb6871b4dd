"""The one place through which every costly call goes.

It removes duplicates, looks into the cache, sorts by length, forms batches by a resource's limits, halves a batch
that does not fit into memory, stores each finished batch at once, and returns results in input order.
"""

import struct
import time
from collections.abc import Callable, Container, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast

import numpy as np

from babelquake.engine import worker
from babelquake.engine.cache import Cache, key_of
from babelquake.engine.executor import Local, Workers
from babelquake.engine.memory import BOUND, Memory
from babelquake.engine.progress import Progress
from babelquake.engine.question_kinds import (
    COMPARISON,
    FILLING,
    JUDGEMENT,
    MARKING,
    PROBABILITY,
    TRANSLATION,
    Form,
    Shortfalls,
    utf8,
)
from babelquake.engine.searches import answer_all, pool
from babelquake.engine.worker import Call, Unanswered
from babelquake.errors import ResumableError, setting
from babelquake.interrupts import pause, uninterrupted
from babelquake.models.base import CausalLM, Encoder, Encoding, MaskedLM, Matrix, Span, Vectors
from babelquake.resource import Filler, Gap, Limits, Resource
from babelquake.scorers.base import Array, Question, Questions, Scorer, VectorScorer
from babelquake.systems.base import System
from babelquake.systems.defended import Defended

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")
R = TypeVar("R")
SPEED = "speed"
"""Under this the cache knows how fast resources answer, by their signatures."""
FEWEST = 8
"""Fewer answers say nothing about speed."""
SIDE_BY_SIDE = 512
"""Questions that scorers of one encoder judge in turn, while its vectors are in memory."""
BETWEEN_LOOKS = 0.5
"""Seconds between two looks for what another process is asking for."""


class Engine:
    """Makes costly calls cheap and safe."""

    def __init__(
        self,
        cache: Cache | None = None,
        quiet: bool = False,
        workers: Workers | None = None,
        memory_bytes: int = BOUND,
        on_error: Literal["keep", "stop"] = "keep",
        budget: int | None = None,
    ) -> None:
        self.cache = cache
        self.quiet = quiet
        self.workers = workers
        self.memory = Memory(memory_bytes)
        self.calls = 0
        """Texts that were really sent to a system or a costly scorer."""
        self.budget = budget
        """Characters that remote resources may still be sent; None where nobody counts."""
        self.resident = 1
        """Models that a worker elsewhere keeps in memory: one, but where several are asked in turn."""
        self.searching = False
        """Whether only paid services' answers are looked up and kept: a search asks much that is sooner computed."""
        self._shortfalls = Shortfalls(on_error)
        self._paid: dict[str, dict[Any, Any]] = {}
        """Answers of paid services by signature and question, where there is no cache to keep them."""

    def translate(self, system: System, texts: Sequence[str]) -> list[str]:
        """One translation per text. Blank texts translate to nothing and are never sent."""
        return [system.reading(answer).translation for answer in self.answers(system, texts)]

    def answers(self, system: System, texts: Sequence[str]) -> list[str]:
        """A system's answers to texts or inquiries, word for word: what is kept, whatever is read from it."""
        given = [text if text.strip() else "" for text in texts]
        if isinstance(system, Defended):
            return system.follow(given, self.translate)
        call = self._call(system, worker.translations)
        found: list[str] = self._answered(call, given, TRANSLATION, f"translating with {system.name}", {"": ""})
        self._shortfalls.hear(system.name, given, found)
        return found

    @property
    def notes(self) -> list[str]:
        """What a reader of the results must know: texts that have no answer, systems that say nothing."""
        return self._shortfalls.notes

    def unsent(self, system: System, texts: Sequence[str]) -> list[tuple[System, list[str]]]:
        """The distinct texts a `translate` would have to send, by system, a defended one's and its defences' own."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if isinstance(system, Defended):
            return [part for one, asked in system.would_ask(distinct) for part in self.unsent(one, asked)]
        _, known = self._looked_up(system.signature, distinct, TRANSLATION)
        return [(system, [text for text in distinct if text not in known])]

    def seconds(self, signature: str, texts: int) -> float | None:
        """How long so many answers take at the speed of earlier calls; None where there were none."""
        if not texts:
            return 0.0
        known = self.cache.get([key_of(SPEED, signature.encode())]) if self.cache else {}
        return texts / struct.unpack("<d", next(iter(known.values())))[0] if known else None

    def judge(self, scorer: Scorer, questions: Questions, stored: bool = True) -> Array:
        """A scorer's rows for any number of questions; what is not `stored` leaves no trace on disk."""
        if not len(questions):
            return scorer.statistics(questions)
        if len(ways := scorer.ways) > 1:
            return scorer.together([self.judge(one, questions, stored) for one in ways])
        scorer.prepare(questions)
        label = f"scoring with {scorer.name}"
        return (
            self._judged(scorer, questions, label, stored)
            if scorer.costly
            else self._computed(scorer, questions, label)
        )

    def _judged(self, scorer: Scorer, questions: Questions, label: str, stored: bool) -> Array:
        """Rows that are looked up, or asked for; no `label`, no progress bar."""
        form = COMPARISON if isinstance(scorer, VectorScorer) else JUDGEMENT
        call = self._call(scorer, worker.statistics)
        rows = self._answered(call, questions.one_by_one(scorer.needs), form, label, {}, stored)
        return np.stack(rows)

    def mark(self, scorer: Scorer, questions: Questions) -> list[list[Span]]:
        """The errors that a scorer marks in each translation. What it still remembers from judging costs nothing.

        A scorer that is asked in several ways marks those of the first.
        """
        scorer = scorer.ways[0]
        call = self._call(scorer, worker.marks, what="errors")
        form = replace(MARKING, length=lambda one: 0 if scorer.remembers(one) else one.characters)
        return self._answered(call, questions.one_by_one(scorer.needs), form, f"marking with {scorer.name}", {})

    def unjudged(self, scorer: Scorer, questions: Questions) -> list[Question]:
        """The distinct questions a `judge` would have to ask, in each way: what a budget counts."""
        if len(ways := scorer.ways) > 1:
            return [question for one in ways for question in self.unjudged(one, questions)]
        distinct = list(dict.fromkeys(questions.one_by_one(scorer.needs)))
        _, known = self._looked_up(scorer.signature, distinct, JUDGEMENT)
        return [question for question in distinct if question not in known]

    def judge_all(self, scorers: Sequence[Scorer], questions: Questions) -> list[Array]:
        """The rows of several scorers. Those that share an encoder go side by side: it reads every text once."""
        together = [scorer for scorer in scorers if isinstance(scorer, VectorScorer)]
        if len(together) < 2 or not len(questions):
            return [self.judge(scorer, questions) for scorer in scorers]
        for scorer in together:
            scorer.prepare(questions)
        asked = questions.one_by_one(frozenset().union(*(scorer.needs for scorer in together)))
        order = sorted(range(len(asked)), key=lambda place: COMPARISON.order(asked[place]))
        rows: dict[int, list[Array]] = {id(scorer): [] for scorer in together}
        with (
            self.memory.expecting(wanted for scorer in together for wanted in scorer.encoders()),
            Progress(f"scoring with {together[0].name} and others", len(asked), quiet=self.quiet) as progress,
        ):
            for start in range(0, len(order), SIDE_BY_SIDE):
                part = questions.take(order[start : start + SIDE_BY_SIDE])
                for scorer, found in self._side_by_side(together, part):
                    rows[id(scorer)].append(found)
                progress.advance(len(part))
        back = np.argsort(np.array(order), kind="stable")
        return [
            np.concatenate(rows[id(scorer)])[back] if id(scorer) in rows else self.judge(scorer, questions)
            for scorer in scorers
        ]

    def _side_by_side(self, scorers: Sequence[VectorScorer], part: Questions) -> Iterator[tuple[VectorScorer, Array]]:
        """The rows of every scorer, each kin in one go; workers elsewhere are asked one scorer at a time."""
        kins: dict[Hashable, list[VectorScorer]] = {}
        for scorer in scorers:
            kins.setdefault(id(scorer) if self.workers else scorer.kin, []).append(scorer)
        for kin in kins.values():
            if len(kin) == 1:
                yield kin[0], self._judged(kin[0], part, "", stored=True)
            else:
                yield from zip(kin, self._judged_as_one(kin, part), strict=True)

    def _judged_as_one(self, kin: Sequence[VectorScorer], part: Questions) -> list[Array]:
        asked = part.one_by_one(kin[0].needs)
        distinct = list(dict.fromkeys(asked))
        looked_up = [
            ({}, {}) if self.searching else self._looked_up(scorer.signature, distinct, COMPARISON) for scorer in kin
        ]
        missing = [one for one in distinct if any(one not in answers for _, answers in looked_up)]
        call = self._call(kin[0], worker.statistics_of_all, kin=kin)
        for batch in in_batches(sorted(missing, key=COMPARISON.order), kin[0].limits, COMPARISON.length):
            rows = np.stack(cast(list[Array], call(batch)), axis=1)
            for (keys, answers), own in zip(looked_up, rows, strict=True):
                some = dict(zip(batch, own, strict=True))
                answers.update(some)
                if self.cache and not self.searching:
                    self.cache.put({keys[one]: COMPARISON.write(row) for one, row in some.items()}, durable=False)
            self.calls += len(batch) * len(kin)
        return [np.stack([answers[one] for one in asked]) for _, answers in looked_up]

    def encode(self, encoder: Encoder, texts: Sequence[str], layers: Sequence[int] = (0,)) -> Vectors:
        """Encodings by text, kept in memory and never on disk: vectors are large and soon made again."""
        if self.workers is None:
            return self.memory.encode(encoder, texts, tuple(layers))
        workers = self.workers

        def elsewhere(asked: tuple[int, ...], batches: list[list[str]]) -> Iterator[tuple[int, list[Encoding]]]:
            call = self._call(encoder, worker.encodings, layers=asked)
            return cast(Iterator[tuple[int, list[Encoding]]], workers.unordered(call, batches))

        return self.memory.encode(encoder, texts, tuple(layers), elsewhere)

    def spread(self, function: Callable[[Q], A], pieces: Iterable[Q]) -> Iterator[tuple[int, A]]:
        """A function that calls no model, on the workers: (position, result) of every piece as soon as it is there."""
        return (self.workers or Local()).unordered(function, pieces)

    def fill(self, masked: MaskedLM, gaps: Sequence[Gap], top: int = 50, stored: bool = True) -> list[list[Filler]]:
        """For each gap the words that a masked language model offers."""
        call = self._call(masked, worker.fillers, top=top)
        return self._answered(call, gaps, FILLING, f"filling gaps with {masked.name}", {}, stored)

    def log_probabilities(self, causal: CausalLM, texts: Sequence[str], stored: bool = True) -> list[Matrix]:
        """For each text its tokens' log-probabilities under a causal language model."""
        call = self._call(causal, worker.log_probabilities)
        return self._answered(call, texts, PROBABILITY, f"weighing with {causal.name}", {}, stored)

    def search(
        self,
        searches: Iterable[Generator[list[Any], list[Any], R]],
        scorer: Scorer | None = None,
        width: int = 256,
        stored: bool = False,
    ) -> Iterator[tuple[int, R]]:
        """Run searches side by side; yields (position, return value) as each finishes.

        A search yields lists of questions and is sent their answers: for a `Question` the score that `scorer` gives,
        for an `Ask` what its resource says. What all open searches ask is answered together, in full batches.
        """
        return pool(searches, lambda asked: answer_all(self, asked, scorer, stored), width)

    def _computed(self, scorer: Scorer, questions: Questions, label: str) -> Array:
        """Rows that are cheaper to compute than to look up; a scorer that knows the data stays where they are."""
        step = scorer.limits.texts
        starts = range(0, len(questions), step)
        blocks = (questions.rows(start, start + step) for start in starts)
        call = self._call(scorer, worker.statistics)
        parts: dict[int, Array] = {}
        travels = type(scorer).attach is Scorer.attach
        with Progress(label, len(questions), quiet=self.quiet) as progress:
            here = Local(min(scorer.limits.concurrent, len(starts)))
            for place, part in ((travels and self.workers) or here).unordered(call.rows, blocks):
                parts[place] = part
                progress.advance(len(part))
        return np.concatenate([parts[place] for place in sorted(parts)])

    def _call(self, resource: Any, ask: Callable[..., list[Any]], **options: Any) -> Call[Any, Any, Any]:
        """One kind of question to a resource, as workers are asked it."""
        return Call(resource, ask, self.memory, options, self.resident)

    def _answered(
        self,
        call: Call[Any, Q, A],
        asked: Sequence[Q],
        form: Form[Q, A],
        label: str,
        known: dict[Q, A],
        stored: bool = True,
    ) -> list[A]:
        """Answers in order: duplicates asked once, known ones not at all, each finished batch stored at once.

        What a paid service answers is stored in any case, and in memory where there is no cache.
        """
        remote = getattr(call.resource, "remote", False)
        option = "".join(f"|{name}:{value}" for name, value in sorted(call.options.items()))
        signature = call.resource.signature + option
        known = known | self._paid.get(signature, {})
        distinct = [one for one in dict.fromkeys(asked) if one not in known]
        cache = self.cache if remote or not self.searching else None
        keys, kept = self._looked_up(signature, distinct, form) if cache is not None else ({}, {})
        answers = known | kept
        unanswered: dict[Q, str] = {}

        def keep(some: dict[Q, A]) -> None:
            answers.update(some)
            if cache is not None and some and (stored or remote):
                cache.put({keys[one]: form.write(answer) for one, answer in some.items()}, durable=remote)
            elif remote:
                self._paid.setdefault(signature, {}).update(some)

        def ask(missing: list[Q]) -> None:
            batches = in_batches(missing, call.resource.limits, form.length)
            workers = self.workers or Local(call.resource.limits.concurrent, apart=remote)
            try:
                for position, results in workers.unordered(call, self._affordable(call.resource, batches, form)):
                    batch = batches[position]
                    outcome = dict(zip(batch, results, strict=True))
                    keep({one: answer for one, answer in outcome.items() if not isinstance(answer, Unanswered)})
                    unanswered.update(
                        {one: each.reason for one, each in outcome.items() if isinstance(each, Unanswered)}
                    )
                    self.calls += len(batch)
                    progress.advance(len(batch))
            except ResumableError as error:
                keep({one: form.read(utf8(error.answers[one])) for one in missing if one in error.answers})
                raise

        missing = sorted((one for one in distinct if one not in answers), key=form.order)
        quiet, started = self.quiet or not label, time.monotonic()
        with Progress(label, len(missing), quiet=quiet) as progress, uninterrupted() if remote else nullcontext():
            if not remote or cache is None:
                ask(missing)
            else:
                for mine in self._unclaimed(cache, missing, keys, form, answers, unanswered):
                    ask(mine)
        seconds = time.monotonic() - started
        if self.cache is not None and len(missing) >= FEWEST and seconds > 0:  # for forecasts
            self.cache.put({key_of(SPEED, call.resource.signature.encode()): struct.pack("<d", len(missing) / seconds)})
        if unanswered:
            answers.update(self._shortfalls.stand_ins(call.resource, unanswered, len(distinct), form))
        return [answers[one] for one in asked]

    def _unclaimed(
        self,
        cache: Cache,
        missing: list[Q],
        keys: dict[Q, bytes],
        form: Form[Q, A],
        answers: dict[Q, A],
        unanswered: Container[Q],
    ) -> Iterator[list[Q]]:
        """What this process has to ask: what another one is asking for is waited for, so that nothing is paid twice."""
        while missing:
            with cache.asking([keys[one] for one in missing]) as free:
                answers.update(_stored(cache, keys, missing, form))  # by somebody between the last look and the claim
                if mine := [one for one in missing if keys[one] in free and one not in answers]:
                    yield mine
            missing = [one for one in missing if one not in answers and one not in unanswered]
            if missing:
                self._await(cache, missing, keys, form, answers)
                missing = [one for one in missing if one not in answers]

    def _await(
        self, cache: Cache, missing: list[Q], keys: dict[Q, bytes], form: Form[Q, A], answers: dict[Q, A]
    ) -> None:
        """Wait until another process has some of the answers, or no longer asks for them."""
        while True:
            pause(BETWEEN_LOOKS)
            answers.update(_stored(cache, keys, missing, form))
            left = [keys[one] for one in missing if one not in answers]
            if not left or cache.unasked(left):
                return

    def _looked_up(self, signature: str, questions: Sequence[Q], form: Form[Q, A]) -> tuple[dict[Q, bytes], dict[Q, A]]:
        """The cache's keys of questions, and the answers that it has; nothing where there is no cache."""
        if self.cache is None:
            return {}, {}
        keys = {one: key_of(signature, form.key(one)) for one in questions}
        return keys, _stored(self.cache, keys, questions, form)

    def _affordable(self, resource: Resource, batches: list[list[Q]], form: Form[Q, A]) -> Iterator[list[Q]]:
        """The batches, as long as the budget lasts: what is sent twice counts twice."""
        if self.budget is None or not getattr(resource, "remote", False):
            yield from batches
            return
        resent = 0
        for batch in batches:
            again = getattr(resource, "resent", 0)
            self.budget -= again - resent
            resent = again
            size = sum(map(form.length, batch))
            if size > self.budget:
                raise ResumableError(
                    f"the budget is used up: {size:,} more characters would go to {resource.name}, "
                    f"{max(0, self.budget):,} are left. Run it again with a larger {setting('budget')} to continue."
                )
            self.budget -= size
            yield batch


def in_batches(items: Sequence[A], limits: Limits, length: Callable[[A], int]) -> list[list[A]]:
    """Cut a list into batches that respect the number of items and of characters; an item too long goes alone."""
    batches: list[list[A]] = []
    characters = 0
    for item in items:
        size = length(item)
        full = batches and (
            len(batches[-1]) >= limits.texts
            or (limits.characters is not None and characters + size > limits.characters)
        )
        if not batches or full:
            batches.append([])
            characters = 0
        batches[-1].append(item)
        characters += size
    return batches


S = TypeVar("S", bound=Scorer)


def sharing(scorers: Iterable[S]) -> list[list[S]]:
    """Scorers in groups, each group with the models it needs in memory: those of one encoder belong together."""
    groups: dict[tuple[str, ...] | int, list[S]] = {}
    for scorer in scorers:
        key: tuple[str, ...] | int = id(scorer)
        if isinstance(scorer, VectorScorer):
            key = tuple(wanted.encoder.signature for wanted in scorer.encoders())
        groups.setdefault(key, []).append(scorer)
    return list(groups.values())


def in_turn(scorers: Iterable[S]) -> Iterator[S]:
    """Scorers one after another, those of one encoder together; each group gives its models back before the next.

    A group that is alone keeps them: nothing comes after it, and what asks it again need not load it again.
    """
    groups = list(sharing(scorers))
    for group in groups:
        yield from group
        if len(groups) > 1:
            for scorer in group:
                scorer.close()


def _stored(cache: Cache, keys: dict[Q, bytes], questions: Iterable[Q], form: Form[Q, A]) -> dict[Q, A]:
    """The answers that the cache has."""
    wanted = {one: keys[one] for one in questions}
    found = cache.get(list(wanted.values()))
    return {one: form.read(found[key]) for one, key in wanted.items() if key in found}
