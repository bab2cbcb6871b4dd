"""Genetic search over word substitutions (Alzantot 2018, Jia 2019)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from babelquake.attacks.attack import Attack, Trial
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.generators import together
from babelquake.randomness import Stream

TEMPERATURE = 0.3
RETRIES = 20
"""Crossovers that break a constraint are tried again this often (TextAttack's default) before a parent takes over."""


@dataclass(frozen=True)
class Member:
    """One sentence of the population and, per word, how likely it is picked for change."""

    trial: Trial
    weights: tuple[float, ...]


class Substitutes:
    """The best substitute for a word of a sentence, looked for once: members of a population are often alike."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.found: dict[tuple[Sentence, int], list[Trial] | None] = {}

    def best(self, trial: Trial, place: int) -> Asking[list[Trial] | None]:
        """The one that gains most, if any gains and is allowed; None where the word has no substitutes."""
        key = trial.sentence, place
        if key not in self.found:
            candidates = yield from self.attack.candidates(trial.sentence, {place})
            passed = yield from self.attack.tried(candidates, keep=1, above=trial.gain)
            self.found[key] = passed if candidates else None
        return self.found[key]


def genetic(
    attack: Attack,
    seed: int = 0,
    population: int = 30,
    iterations: int = 15,
    check_crossover: bool = False,
    selection: Literal["textattack", "alzantot"] = "textattack",
) -> Asking[Trial]:
    """Breed sentences: cross two parents word by word, change one more word, keep the best of the old generation.

    Words are picked in proportion to their number of allowed substitutes. Every member draws from its own stream,
    keyed by the sentence, the generation and its number, so members are bred side by side and ask together. Parents are
    drawn with probability ∝ exp(gain / T) by Alzantot 2018 (`alzantot`); TextAttack has the sign the other way round
    and draws the *worst* more often (`textattack`), which is what the paper ran.
    """
    original = attack.original
    first = yield from attack.allowed((yield from attack.candidates(original)))
    counts = [0.0] * len(original.words)
    for candidate in first:
        counts[candidate.edits[-1].place] += 1
    if not any(counts):
        return attack.untouched
    least = max(1.0, float(int(min(counts) * 0.1)))
    weights = tuple(max(count, least) for count in counts)
    start, substitutes = Member(attack.untouched, weights), Substitutes(attack)

    def stream(generation: int, number: int) -> Stream:
        return Stream(seed, "genetic", original.text, generation, number)

    members = yield from together([_changed(substitutes, start, stream(0, number)) for number in range(population)])
    for generation in range(1, iterations + 1):
        members.sort(key=lambda member: -member.trial.gain)
        if members[0].trial.met or not attack.budget.left:
            break
        chances = _chances(members, selection)
        bred = [
            _child(substitutes, members, chances, stream(generation, number), check_crossover)
            for number in range(1, len(members))
        ]
        members = [members[0], *(yield from together(bred))]
    return max((member.trial for member in members), key=lambda trial: trial.gain)


def _chances(members: list[Member], selection: str) -> list[float]:
    """Cumulated chances of being drawn as a parent."""
    sign = 1 if selection == "alzantot" else -1
    scaled = [sign * member.trial.gain / TEMPERATURE for member in members]
    top = max(scaled)
    powers = [math.exp(value - top) for value in scaled]
    total = sum(powers)
    return list(accumulate(power / total for power in powers))


def _drawn(chances: Iterable[float], stream: Stream) -> int:
    """A place by cumulated chances; the last one where rounding leaves a rest."""
    number, last = stream.random(), 0
    for place, chance in enumerate(chances):
        if number < chance:
            return place
        last = place
    return last


def _child(
    substitutes: Substitutes, members: list[Member], chances: list[float], stream: Stream, check: bool
) -> Asking[Member]:
    one, other = members[_drawn(chances, stream)], members[_drawn(chances, stream)]
    child = yield from _crossed(substitutes.attack, one, other, stream, check)
    return (yield from _changed(substitutes, child, stream))


def _crossed(attack: Attack, one: Member, other: Member, stream: Stream, check: bool) -> Asking[Member]:
    """Every word from either parent, evenly; with `check`, a child that breaks a constraint is bred again.

    A child that cannot be judged within the budget makes room for a parent.
    """
    for _ in range(RETRIES + 1 if check else 1):
        sentence, weights = _mixed(one, other, stream)
        known = next((parent for parent in (one, other) if parent.trial.sentence.text == sentence.text), None)
        if known is not None:
            return Member(known.trial, weights)
        if check:
            passed = yield from attack.tried([sentence], keep=1)
            if not passed:
                continue
            return Member(passed[0], weights)
        if (trial := (yield from attack.unchecked(sentence))) is not None:
            return Member(trial, weights)
    return one if stream.chance(0.5) else other


def _mixed(one: Member, other: Member, stream: Stream) -> tuple[Sentence, tuple[float, ...]]:
    """Crossover: substitutions keep the number of words, so places of both parents agree."""
    sentence, weights = one.trial.sentence, list(one.weights)
    theirs = other.trial.sentence
    edits = {edit.place: edit for edit in sentence.edits}
    words, touched = list(sentence.words), set(sentence.touched)
    for place in range(len(words)):
        if stream.chance(0.5):
            words[place] = theirs.words[place]
            weights[place] = other.weights[place]
            touched.discard(place)
            edits.pop(place, None)
            if place in theirs.touched:
                touched.add(place)
                edits |= {edit.place: edit for edit in theirs.edits if edit.place == place}
    return sentence.with_words(words, touched, [edits[place] for place in sorted(edits)]), tuple(weights)


def _changed(substitutes: Substitutes, member: Member, stream: Stream) -> Asking[Member]:
    """Change one word, picked by weight, to the substitute that gains most; where none gains, pick another word."""
    weights = list(member.weights)
    tries = sum(weight > 0 for weight in weights)
    for _ in range(tries):
        total = sum(weights)
        if not total > 0:
            break
        place = _drawn(accumulate(weight / total for weight in weights), stream)
        passed = yield from substitutes.best(member.trial, place)
        if passed is None:
            continue
        if passed:
            left = tuple(0.0 if other == place else weight for other, weight in enumerate(member.weights))
            return Member(passed[0], left)
        weights[place] = 0.0
    return member
