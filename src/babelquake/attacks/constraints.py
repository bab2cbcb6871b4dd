"""What a candidate must respect, measured against the original sentence.

A constraint measures (asking models where it must) and then allows or forbids; the measured value is kept with every
perturbation found. Cheap constraints are looked at first.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar

from rapidfuzz.distance import Levenshtein as EditDistance

from babelquake.attacks.requests import Asking, Closeness, Perplexity, Quality, Request
from babelquake.attacks.sentence import Sentence
from babelquake.errors import UserError, setting
from babelquake.failures import DETECTORS, Card, Pair, cards_for, failures_in
from babelquake.languages import Language, sides
from babelquake.scorers.base import Question
from babelquake.spec import Range, Spec, bind, named, parameters, parse
from babelquake.text import words

ANY = "any"
"""All kinds of failure that are seen without a model."""
FEW = 16
"""Edits that are looked for first: texts that differ little take time in proportion to their length, not its square."""


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and replacements, of characters or of words (Levenshtein 1966)."""
    return int(EditDistance.distance(one, other, score_hint=FEW))


def word_distance(one: str, other: str) -> int:
    """Words changed, inserted or deleted between two texts."""
    return edit_distance([span.text for span in words(one)], [span.text for span in words(other)])


@dataclass(frozen=True)
class Constraint(ABC):
    """A limit on how far a candidate may be from the original."""

    name: ClassVar[str]
    within_limit: ClassVar[tuple[Callable[[float, float], bool], str]]
    """How its value must stand to which of its options."""
    asks: ClassVar[bool] = False
    """Whether measuring it takes a model."""
    filled_in: ClassVar[frozenset[str]] = frozenset()
    """What nobody asks for: it is filled in when a sentence is attacked."""

    @property
    def queries(self) -> int:
        """Questions to the victim per candidate."""
        return 0

    @abstractmethod
    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """One value per candidate."""

    def allows(self, value: float) -> bool:
        """Whether a candidate with this value may stay; one without any value may not."""
        fits, limit = self.within_limit
        return fits(value, getattr(self, limit))

    def of_segment(self, source: str | None, references: tuple[str, ...] | None, pair: str | None) -> "Constraint":
        """The same constraint, knowing the segment whose translation is attacked; most need not."""
        return self

    @property
    def signature(self) -> str:
        """The constraint with its limits."""
        limits = {key: value for key, value in vars(self).items() if key not in self.filled_in}
        inside = (f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in limits.items())
        return f"{self.name}[{','.join(inside)}]"


@dataclass(frozen=True)
class PerplexityRise(Constraint):
    """Perplexity under a causal language model rises by less than `rise` (Huang 2023 §2.2: 10, GPT-2, BOS added)."""

    name = "perplexity"
    within_limit = operator.lt, "rise"
    asks = True
    rise: Annotated[float, Range(0, 1e6)] = 10.0

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """Perplexity of the candidate less that of the original."""
        before, *after = yield [Perplexity(sentence.text) for sentence in (original, *candidates)]
        return [value - before for value in after]


@dataclass(frozen=True)
class Levenshtein(Constraint):
    """At most `most` characters inserted, deleted or replaced (DeepWordBug: 30)."""

    name = "levenshtein"
    within_limit = operator.le, "most"
    most: Annotated[int, Range(0, 1e6)] = 30

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """The edit distance in characters."""
        yield from ()
        return [float(edit_distance(original.text, candidate.text)) for candidate in candidates]


@dataclass(frozen=True)
class WordShare(Constraint):
    """At most this share of the original's words changed, inserted or deleted (Jia 2019 in TextAttack: 0.2)."""

    name = "words"
    within_limit = operator.le, "share"
    share: Annotated[float, Range(0, 100)] = 0.2

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """The edit distance in words over the number of words."""
        yield from ()
        size = max(len(original.words), 1)
        return [word_distance(original.text, candidate.text) / size for candidate in candidates]


@dataclass(frozen=True)
class Similarity(Constraint):
    """Cosine of the sentence vectors of at least `least` (CLARE in TextAttack: 0.7)."""

    name = "similarity"
    within_limit = operator.ge, "least"
    asks = True
    least: Annotated[float, Range(-1, 1)] = 0.7

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """The cosine of original and candidate."""
        values: list[float] = yield [Closeness(original.text, candidate.text) for candidate in candidates]
        return values


