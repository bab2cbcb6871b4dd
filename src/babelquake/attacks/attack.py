"""One sentence under attack: what a search sees of moves, victim, goal and constraints.

Candidates must pass the constraints, and the search wants the best by gain. Two orders give the same answer. TextAttack
looks at the constraints of every candidate first and asks the victim about those that pass (`check="before"`). Here the
victim is asked about all, and constraints that need a model are looked at best first until enough candidates pass
(`check="after"`): hundreds of perplexities become a handful. Where only a few candidates are left, constraints come
first there too: they are fewer than the questions they save, since few pass. Where every question to the victim is paid
for, the first order is the better one throughout.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from babelquake.attacks.constraints import Constraint
from babelquake.attacks.goal import Goal
from babelquake.attacks.moves import Move
from babelquake.attacks.requests import Asking, Memory
from babelquake.attacks.sentence import Sentence
from babelquake.attacks.victim import Victim

T = TypeVar("T")


class Budget:
    """Promises questions before they are asked: parts of a search ask side by side, and none must take what is gone."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.spent = 0
        self.refused = False
        """Whether something could not be asked any more."""
        self._promised: set[tuple[str, str]] = set()

    @property
    def left(self) -> float:
        """How many questions may still be asked."""
        return math.inf if self.most is None else self.most - self.spent

    def some(self, things: Sequence[T], cost: int = 1) -> Sequence[T]:
        """All of them, or, where that would take every question left, as many, evenly apart, as half of these allow."""
        if cost * len(things) < self.left:
            return things
        self.refused = True
        return things[:: -(-len(things) // max(int(self.left) // (2 * cost), 1))] if things else things

    def within(self, places: Sequence[T]) -> Sequence[T]:
        """No more places than questions are left, evenly apart: every place gives candidates to ask about."""
        if len(places) <= self.left:
            return places
        self.refused = True
        return places[:: -(-len(places) // max(int(self.left), 1))]

    def take(self, what: str, text: str, cost: int = 1) -> bool:
        """Whether that may be asked about a text; what was promised once costs nothing from then on."""
        if self.most is None or (what, text) in self._promised:
            return True
        if cost > self.left:
            self.refused = True
            return False
        self._promised.add((what, text))
        self.spent += cost
        return True


Check = Literal["before", "after"]
StopWords = Literal["swaps", "all", "none"]
FIRST_LOOK = 2
"""Candidates per wanted one whose constraints are looked at first; twice as many each further time."""
FEW = 8
"""Candidates of which constraints are looked at before the victim is asked, whatever the order."""


class Trial(NamedTuple):
    """A candidate that the victim has judged and the constraints allow."""

    sentence: Sentence
    score: float
    gain: float
    met: bool


class SpentError(Exception):
    """The sentence's budget of queries is used up."""


class Outcome(NamedTuple):
    """What an attack on one sentence came to: the best candidate, met or not, and what it took."""

    best: Trial
    original: float
    queries: int
    values: dict[str, float]
    """Constraint values of the best candidate, by name."""
    fits: bool
    """Whether the best candidate passes every constraint; crossovers that nobody checked may not."""
    spent: bool
    """Whether the search ended because its queries were used up."""


@dataclass
class Attack:
    """What a search may do. All methods ask; none calls a model."""

    original: Sentence
    victim: Victim
    goal: Goal
    constraints: Sequence[Constraint]
    moves: Sequence[Move]
    stop_words: Callable[[str], bool]
    """Whether a word is a stop word of the text's language."""
    spared: StopWords = "swaps"
    """Which moves leave stop words alone: those that put something in their place (TextAttack), all, or none."""
    check: Check = "after"
    max_queries: int | None = None
    memory: Memory = field(default_factory=Memory)
    budget: Budget = field(init=False)
    start: float = 0.0
    """The original's score; known once `running` has begun."""
    best: Trial | None = None

    def __post_init__(self) -> None:
        self.budget = Budget(self.max_queries)

    def running(self, search: "Callable[[Attack], Asking[Trial]]") -> Asking[Outcome]:
        """The whole attack as one generator that asks nothing twice.

        A text to which the victim gives no score stays as it is: nothing can be gained or lost.
        """
        return self.memory.remembering(self._running(search))

    def _running(self, search: "Callable[[Attack], Asking[Trial]]") -> Asking[Outcome]:
        self._affordable([self.original])
        (self.start,) = yield from self.victim.scores([self.original.text])
        best = self.best = self.untouched
        try:
            if not math.isnan(self.start):
                best = yield from search(self)
        except SpentError:
            best, self.budget.refused = self.best, True
        spent = self.budget.refused and not best.met
        if spent and self.best.gain > best.gain:
            best = self.best
        values: dict[str, float] = {}
        for constraint in self.constraints:
            (values[constraint.name],) = yield from constraint.measured(self.original, [best.sentence])
        fits = all(constraint.allows(values[constraint.name]) for constraint in self.constraints)
        return Outcome(best, self.start, self.memory.queries, values, fits, spent)

    @property
    def untouched(self) -> Trial:
        """The original, with nothing gained."""
        return Trial(self.original, self.start, self.goal.gain(self.start, self.start), False)

    def open_places(self, sentence: Sentence, move: Move, among: Collection[int] | None = None) -> list[int]:
        """Where a move may change the sentence: no word twice, no stop word where those are spared."""
        if move.anywhere:
            return list(range(len(sentence.words)))
        spares = self.spared == "all" or (self.spared == "swaps" and move.replaces_word)
        words = sentence.words
        return [
            place
            for place in (range(len(words)) if among is None else sorted(among))
            if place < len(words) and place not in sentence.touched and not (spares and self.stop_words(words[place]))
        ]

    def candidates(self, sentence: Sentence, places: Collection[int] | None = None) -> Asking[list[Sentence]]:
        """What all moves make of a sentence, at the given places or anywhere; each text once, in order of text.

        No model is asked for words about which the victim can no longer be asked, nor at more places than questions are
        left.
        """
        if not self.budget.left:
            self.budget.refused = True
            return []
        found: dict[str, Sentence] = {}
        for move in self.moves:
            where = self.budget.within(self.open_places(sentence, move, places))
            for candidate in (yield from move.candidates(sentence, where)):
                found.setdefault(candidate.text, candidate)
        found.pop(sentence.text, None)
        return [found[text] for text in sorted(found)]

    def gains(self, candidates: Sequence[Sentence]) -> Asking[list[float]]:
        """How far each candidate has come, constraints aside: for ranking words by importance.

        One that the victim gives no score has come nowhere.
        """
        if len(self._affordable(candidates)) < len(candidates):
            raise SpentError
        scores = yield from self.victim.scores([candidate.text for candidate in candidates])
        gains = [self.goal.gain(self.start, score) for score in scores]
        return [-math.inf if math.isnan(gain) else gain for gain in gains]

    def unchecked(self, candidate: Sentence) -> Asking[Trial | None]:
        """A candidate judged without a look at the constraints: a child of crossover, where TextAttack checks none.

        None where the victim can no longer be asked, and where it gives no score.
        """
        if not all(self._affordable([candidate], constraint) for constraint in (None, *self.constraints)):
            return None
        (score,) = yield from self.victim.scores([candidate.text])
        return None if math.isnan(score) else self._trial(candidate, score)

    def tried(
        self, candidates: Sequence[Sentence], keep: int, above: float = -float("inf"), least: bool = False
    ) -> Asking[list[Trial]]:
        """The best `keep` candidates that gain more than `above` and pass every constraint, best first.

        `least` turns the order round: those that gain least come first, for input reduction as its paper has it.
        """
        candidates = yield from self.allowed(candidates, [c for c in self.constraints if not c.asks])
        costly = [constraint for constraint in self.constraints if constraint.asks]
        first = self.check == "before" or len(candidates) <= FEW
        if first:
            candidates = yield from self.allowed(candidates, costly)
        candidates = self._affordable(self.budget.some(candidates))
        if not candidates:
            return []
        scores = yield from self.victim.scores([candidate.text for candidate in candidates])
        trials = [self._trial(candidate, score) for candidate, score in zip(candidates, scores, strict=True)]
        wanted = [trial for trial in trials if trial.gain > above]
        wanted.sort(key=lambda trial: trial.gain if least else -trial.gain)
        passed = wanted[:keep] if first else (yield from self._best_first(costly, wanted, keep))
        for trial in passed:
            if self.best is None or trial.gain > self.best.gain:
                self.best = trial
        return passed

    def _trial(self, candidate: Sentence, score: float) -> Trial:
        gain = self.goal.gain(self.start, score)
        return Trial(candidate, score, gain, self.goal.met(gain))

    def _best_first(self, constraints: Sequence[Constraint], trials: list[Trial], keep: int) -> Asking[list[Trial]]:
        passed: list[Trial] = []
        look, start = FIRST_LOOK * keep, 0
        while start < len(trials) and len(passed) < keep:
            seen = trials[start : start + look]
            allowed = yield from self.allowed([trial.sentence for trial in seen], constraints)
            texts = {sentence.text for sentence in allowed}
            passed += [trial for trial in seen if trial.sentence.text in texts]
            start, look = start + look, look * 2
        return passed[:keep]

    def allowed(
        self, candidates: Sequence[Sentence], constraints: Sequence[Constraint] | None = None
    ) -> Asking[list[Sentence]]:
        """The candidates that pass every constraint, or those named."""
        left = list(candidates)
        for constraint in self.constraints if constraints is None else constraints:
            left = self._affordable(left, constraint)
            if left:
                values = yield from constraint.measured(self.original, left)
                left = [sentence for sentence, value in zip(left, values, strict=True) if constraint.allows(value)]
        return left

    def _affordable(self, candidates: Sequence[Sentence], constraint: Constraint | None = None) -> list[Sentence]:
        """The candidates that the victim may still be asked about, for their score or for a constraint."""
        cost = 1 if constraint is None else constraint.queries
        if self.max_queries is None or not cost:
            return list(candidates)
        what = "score" if constraint is None else constraint.name
        if constraint is not None and not self.budget.take(what, self.original.text):
            return []
        return [candidate for candidate in candidates if self.budget.take(what, candidate.text, cost)]
