"""`fallback`: where the detectors see a failure, translate a repaired source, or ask a second system.

The second translation is taken where it has fewer failures than the first; what was fine is not asked again.
"""

from babelquake.errors import UserError
from babelquake.failures import Card, Pair, cards_for, failures_in
from babelquake.languages import Language
from babelquake.systems.base import System
from babelquake.systems.defences.base import Ask, Defence, Inner, Steps

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