@dataclass(frozen=True)
class SelfSimilarity(Constraint):
    """The victim itself finds original and candidate alike: f̂(x, x) − f̂(x′, x) < `within` (Huang 2023 §2.1).

    `symmetric`: ½[f(x, x′) + f(x′, x)] in place of f(x′, x), for victims that tell translation and reference apart
    (Appendix C). Scores are normalised with the victim's scale, given when the attack is put together.
    """

    name = "self-similarity"
    within_limit = operator.lt, "within"
    asks = True
    filled_in = frozenset({"scale", "source"})
    within: Annotated[float, Range(0, 1000)] = 0.3
    symmetric: bool = False
    scale: float = 1.0
    """σ of the victim over the data, negative where lower scores are better."""
    source: str | None = None

    @property
    def queries(self) -> int:
        """One way, or both."""
        return 2 if self.symmetric else 1

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """The fall of the victim's similarity, in standard deviations; none for the original itself."""
        x = original.text
        if all(candidate.text == x for candidate in candidates):
            return [0.0] * len(candidates)
        requests: list[Request] = [self._similar(x, x)]
        requests += [self._similar(candidate.text, x) for candidate in candidates]
        if self.symmetric:
            requests += [self._similar(x, candidate.text) for candidate in candidates]
        best, *scores = yield requests
        if self.symmetric:
            forth, back = scores[: len(candidates)], scores[len(candidates) :]
            scores = [(one + other) / 2 for one, other in zip(forth, back, strict=True)]
        return [(best - score) / self.scale for score in scores]

    def _similar(self, translation: str, reference: str) -> Question:
        return Question(translation, (reference,), self.source)


@dataclass(frozen=True)
class QualityRise(Constraint):
    """Another metric's score rises by no more than `rise`: what raises the victim's is no better translation.

    `scorer` names that metric. It is asked with the segment's references and source, filled in for each sentence.
    """

    name = "quality"
    within_limit = operator.le, "rise"
    asks = True
    filled_in = frozenset({"references", "source", "sign"})
    scorer: str = "chrf"
    rise: Annotated[float, Range(0, 1e6)] = 0.0
    references: tuple[str, ...] | None = None
    source: str | None = None
    sign: float = 1.0
    """−1 where the metric counts errors."""

    def of_segment(self, source: str | None, references: tuple[str, ...] | None, pair: str | None) -> Constraint:
        return replace(self, references=references, source=source)

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """By how much the other metric prefers the candidate, in its own points; better is up."""
        texts = (original.text, *(candidate.text for candidate in candidates))
        before, *after = yield [Quality(Question(text, self.references, self.source)) for text in texts]
        return [self.sign * (value - before) for value in after]


@dataclass(frozen=True)
class NewFailures(Constraint):
    """Detectors find at least `new` kinds of failure more than in the original: what raises the score is worse.

    `kind` names one kind of failure, such as `number`; `any` looks for all that need no model. With `new=0` no failure
    may go away.
    """

    name = "failures"
    within_limit = operator.ge, "new"
    filled_in = frozenset({"source", "pair"})
    kind: str = ANY
    new: Annotated[int, Range(0, 100)] = 1
    source: str | None = None
    pair: str | None = None

    def __post_init__(self) -> None:
        if self.kind != ANY:
            DETECTORS.get(self.kind)

    def of_segment(self, source: str | None, references: tuple[str, ...] | None, pair: str | None) -> Constraint:
        return replace(self, source=source, pair=pair)

    def measured(self, original: Sentence, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """How many kinds of failure the candidate has, less those of the original."""
        yield from ()
        before = self._count(original)
        return [float(self._count(candidate) - before) for candidate in candidates]

    def _count(self, sentence: Sentence) -> int:
        ours, theirs = sides(self.pair)
        cards = _detectors(ours, theirs, self.kind, self.source is not None)
        return len(failures_in(Pair(self.source, sentence.text, ours, theirs), cards))


@lru_cache(maxsize=64)
def _detectors(ours: Language | None, theirs: Language | None, kind: str, sources: bool) -> tuple[Card, ...]:
    """The detectors of a kind, or of all kinds, that serve these languages; without any, nothing can be found."""
    found = cards_for(ours, theirs, None if kind == ANY else [kind], sources=sources)
    if not found:
        needed = ", ".join(sorted(DETECTORS.get(kind).needs)) or "other languages"
        said = setting("constraints", f"{NewFailures.name}[kind={kind}]")
        raise UserError(f"{said} cannot be measured here: it needs {needed}.")
    return tuple(found)


CONSTRAINTS: dict[str, type[Constraint]] = {
    kind.name: kind
    for kind in (SelfSimilarity, QualityRise, NewFailures, PerplexityRise, Levenshtein, WordShare, Similarity)
}
"""Those a user may ask for; `self-similarity` comes with the goal `inconsistent` by itself."""


def constraint(text: str | Spec) -> Constraint:
    """A constraint by name with options: `levenshtein[most=30]`."""
    spec = parse(text) if isinstance(text, str) else text
    kind = named(spec, CONSTRAINTS, "constraint")
    return kind(**bind(spec, parameters(kind, kind.filled_in), "constraint"))
