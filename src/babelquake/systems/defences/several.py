"""Defences that translate a text more than once: `vote` and `fallback`.

`vote` translates several versions of the text and takes the translation that agrees best with the others. Minimum Bayes
risk with chrF as utility: each translation is scored against all others, and the one with the highest mean wins.
Versions are the text and what the chains of `of` (separated by `/`) make of it, and `samples` translations of the last
of them read in other subwords, where the system has subwords to sample. Costs as many translations as there are
distinct versions, `k` at most, and `samples` more.

`fallback` translates a repaired source, or asks a second system, where the detectors see a failure. The second
translation is taken where it has fewer failures than the first; what was fine is not asked again.
"""

from collections.abc import Iterable
from typing import Annotated

import numpy as np

from babelquake.errors import UserError
from babelquake.failures import Card, Pair, cards_for, failures_in
from babelquake.generators import Dialogue
from babelquake.languages import Language
from babelquake.spec import Range
from babelquake.systems.base import System
from babelquake.systems.defences.base import Ask, Before, Defence, Inner, Steps

VERSIONS = ("fold", "fold+truecase", "fold+spell", "fold+truecase+spell")
"""What is tried unless `of` says otherwise, as far as it serves the language."""


class Vote(Defence):
    """Translate up to `k` versions of the text; take the translation that agrees best with the others (MBR, chrF)."""

    stage = "around"
    version = 2

    def __init__(
        self,
        k: Annotated[int, Range(2, 16)] = 4,
        of: str | None = None,
        samples: Annotated[int, Range(0, 16)] = 0,
    ) -> None:
        self._k = k
        self._of = of
        self._samples = samples
        self._resegmented: list[System] = []

    def serve(self, source: Language | None, target: Language | None) -> None:
        """Make the correctors: those named must serve the language, of the usual ones those that do are taken."""
        from babelquake.systems.defences import defence

        super().serve(source, target)
        self._versions = []
        for chain in self._of.split("/") if self._of else VERSIONS:
            try:
                made = defence(chain, source, target)
            except UserError:
                if self._of:
                    raise
                continue
            if any(not isinstance(part, Before) for part in made.parts):
                raise UserError(f"vote[of={self._of}]: '{chain}' is not made of correctors of the source alone.")
            self._versions.append(made)

    def meet(self, system: System) -> None:
        """Have the system's samples of subwords, as many as were asked for."""
        found = [system.resegmented(number) for number in range(1, self._samples + 1)]
        if None in found:
            raise UserError(
                f"{self.spec}: {system.name} has no subwords to sample. Systems that have them: bundled, ctranslate2."
            )
        self._resegmented = [one for one in found if one is not None]

    def prepare(self) -> None:
        for chain in self._versions:
            chain.prepare()

    def facts(self) -> dict[str, object]:
        """What the versions are."""
        return {"versions": "/".join(chain.signature for chain in self._versions)}

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Translate every distinct version, choose for each text."""
        made = [texts, *(chain.apply(texts) for chain in self._versions)]
        versions = [_some(dict.fromkeys(known), self._k) for known in zip(*made, strict=True)]
        answers = yield from inner([text for known in versions for text in known])
        found, place = [], 0
        for known in versions:
            found.append(answers[place : place + len(known)])
            place += len(known)
        for system in self._resegmented:
            more = yield from _by(system, inner([known[-1] for known in versions]))
            found = [[translation, *others] for translation, others in zip(more, found, strict=True)]
        return chosen(found)


def _by(system: System, steps: Steps) -> Steps:
    """The same steps, with another system in the place of the defended one."""
    dialogue = Dialogue(steps)
    while not dialogue.over:
        dialogue.tell((yield Ask(dialogue.asked.texts, dialogue.asked.system or system)))
    return dialogue.result


def _some(versions: Iterable[str], most: int) -> list[str]:
    """The first and the last ones of several versions."""
    every = list(versions)
    return every if len(every) <= most else [every[0], *every[len(every) - most + 1 :]]


def chosen(candidates: list[list[str]]) -> list[str]:
    """Of each list the text with the highest mean chrF against the others; of equal ones the last.

    The last version is the most corrected one: of two versions it wins. chrF is taken both ways, lest length decide.
    """
    from babelquake.scorers.strings.chrf import ChrF

    pairs = [
        (number, one, other, group[one], group[other])
        for number, group in enumerate(candidates)
        if len(set(group)) > 1
        for one in range(len(group))
        for other in range(len(group))
        if one != other
    ]
    gains = [np.zeros(len(group)) for group in candidates]
    if pairs:
        scores = ChrF().segments([pair[3] for pair in pairs], [pair[4] for pair in pairs])
        for (number, one, other, *_), score in zip(pairs, scores, strict=True):
            gains[number][[one, other]] += round(float(score), 6)
    return [group[len(group) - 1 - int(np.argmax(gain[::-1]))] for group, gain in zip(candidates, gains, strict=True)]


SEVERE = (
    "answer",
    "copied",
    "empty",
    "loop",
    "mixed",
    "off-target",
    "refusal",
    "runaway",
    "script",
    "source-language",
    "truncated",
    "untranslated",
)
"""Failures after which little of the translation is of use."""
REPAIRS = ("fold+truecase+spell", "fold+spell", "fold")
"""What the source is repaired by: the first that serves the language."""


class Fallback(Defence):
    """Where a detector sees a failure, translate the repaired source (`by`), or ask a second `system`."""

    stage = "around"

    def __init__(self, system: str | None = None, by: str | None = None, kinds: str | None = None) -> None:
        self._named = system
        self._by = by
        self._kinds = tuple(kinds.split("/")) if kinds else SEVERE
        self._system: System | None = None

    def serve(self, source: Language | None, target: Language | None) -> None:
        """Make the second system, or the corrector of the source."""
        from babelquake.systems import system as system_of
        from babelquake.systems.defences import defence

        super().serve(source, target)
        self._cards: list[Card] = cards_for(source, target, self._kinds)
        if self._named:
            self._system = system_of(self._named, f"{source}-{target}" if source and target else None)
            self.remote = self._system.remote  # type: ignore[misc]
        self._repair = None
        for chain in (self._by,) if self._by else () if self._named else REPAIRS:
            try:
                self._repair = defence(chain, source, target)
                break
            except UserError:
                if self._by:
                    raise

    def facts(self) -> dict[str, object]:
        return {
            "system": self._system.signature if self._system else None,
            "by": self._repair.signature if self._repair else None,
            "kinds": "/".join(card.kind for card in self._cards),
        }

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Translate; translate what failed once more; keep the better of the two."""
        first = yield from inner(texts)
        failed = [place for place, text in enumerate(texts) if text.strip() and self._failures(text, first[place])]
        sources = [texts[place] for place in failed]
        if self._repair is not None:
            sources = self._repair.apply(sources)
            changed = [new != texts[place] or bool(self._system) for place, new in zip(failed, sources, strict=True)]
            failed = [place for place, is_new in zip(failed, changed, strict=True) if is_new]
            sources = [text for text, is_new in zip(sources, changed, strict=True) if is_new]
        if not failed:
            return first
        second = (yield Ask(sources, self._system)) if self._system else (yield from inner(sources))
        found = list(first)
        for place, translation in zip(failed, second, strict=True):
            if self._failures(texts[place], translation) < self._failures(texts[place], first[place]):
                found[place] = translation
        return found

    def _failures(self, source: str, translation: str) -> int:
        return len(failures_in(Pair(source, translation, self.source, self.target), self._cards))

    def close(self) -> None:
        if self._system is not None:
            self._system.close()
