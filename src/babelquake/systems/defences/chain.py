"""Chains of defences: `fold+spell+repair`."""

from collections.abc import Sequence

from babelquake.errors import UnansweredError, UserError, listed_texts
from babelquake.systems.base import System
from babelquake.systems.defences.base import Ask, Before, Defence, Inner, Steps, refuse_changes

PROBED = 4
"""Texts that a corrector is shown a second time, in reverse, when it is first used: line n belongs to line n."""


class Nothing(Defence):
    """No defence: the system as it is, which every other defence is compared with."""

    stage = "around"

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """What the system says."""
        return (yield from inner(texts))


class Chain:
    """Defences one after the other; the system stands at the end."""

    def __init__(self, parts: Sequence[Defence]) -> None:
        self.parts = tuple(parts)
        self._probed: set[int] = set()

    def __str__(self) -> str:
        return "+".join(str(part.spec) for part in self.parts)

    def __repr__(self) -> str:
        return f"<defence {self}>"

    @property
    def idle(self) -> bool:
        """Whether it is `none`."""
        return all(isinstance(part, Nothing) for part in self.parts)

    @property
    def signature(self) -> str:
        """The signatures of its parts."""
        return "+".join(part.signature for part in self.parts)

    @property
    def remote(self) -> bool:
        """Whether a part asks a service elsewhere."""
        return any(part.remote for part in self.parts)

    def steps(self, texts: Sequence[str]) -> Steps:
        """One translation per text: yields what is to be translated, is sent the translations."""
        return self._from(0, list(texts), _system)

    def apply(self, texts: Sequence[str]) -> list[str]:
        """The texts as the system would be given them: only for chains whose parts stand before it."""
        texts = listed_texts("texts", texts)
        behind = next((part for part in self.parts if part.stage != "before"), None)
        if behind is not None and not self.idle:
            raise UserError(
                f"the defence '{behind.spec}' stands {behind.stage} a system and changes no text by itself: "
                f"use the system defended[defence={self},system=…]."
            )
        given: list[str] = []

        def arrived(found: list[str]) -> Steps:
            given.extend(found)
            return found
            yield  # a generator that asks nothing

        steps = self._from(0, list(texts), arrived)
        try:
            ask = next(steps)
            while True:
                if ask.system is None:
                    raise ValueError("a part before the system asked it")
                ask = steps.send(_answers(ask.system, ask.texts))
        except StopIteration:
            return given

    def meet(self, system: System) -> None:
        """Tell the parts which system they stand before."""
        for part in self.parts:
            part.meet(system)

    def prepare(self) -> None:
        """Load what the parts need."""
        for part in self.parts:
            part.prepare()

    def close(self) -> None:
        """Give back what the parts hold."""
        for part in self.parts:
            part.close()

    def _from(self, place: int, texts: list[str], system: Inner) -> Steps:
        """What the parts from `place` on make of texts."""
        if place == len(self.parts):
            return (yield from system(texts))
        part = self.parts[place]

        def inner(found: list[str]) -> Steps:
            if part.stage == "before":
                self._check(place, texts, found)
            return (yield from self._from(place + 1, found, system))

        answers = yield from part.steps(texts, inner)
        if len(answers) != len(texts):
            raise UserError(f"the defence '{part.spec}' gave {len(answers)} translations for {len(texts)} texts.")
        return answers

    def _check(self, place: int, before: list[str], after: list[str]) -> None:
        """What a part must not change; once, whether it minds the order of texts."""
        part = self.parts[place]
        refuse_changes(str(part.spec), before, after)
        if place not in self._probed and isinstance(part, Before) and len(before) > 1:
            self._probed.add(place)
            some = before[:PROBED]
            if part.apply(some[::-1])[::-1] != after[: len(some)]:
                raise UserError(f"the defence '{part.spec}' gives other results for the same texts in another order.")


def _answers(system: System, texts: list[str]) -> list[str]:
    """What a corrector elsewhere says; nothing where it does not answer, which is not a correction."""
    try:
        return system.translate(texts)
    except UnansweredError as error:
        return [error.answers.get(text, "") for text in texts]


def _system(texts: list[str]) -> Steps:
    """The end of a chain: the defended system."""
    return (yield Ask(texts))
