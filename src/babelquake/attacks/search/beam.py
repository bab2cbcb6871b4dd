"""Beam search over all moves (CLARE as Huang 2023 ran it)."""

from babelquake.attacks.attack import Attack, Trial
from babelquake.attacks.requests import Asking
from babelquake.generators import together


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
