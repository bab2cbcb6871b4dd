"""Noise for training texts: some of them, each changed by one perturbation of a suite, drawn anew for every text.

A study makes every variant of every text; training wants one version of each, most of them clean. `Noise` draws for a
text whether it is changed, by which perturbation, and how strongly; all of it is a function of (seed, place, text), so
that order, blocks and workers change nothing.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from babelquake.errors import UserError, setting
from babelquake.languages import Language
from babelquake.perturb.base import Perturbation
from babelquake.perturb.suite import Suite
from babelquake.randomness import Stream

STEPS = 5
"""Strengths that a range is cut into; a text draws one of them."""


class Noisy(NamedTuple):
    """A text as it is used for training, and what was done to it (None: nothing)."""

    text: str
    perturbation: Perturbation | None


@dataclass(frozen=True)
class Noise:
    """What happens to a share of the texts: one perturbation of the suite each, all equally likely."""

    suite: Suite
    share: float = 0.3
    """The share of texts that are changed, from 0 to 1, where some perturbation applies."""
    weakest: float = 1.0
    """The level of each perturbation is drawn between this many times the suite's level …"""
    strongest: float = 1.0
    """… and this many times, within what the perturbation allows."""
    lang: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UserError(
                f"{setting('share', self.share)}: expected a number from 0 to 1, the share of changed texts."
            )
        if not 0 < self.weakest <= self.strongest:
            raise UserError(
                f"{setting('strength', f'{self.weakest:g}:{self.strongest:g}')}: expected two numbers above 0, the "
                "lower one first."
            )
        if self.suite.asks or self.suite.draws_from_data:
            raise UserError(
                f"{self.suite.name or 'The suite'} has perturbations that ask a language model or draw words from "
                "all texts; name one without, such as everyday."
            )
        self.suite.require_language(self.lang)

    @cached_property
    def ways(self) -> list[list[Perturbation]]:
        """Each perturbation of the suite, at every strength it can be drawn with."""
        return [self._strengths(perturbation) for perturbation in self.suite.perturbations]

    def of(self, text: str, place: int | str) -> Noisy:
        """One text with its place in the data, clean or changed."""
        stream = Stream(self.seed, "noise", place, text)
        if not stream.chance(self.share):
            return Noisy(text, None)
        ways = list(self.ways)
        while ways:
            perturbation = stream.choice(ways.pop(stream.below(len(ways))))
            changed = perturbation.apply(text, lang=self._language, seed=stream.below(2**32))
            if changed is not None and changed != text:
                return Noisy(changed, perturbation)
        return Noisy(text, None)

    @cached_property
    def _language(self) -> Language | None:
        return Language(self.lang) if self.lang else None

    def _strengths(self, perturbation: Perturbation) -> list[Perturbation]:
        level = perturbation.level
        if level is None or self.weakest == self.strongest == 1:
            return [perturbation]
        width = (self.strongest - self.weakest) / (STEPS - 1)
        factors = (self.weakest + width * step for step in range(STEPS))
        levels = dict.fromkeys(min(level * factor, perturbation.card.high) for factor in factors)
        return [Perturbation(perturbation.spec.with_options(level=f"{each:.4g}")) for each in levels]
