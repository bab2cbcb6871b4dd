"""`vote`: several versions of the text are translated, and the translation that agrees best with the others is taken.

Minimum Bayes risk with chrF as utility: each translation is scored against all others, and the one with the highest
mean wins; of equal ones the earliest. Versions are the text, what `of` makes of it, and other segmentations of it where
the system has them. Costs as many translations as there are distinct versions, `k` at most.
"""

from typing import Annotated

import numpy as np

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.spec import Range
from babelquake.systems.defences.base import Before, Defence, Inner, Steps

VERSIONS = ("fold", "fold+truecase", "fold+truecase+spell", "fold+spell")
"""What is tried unless `of` says otherwise, as far as it serves the language."""


class Vote(Defence):
    """Translate up to `k` versions of the text; take the translation that agrees best with the others (MBR, chrF)."""

    stage = "around"

    def __init__(self, k: Annotated[int, Range(2, 16)] = 4, of: str | None = None) -> None:
        self._k = k
        self._of = of

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

    def facts(self) -> dict[str, object]:
        """What the versions are."""
        return {"versions": "/".join(chain.signature for chain in self._versions)}

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Translate every version, choose for each text."""
        versions = [[text] for text in texts]
        for chain in self._versions:
            for known, new in zip(versions, chain.apply(texts), strict=True):
                if new not in known and len(known) < self._k:
                    known.append(new)
        answers = yield from inner([text for known in versions for text in known])
        found, place = [], 0
        for known in versions:
            found.append(answers[place : place + len(known)])
            place += len(known)
        return chosen(found)


def chosen(candidates: list[list[str]]) -> list[str]:
    """Of each list the text with the highest mean chrF against the others."""
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
        for (number, one, *_), score in zip(pairs, scores, strict=True):
            gains[number][one] += score
    return [group[int(np.argmax(gain))] for group, gain in zip(candidates, gains, strict=True)]
