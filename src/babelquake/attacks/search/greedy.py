"""Greedy and beam searches that walk through the words of a sentence."""

from collections.abc import Collection, Sequence
from typing import Literal

from babelquake.attacks.attack import Attack, Trial
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.generators import together

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
