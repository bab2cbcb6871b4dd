"""How to walk from a sentence to one that meets the goal. Read a search and you have read its paper's algorithm."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from babelquake.attacks.attack import Attack, Trial
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.generators import together
from babelquake.randomness import Stream

UNKNOWN = "[UNK]"
"""What stands in for a word whose importance is measured (TextAttack's `unk`)."""


Rank = Literal["unknown", "delete", "combined"]
COST: dict[Rank, int] = {"unknown": 1, "delete": 1, "combined": 4}
"""The most questions that ranking takes per word."""


def greedy_by_importance(
    attack: Attack,
    rank: Rank = "unknown",
    positions: Literal["tracked", "stale"] = "tracked",
    lookahead: int = 1,
) -> Asking[Trial]:
    """Rank words by what the score loses without them, then change one after another, keeping what helps.

    Ranked once, on the original sentence: by leaving the word out (`delete`), by writing `[UNK]` in its place
    (`unknown`), or by `_combined`. Where deletions shorten the sentence, TextAttack goes on counting places as in the
    original, and so deletes other words than those it ranked (`stale`); `tracked` follows each word to where it now is.
    After words whose change does not help, up to `lookahead` further words are asked about together: the first that
    helps counts, so the result is the same, in fewer rounds and with some questions more. Where the budget of queries
    does not reach beyond the ranking, half of it ranks some of the words and the rest is left for changing these.
    """
    original = attack.original
    places = sorted({place for move in attack.moves for place in attack.open_places(original, move)})
    if not places:
        return attack.untouched
    ranked = attack.budget.some(places, COST[rank])
    importance = yield from _importance(attack, ranked, rank)
    order = [place for _, place in sorted(zip(importance, ranked, strict=True), key=lambda pair: -pair[0])]
    best = attack.untouched
    done, look = 0, 1
    while done < len(order):
        block = order[done : done + look]
        where = [_now_at(best, place) if positions == "tracked" else {place} for place in block]
        found = yield from together([attack.candidates(best.sentence, places) for places in where])
        tried = yield from together([attack.tried(some, keep=1, above=best.gain) for some in found])
        first = next((step for step, passed in enumerate(tried) if passed), None)
        if first is None:
            done, look = done + len(block), min(look * 2, lookahead)
            continue
        (best,) = tried[first]
        if best.met:
            return best
        done, look = done + first + 1, 1
    return best


def least_important_first(attack: Attack) -> Asking[Trial]:
    """Delete, again and again, the word whose loss moves the score least, until the goal is met (Feng 2018).

    This is input reduction as its paper and Huang 2023 (Appendix B) put it in words; importance is measured anew after
    every deletion.
    """
    best = attack.untouched
    while True:
        candidates = yield from attack.candidates(best.sentence)
        passed = yield from attack.tried(candidates, keep=1, least=True)
        if not passed:
            return best
        best = passed[0]
        if best.met:
            return best


def _importance(attack: Attack, places: Sequence[int], rank: Rank) -> Asking[list[float]]:
    """What the goal gains from the loss of each word."""
    original = attack.original
    if rank == "combined":
        return (yield from _combined(attack, places))
    if rank == "delete":
        return (yield from attack.gains([original.without(place) for place in places]))
    return (yield from attack.gains([original.replaced(place, UNKNOWN) for place in places]))


def _combined(attack: Attack, places: Sequence[int]) -> Asking[list[float]]:
    """Gao 2018's combined score: what a word adds to the words before it, plus what it adds to those after it.

    With g(…) the gain of a part of the sentence: [g(x₁…xᵢ₋₁) − g(x₁…xᵢ)] + [g(xᵢ₊₁…xₙ) − g(xᵢ…xₙ)]. Nothing stands
    before the first word nor after the last, so these have one term only.
    """
    sentence, last = attack.original, len(attack.original.words) - 1
    heads = sorted({at for place in places for at in (place - 1, place) if at >= 0})
    tails = sorted({at for place in places for at in (place, place + 1) if at <= last})
    starts = [sentence.text[: len(sentence.text) - len(sentence.around(place)[1])] for place in heads]
    ends = [sentence.text[len(sentence.around(place)[0]) :] for place in tails]
    parts = yield from attack.gains([Sentence.of(text) for text in (*starts, *ends)])
    head = dict(zip(heads, parts, strict=False))
    tail = dict(zip(tails, parts[len(heads) :], strict=True))
    return [
        (head[place - 1] - head[place] if place else 0.0) + (tail[place + 1] - tail[place] if place < last else 0.0)
        for place in places
    ]


def _now_at(trial: Trial, place: int) -> Collection[int]:
    """Where the word that stood at a place of the original stands now; nowhere, once deleted."""
    return {now for now, origin in enumerate(trial.sentence.origins) if origin == place}


def climb(attack: Attack, iterations: int = 10) -> Asking[Trial]:
    """Take the best step again and again, as long as it helps, until the goal is met."""
    best = attack.untouched
    for _ in range(iterations):
        candidates = yield from attack.candidates(best.sentence)
        passed = yield from attack.tried(candidates, keep=1, above=best.gain)
        if not passed:
            return best
        best = passed[0]
        if best.met:
            return best
    return best


def once(attack: Attack) -> Asking[Trial]:
    """The best of what the moves make in one step, whether it helps or not: for a change that is the same for all."""
    passed = yield from attack.tried((yield from attack.candidates(attack.original)), keep=1)
    return passed[0] if passed else attack.untouched


def beam(attack: Attack, width: int = 2, iterations: int = 10, distinct: bool = False) -> Asking[Trial]:
    """Keep the `width` best candidates of every round until one meets the goal.

    The result is the best of the last round, as in the authors' code, even where an earlier round had a better one that
    did not meet the goal either. Two members of the beam may lead to the same text; the authors' beam then holds it
    twice, `distinct` keeps it once.
    """
    best = attack.untouched
    members = [attack.original]
    for _ in range(iterations):
        expanded = yield from together([attack.candidates(member) for member in members])
        candidates = [candidate for found in expanded for candidate in found]
        if distinct:
            candidates = list({candidate.text: candidate for candidate in reversed(candidates)}.values())[::-1]
        passed = yield from attack.tried(candidates, keep=width)
        if not passed:
            return best
        best = passed[0]
        if best.met:
            return best
        members = [trial.sentence for trial in passed]
    return best


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
