"""What a defence is: a step before, around or behind a system that makes it more robust; and chains:
`fold+spell+repair`.

A defence never calls a system itself. It is a generator that yields what is to be translated (`Ask`) and is sent the
translations, so that whoever drives it decides how: `Defended.translate` asks directly, the engine through its cache.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import ClassVar, Literal, NamedTuple

from babelquake.errors import UnansweredError, UserError, listed_texts
from babelquake.generators import Dialogue
from babelquake.languages import Language
from babelquake.machinery import machinery
from babelquake.perturb.base import hidden_in
from babelquake.spec import Spec, signature
from babelquake.systems.base import System

Stage = Literal["before", "around", "behind"]


class Ask(NamedTuple):
    """Texts to be translated: by the defended system, or by another one."""

    texts: list[str]
    system: System | None = None


Steps = Generator[Ask, list[str], list[str]]
"""Yields what is to be translated, is sent the translations, returns one translation per text."""
Inner = Callable[[list[str]], Steps]
"""What stands behind a defence: the rest of the chain, the system at its end."""


class Defence(ABC):
    """One part of a chain. `source` and `target` are the languages of what it defends, where they are known."""

    stage: ClassVar[Stage]
    version: ClassVar[int] = 1
    """Counts changes that can change a text."""
    languages: ClassVar[tuple[str, ...]] = ()
    """Source languages it serves; empty for any, named or not."""
    remote: ClassVar[bool] = False
    """Whether it asks a service elsewhere, which may cost money."""

    spec: Spec
    """How it was asked for; set by `babelquake.systems.defences.defence`."""
    source: Language | None = None
    target: Language | None = None

    def serve(self, source: Language | None, target: Language | None) -> None:
        """Take these languages, or say which ones are served."""
        self.source, self.target = source, target
        if self.served and (source is None or source.code not in self.served):
            given = f"not '{source}'" if source else "and the source language is not known: name it"
            raise UserError(f"the defence '{self.spec}' serves {', '.join(self.served)}, {given}.")

    def meet(self, system: System) -> None:  # noqa: B027 - most treat all systems alike
        """Learn which system it stands before, once, before anything is translated."""

    @property
    def served(self) -> tuple[str, ...]:
        """The source languages it serves with the options it was given."""
        return self.languages

    @property
    def signature(self) -> str:
        """Everything that can change a text: name, version, options, languages."""
        return signature(str(self.spec), v=self.version, source=self.source, target=self.target, **self.facts())

    def facts(self) -> dict[str, object]:
        """What else its signature must say, such as which word list it reads."""
        return {}

    @abstractmethod
    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """One translation per text, by way of what stands behind it."""

    def prepare(self) -> None:  # noqa: B027 - most have nothing to load
        """Load what is loaded once, before anybody measures time."""

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back connections and memory."""


class Before(Defence):
    """A corrector of sources: each text on its own, machinery left alone."""

    stage = "before"

    @abstractmethod
    def correct(self, text: str) -> str:
        """One text without placeholders, tags, addresses and code, which private characters stand for."""

    def apply(self, texts: Sequence[str]) -> list[str]:
        """The texts as the system is to be given them, one each, in order."""
        texts = listed_texts("texts", texts)
        found = list(texts)
        places = [place for place, text in enumerate(texts) if text.strip()]
        hidden = [hidden_in(texts[place]) for place in places]
        plain = [texts[place] if one is None else one.text for place, one in zip(places, hidden, strict=True)]
        for place, one, new in zip(places, hidden, self.correct_all(plain), strict=True):
            corrected = new if one is None else one.restored(new)
            if corrected is not None and pieces(corrected) == pieces(texts[place]):
                found[place] = corrected
        return found

    def correct_all(self, texts: list[str]) -> list[str]:
        """Many such texts: one after the other, unless they are cheaper together."""
        return [self.correct(text) for text in texts]

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """What stands behind it translates the corrected texts."""
        return (yield from inner(self.apply(texts)))


def pieces(text: str) -> list[str]:
    """The machinery of a text, in order: what a corrector must leave as it is."""
    return [item.text for item in machinery(text)]


def refuse_changes(name: str, before: Sequence[str], after: Sequence[str]) -> None:
    """UserError where a corrector changed the number of lines, their order, or machinery in them."""
    if len(after) != len(before):
        raise UserError(f"the defence '{name}' returned {len(after)} texts for {len(before)}. Expected one for each.")
    for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
        if not isinstance(new, str):
            raise UserError(f"the defence '{name}' returned {type(new).__name__} for text {number}.")
        if new.count("\n") != old.count("\n"):
            raise UserError(f"the defence '{name}' changed the number of lines in text {number}: {_short(old)}")
        if pieces(new) != pieces(old):
            raise UserError(
                f"the defence '{name}' changed placeholders, tags or code in text {number}: "
                f"{' '.join(pieces(old)) or 'none'} became {' '.join(pieces(new)) or 'none'}."
            )
    moved = [number for number, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    if len(moved) > 1 and sorted(before[number - 1] for number in moved) == sorted(after[n - 1] for n in moved):
        raise UserError(f"the defence '{name}' changed the order of the texts: text {moved[0]} is in another place.")


def _short(text: str) -> str:
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"


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

        dialogue = Dialogue(self._from(0, list(texts), arrived))
        while not dialogue.over:
            ask = dialogue.asked
            if ask.system is None:
                raise ValueError("a part before the system asked it")
            dialogue.tell(_answers(ask.system, ask.texts))
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
