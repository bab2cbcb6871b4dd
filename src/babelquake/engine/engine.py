"""The one place through which every costly call goes.

It removes duplicates by text, looks into the cache, sorts by length, forms batches by a budget, halves a batch
that does not fit into memory, stores each finished batch at once, and returns results in input order.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from babelquake.engine.cache import Cache, key_of
from babelquake.engine.executor import Local, Workers
from babelquake.engine.progress import Progress
from babelquake.errors import ResumableError
from babelquake.scorers.base import Array, Batch, Scorer
from babelquake.systems.base import Limits, System

T = TypeVar("T")
CHEAP_ROWS = 16384
"""Segments a cheap scorer gets at once: enough to be fast, few enough to bound memory."""
COSTLY_LIMITS = Limits(texts=64, characters=16_000)


class Engine:
    """Makes costly calls cheap and safe."""

    def __init__(self, cache: Cache | None = None, quiet: bool = False, workers: Workers | None = None) -> None:
        self.cache = cache
        self.quiet = quiet
        self.workers = workers
        self.calls = 0
        """Texts that were really sent to a system or a costly scorer."""

    def translate(self, system: System, texts: Sequence[str]) -> list[str]:
        """One translation per text. Blank texts translate to nothing and are never sent."""
        return self._cached(
            [text if text.strip() else "" for text in texts],
            system.signature,
            system.limits,
            partial(_checked, system),
            encode=lambda value: value.encode("utf-8", "surrogatepass"),
            decode=lambda data: data.decode("utf-8", "surrogatepass"),
            label=f"translating with {system.name}",
            known={"": ""},
        )

    def untranslated(self, system: System, texts: Sequence[str]) -> list[str]:
        """The distinct texts a `translate` would have to send: what a dry run counts."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if self.cache is None:
            return distinct
        keys = {text: key_of(system.signature, text) for text in distinct}
        known = self.cache.get(list(keys.values()))
        return [text for text in distinct if keys[text] not in known]

    def statistics(self, scorer: Scorer, batch: Batch) -> Array:
        """A scorer's rows for a batch of any length."""
        if not len(batch):
            return scorer.statistics(batch)
        if not scorer.costly:
            with Progress(f"scoring with {scorer.name}", len(batch), quiet=self.quiet) as progress:
                parts = []
                for start in range(0, len(batch), CHEAP_ROWS):
                    parts.append(scorer.statistics(batch.rows(start, start + CHEAP_ROWS)))
                    progress.advance(len(parts[-1]))
            return np.concatenate(parts)
        questions = [_question(scorer, batch, row) for row in range(len(batch))]
        rows = self._cached(
            questions,
            scorer.signature,
            COSTLY_LIMITS,
            partial(_judged, scorer),
            encode=lambda value: np.asarray(value, dtype="<f8").tobytes(),
            decode=lambda data: np.frombuffer(data, dtype="<f8"),
            label=f"scoring with {scorer.name}",
            known={},
        )
        return np.stack(rows)

    def _cached(
        self,
        texts: Sequence[str],
        signature: str,
        limits: Limits,
        answer: Callable[[list[str]], list[T]],
        *,
        encode: Callable[[T], bytes],
        decode: Callable[[bytes], T],
        label: str,
        known: dict[str, T],
    ) -> list[T]:
        distinct = [text for text in dict.fromkeys(texts) if text not in known]
        keys = {text: key_of(signature, text) for text in distinct}
        stored = self.cache.get(list(keys.values())) if self.cache else {}
        answers = known | {text: decode(stored[keys[text]]) for text in distinct if keys[text] in stored}
        missing = sorted((text for text in distinct if text not in answers), key=lambda text: (-len(text), text))
        batches = in_batches(missing, limits)
        workers = self.workers or Local(limits.concurrent)
        with Progress(label, len(missing), quiet=self.quiet) as progress:
            for position, results in workers.unordered(partial(halving, answer), batches):
                batch = batches[position]
                answers.update(zip(batch, results, strict=True))
                if self.cache:
                    self.cache.put({keys[text]: encode(answers[text]) for text in batch})
                self.calls += len(batch)
                progress.advance(len(batch))
        return [answers[text] for text in texts]


def in_batches(texts: Sequence[str], limits: Limits) -> list[list[str]]:
    """Cut a list into batches that respect the number of texts and characters; a text too long for both goes alone."""
    batches: list[list[str]] = []
    characters = 0
    for text in texts:
        full = batches and (
            len(batches[-1]) >= limits.texts
            or (limits.characters is not None and characters + len(text) > limits.characters)
        )
        if not batches or full:
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text)
    return batches


def halving(answer: Callable[[list[str]], list[T]], batch: list[str]) -> list[T]:
    """Answer a batch; where memory runs out, answer its halves instead."""
    try:
        return answer(batch)
    except (MemoryError, RuntimeError) as error:
        if len(batch) == 1 or not (isinstance(error, MemoryError) or "out of memory" in str(error).lower()):
            raise
    middle = len(batch) // 2
    return halving(answer, batch[:middle]) + halving(answer, batch[middle:])


def _checked(system: System, batch: list[str]) -> list[str]:
    translations = system.translate(batch)
    if len(translations) != len(batch):
        raise ResumableError(
            f"{system.name} gave {len(translations)} translations for {len(batch)} texts; finished work is kept."
        )
    return translations


def _judged(scorer: Scorer, questions: list[str]) -> list[Array]:
    rows = scorer.statistics(_batch_of_questions(questions))
    if len(rows) != len(questions):
        raise ResumableError(
            f"{scorer.name} gave {len(rows)} scores for {len(questions)} texts; finished work is kept."
        )
    return list(rows)


def _question(scorer: Scorer, batch: Batch, row: int) -> str:
    """Everything the scorer may look at, as one text: the cache's key for a judgement."""
    source = batch.sources[row] if batch.sources is not None and "source" in scorer.needs else None
    references = list(batch.references[row]) if batch.references is not None and "reference" in scorer.needs else None
    return json.dumps([batch.translations[row], references, source], ensure_ascii=False)


def _batch_of_questions(questions: Sequence[str]) -> Batch:
    rows = [json.loads(question) for question in questions]
    return Batch(
        [row[0] for row in rows],
        None if rows[0][1] is None else [row[1] for row in rows],
        None if rows[0][2] is None else [row[2] for row in rows],
    )
