"""A system behind defences is a system: `defended[defence=fold+spell,system=bundled[model=de-en-bpe]]`."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from babelquake.errors import UserError
from babelquake.generators import Dialogue
from babelquake.languages import sides
from babelquake.resource import Limits
from babelquake.spec import Spec, signature
from babelquake.systems.base import System
from babelquake.systems.defences import Chain, defence
from babelquake.systems.files import Stored

Answer = Callable[[System, list[str]], list[str]]
"""Asks a system: directly, or through the engine."""


@dataclass
class Cost:
    """What a defence took, beside the system's own time."""

    texts: int = 0
    calls: int = 0
    """Texts that systems were asked for, those of other systems included."""
    seconds: float = 0.0
    """Processor time of the defence itself."""


class Defended(System):
    """A system behind a chain of defences; `system` is any system, `defence` a chain such as fold+spell."""

    def __init__(
        self, system: str, defence: str = "none", source: str | None = None, target: str | None = None
    ) -> None:
        from babelquake.systems import system as system_of

        pair = f"{source}-{target}" if source and target else None
        self._wrap(system_of(system, pair), defence, pair)

    def _wrap(self, inner: System, chain: str | Chain, language_pair: str | None) -> None:
        self.inner = inner
        self.chain = defence(chain, *sides(language_pair))
        self.chain.meet(inner)
        self.remote = inner.remote or self.chain.remote
        self.price_per_million = inner.price_per_million
        self.spent = Cost()

    @property
    def name(self) -> str:
        return dict(self.spec.options).get("name") or f"{self.inner.name} + {self.chain}"

    @property
    def limits(self) -> Limits:
        return self.inner.limits

    @property
    def signature(self) -> str:
        return signature("defended", defence=self.chain.signature, system=self.inner.signature)

    def check_languages(self, language_pair: str) -> None:
        """The system's languages; those of the chain were checked when it was made."""
        self.inner.check_languages(language_pair)

    def translate(self, texts: Sequence[str]) -> list[str]:
        return self.follow(texts, lambda system, some: system.translate(some))

    def follow(self, texts: Sequence[str], answer: Answer) -> list[str]:
        """Drive the chain: whatever it asks is answered by `answer`; what the chain itself takes is counted."""
        self.chain.prepare()
        self.spent.texts += len(texts)
        with self._timed():
            dialogue = Dialogue(self.chain.steps(texts))
        while not dialogue.over:
            ask = dialogue.asked
            self.spent.calls += len(ask.texts)
            replies = answer(ask.system or self.inner, ask.texts)
            with self._timed():
                dialogue.tell(replies)
        return dialogue.result

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count the processor time of what the chain does."""
        began = time.thread_time()
        try:
            yield
        finally:
            self.spent.seconds += time.thread_time() - began

    def would_ask(self, texts: Sequence[str]) -> list[tuple[System, list[str]]]:
        """Every system with the distinct texts it may be asked for, at most: what a forecast counts.

        Nothing is asked: every answer is taken to be the text itself, which detectors of failures see as a copy.
        """
        asked: dict[str, tuple[System, dict[str, None]]] = {}

        def echo(system: System, some: list[str]) -> list[str]:
            asked.setdefault(system.signature, (system, {}))[1].update(dict.fromkeys(some))
            return some

        before = replace(self.spent)
        self.follow(texts, echo)
        self.spent = before
        return [(system, list(found)) for system, found in asked.values()]

    def close(self) -> None:
        self.inner.close()
        self.chain.close()


def behind(system: System, chain: str) -> System:
    """A system behind a chain of defences; the system itself where the chain is `none`."""
    made = Defended.__new__(Defended)
    made._wrap(system, chain, system.language_pair)
    if made.chain.idle:
        return system
    made.spec = Spec("defended").with_options(defence=str(made.chain), system=str(getattr(system, "spec", system.name)))
    made.language_pair = system.language_pair
    return made


def behind_each(
    systems: Mapping[str | None, Sequence[System]], chains: str | Sequence[str]
) -> dict[str | None, list[System]]:
    """Every system, and every system behind each chain of defences; each chain counts once."""
    named = list(dict.fromkeys([chains] if isinstance(chains, str) else chains))
    if named and (stored := next((one for some in systems.values() for one in some if isinstance(one, Stored)), None)):
        raise UserError(f"{stored.name} is known by its translations alone: a defence needs a system that translates.")
    found: dict[str | None, list[System]] = {}
    for pair, some in systems.items():
        every = [(one, behind(one, chain)) for one in some for chain in named]
        found[pair] = [*some, *(made for one, made in every if made is not one)]
    return found
