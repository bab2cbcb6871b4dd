"""The one place through which every costly call goes.

It removes duplicates, looks into the cache, sorts by length, forms batches by a callee's limits, halves a batch
that does not fit into memory, stores each finished batch at once, and returns results in input order.
"""

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from babelquake.callee import Callee, Filler, Gap
from babelquake.engine import calls
from babelquake.engine.batching import in_batches
from babelquake.engine.cache import Cache, key_of
from babelquake.engine.calls import Call
from babelquake.engine.executor import Local, Workers
from babelquake.engine.forms import COMPARISON, FILLING, JUDGEMENT, PROBABILITY, TRANSLATION, Form, utf8
from babelquake.engine.memory import BOUND, Memory
from babelquake.engine.pool import pool
from babelquake.engine.progress import Progress
from babelquake.models.base import CausalLM, Encoder, MaskedLM, Matrix, Vectors
from babelquake.scorers.base import Array, Question, Questions, Scorer, VectorScorer
from babelquake.systems.base import System

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True)
class Ask:
    """One question of a search to a callee other than its scorer: a gap to fill, a text to encode or to weigh."""

    callee: Callee
    what: Any
    option: Any = None
    """`top` for a masked language model, the layers for an encoder."""


class Engine:
    """Makes costly calls cheap and safe."""

    def __init__(
        self,
        cache: Cache | None = None,
        quiet: bool = False,
        workers: Workers | None = None,
        memory_bytes: int = BOUND,
    ) -> None:
        self.cache = cache
        self.quiet = quiet
        self.workers = workers
        self.memory = Memory(memory_bytes)
        self.calls = 0
        """Texts that were really sent to a system or a costly scorer."""

    def translate(self, system: System, texts: Sequence[str]) -> list[str]:
        """One translation per text. Blank texts translate to nothing and are never sent."""
        call: Call[System, str, str] = Call(system, calls.translations, self.memory)
        given = [text if text.strip() else "" for text in texts]
        return self._answered(call, given, TRANSLATION, f"translating with {system.name}", {"": ""})

    def untranslated(self, system: System, texts: Sequence[str]) -> list[str]:
        """The distinct texts a `translate` would have to send: what a dry run counts."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if self.cache is None:
            return distinct
        keys = {text: key_of(system.signature, utf8(text)) for text in distinct}
        known = self.cache.get(list(keys.values()))
        return [text for text in distinct if keys[text] not in known]

    def judge(self, scorer: Scorer, questions: Questions, stored: bool = True) -> Array:
        """A scorer's rows for any number of questions; what is not `stored` leaves no trace on disk."""
        if not len(questions):
            return scorer.statistics(questions)
        label = f"scoring with {scorer.name}"
        if not scorer.costly:
            return self._computed(scorer, questions, label)
        call: Call[Scorer, Question, Array] = Call(scorer, calls.statistics, self.memory)
        form = COMPARISON if isinstance(scorer, VectorScorer) else JUDGEMENT
        rows = self._answered(call, questions.one_by_one(scorer.needs), form, label, {}, stored)
        return np.stack(rows)

    def encode(self, encoder: Encoder, texts: Sequence[str], layers: Sequence[int] = (0,)) -> Vectors:
        """Encodings by text, kept in memory and never on disk: vectors are large and soon made again."""
        return self.memory.encode(encoder, texts, tuple(layers))

    def fill(self, masked: MaskedLM, gaps: Sequence[Gap], top: int = 50, stored: bool = True) -> list[list[Filler]]:
        """For each gap the words that a masked language model offers."""
        call: Call[MaskedLM, Gap, list[Filler]] = Call(masked, calls.fillers, self.memory, {"top": top})
        return self._answered(call, gaps, FILLING, f"filling gaps with {masked.name}", {}, stored)

    def log_probabilities(self, causal: CausalLM, texts: Sequence[str], stored: bool = True) -> list[Matrix]:
        """For each text its tokens' log-probabilities under a causal language model."""
        call: Call[CausalLM, str, Matrix] = Call(causal, calls.log_probabilities, self.memory)
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
        for an `Ask` what its callee says. What all open searches ask is answered together, in full batches.
        """
        return pool(searches, lambda asked: self._all(asked, scorer, stored), width)

    def _all(self, asked: Sequence[Any], scorer: Scorer | None, stored: bool) -> list[Any]:
        """Answers to questions of every kind, in order: those to the same callee go together."""
        groups: dict[tuple[int, Any], list[int]] = {}
        for place, one in enumerate(asked):
            group = (id(one.callee), one.option) if isinstance(one, Ask) else (0, None)
            groups.setdefault(group, []).append(place)
        answers: list[Any] = [None] * len(asked)
        for places in groups.values():
            first, some = asked[places[0]], [asked[place] for place in places]
            found = self._asked(first, some, stored) if isinstance(first, Ask) else self._scores(scorer, some, stored)
            for place, answer in zip(places, found, strict=True):
                answers[place] = answer
        return answers

    def _asked(self, first: Ask, asks: Sequence[Ask], stored: bool) -> list[Any]:
        what = [ask.what for ask in asks]
        match first.callee:
            case Scorer() as scorer:
                return self._scores(scorer, what, stored)
            case MaskedLM() as masked:
                return self.fill(masked, what, first.option or 50, stored)
            case CausalLM() as causal:
                return self.log_probabilities(causal, what, stored)
            case Encoder() as encoder:
                found = self.encode(encoder, what, first.option or (0,))
                return [found[text] for text in what]
            case System() as system:
                return self.translate(system, what)
        raise TypeError(f"{first.callee!r} is nothing that can be asked")

    def _scores(self, scorer: Scorer | None, questions: Sequence[Question], stored: bool) -> list[float]:
        if scorer is None:
            raise TypeError("a search asks questions, but no scorer was given")
        scores: list[float] = scorer.score_rows(self.judge(scorer, Questions.of(questions), stored)).tolist()
        return scores

    def _computed(self, scorer: Scorer, questions: Questions, label: str) -> Array:
        """Rows that are cheaper to compute than to look up."""
        with Progress(label, len(questions), quiet=self.quiet) as progress:
            parts = []
            for start in range(0, len(questions), scorer.limits.texts):
                parts.append(scorer.statistics(questions.rows(start, start + scorer.limits.texts)))
                progress.advance(len(parts[-1]))
        return np.concatenate(parts)

    def _answered(
        self,
        call: Call[Any, Q, A],
        asked: Sequence[Q],
        form: Form[Q, A],
        label: str,
        known: dict[Q, A],
        stored: bool = True,
    ) -> list[A]:
        """Answers in order: duplicates asked once, known ones not at all, each finished batch stored at once."""
        cache = self.cache if stored else None
        distinct = [one for one in dict.fromkeys(asked) if one not in known]
        option = "".join(f"|{name}:{value}" for name, value in sorted(call.options.items()))
        signature = call.callee.signature + option
        keys = {one: key_of(signature, form.key(one)) for one in distinct} if self.cache else {}
        found = self.cache.get(list(keys.values())) if self.cache else {}
        answers = known | {one: form.read(found[key]) for one, key in keys.items() if key in found}
        missing = sorted((one for one in distinct if one not in answers), key=form.order)
        batches = in_batches(missing, call.callee.limits, form.length)
        workers = self.workers or Local(call.callee.limits.concurrent)
        with Progress(label, len(missing), quiet=self.quiet) as progress:
            for position, results in workers.unordered(call, batches):
                batch = batches[position]
                answers.update(zip(batch, results, strict=True))
                if cache:
                    cache.put({keys[one]: form.write(answers[one]) for one in batch})
                self.calls += len(batch)
                progress.advance(len(batch))
        return [answers[one] for one in asked]
