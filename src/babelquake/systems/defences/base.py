"""What a defence is: a step before, around or behind a system that makes it more robust.

A defence never calls a system itself. It is a generator that yields what is to be translated (`Ask`) and is sent the
translations, so that whoever drives it decides how: `Defended.translate` asks directly, the engine through its cache.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import ClassVar, Literal, NamedTuple

from babelquake.errors import UserError, listed_texts
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
