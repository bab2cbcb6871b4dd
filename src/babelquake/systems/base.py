"""What every translation system is: `list[str] → list[str]`, with a signature and hints for the engine.

A system does one batch at a time and keeps no results: removing duplicates, batching, caching, progress and resuming
are the engine's work.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar

from babelquake.errors import ResumableError, UnansweredError, listed_texts
from babelquake.models.chat import Cost
from babelquake.resource import Limits, Recipe
from babelquake.spec import Spec
from babelquake.systems.prompts import Prompt, Reading, inquiry

Translate = Callable[[Any, Sequence[str]], list[str]]


def _listed(translate: Translate) -> Translate:
    @wraps(translate)
    def checked(self: Any, texts: Sequence[str]) -> list[str]:
        return translate(self, listed_texts("texts", texts))

    return checked


class System(ABC):
    """Translates. Everything that can change a translation is in the signature."""

    remote: bool = False
    """Whether a call leaves this machine, and may cost money."""
    price_per_million: float | None = None
    """US dollars for a million characters, for the estimate of a dry run."""

    prompt: Prompt | None = None
    """How it is asked, where it is a model that can be told what to do."""
    prompt_column: str | None = None
    """The column of the data with an instruction for each segment, where it takes its instructions from there."""
    documents: bool = False
    """Whether it takes whole documents, one sentence a line."""

    indifferent: ClassVar[frozenset[str]] = frozenset()
    """Options that cannot change a translation, such as how long to wait for it."""

    spec: Spec
    """How the system was asked for, or the name of its class; set by `babelquake.systems.system`."""
    language_pair: str | None = None
    """The data's language pair, where it was given; set by `babelquake.systems.system`."""

    def __init_subclass__(cls) -> None:
        """Every system refuses a single text where it translates a list."""
        super().__init_subclass__()
        if "translate" in vars(cls):
            cls.translate = _listed(cls.translate)  # type: ignore[method-assign, assignment]

    @property
    def name(self) -> str:
        """As tables show it: the `name` given, or the kind of system with its options."""
        return dict(self.spec.options).get("name") or str(self.spec)

    @property
    def identity(self) -> str:
        """The spec without what cannot change a result: a run may be continued with another time-out."""
        return str(self.spec.without(*self.indifferent)) if hasattr(self, "spec") else self.name

    def check_languages(self, language_pair: str) -> None:  # noqa: B027 - most systems cannot know
        """UserError where the system is known to translate between other languages than these."""

    @property
    def limits(self) -> Limits:
        """How the engine should cut its calls."""
        return Limits()

    @property
    def recipe(self) -> Recipe:
        """How a worker builds this system again."""
        return Recipe("system", self.spec, self.language_pair)

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that can change a translation: model, options, prompt, versions."""

    @abstractmethod
    def translate(self, texts: Sequence[str]) -> list[str]:
        """One translation per text, in order."""

    def said(self, asked: Sequence[str]) -> list[str]:
        """The system's answers, word for word, to texts or inquiries; most systems see the texts alone."""
        plain = [inquiry(one).text for one in asked]
        try:
            return self.translate(plain)
        except ResumableError as error:
            pairs = list(zip(asked, plain, strict=True))
            error.answers |= {one: error.answers[text] for one, text in pairs if text in error.answers}
            if isinstance(error, UnansweredError):
                error.reasons |= {one: error.reasons[text] for one, text in pairs if text in error.reasons}
            raise

    def reading(self, answer: str) -> Reading:
        """The translation in an answer, and whether it is of the form that was asked for."""
        return Reading(answer)

    def resegmented(self, number: int) -> "System | None":
        """The same system, reading each text in other subwords, those of sample `number`; None where it cannot."""
        return None

    def holds(self, text: str) -> bool:
        """Whether a part of a document may be this long."""
        return True

    def cost(self, asked: Sequence[str]) -> Cost:
        """What it takes to have these texts translated."""
        characters = sum(map(len, asked))
        price = self.price_per_million
        return Cost(characters, None, None if price is None else characters / 1e6 * price)

    def close(self) -> None:  # noqa: B027 - most systems have nothing to give back
        """Give back processes and connections."""
