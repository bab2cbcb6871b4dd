"""What the engine knows of everything costly: systems, scorers, encoders and language models are *resources*.

A resource says what it is without loading weights (`signature`), how much it takes at once (`limits`), from what a
worker elsewhere can build it again (`recipe`), and gives back what it holds (`close`). The engine knows no more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

from babelquake.errors import ResumableError, setting
from babelquake.spec import Spec

Q = TypeVar("Q")
A = TypeVar("A")
Kind = Literal["system", "scorer", "encoder", "masked-lm", "causal-lm"]


@dataclass(frozen=True)
class Limits:
    """How much a resource takes at once."""

    texts: int = 64
    """Texts in one call."""
    characters: int | None = None
    """Characters in one call, where there is such a limit."""
    tokens: int | None = None
    """Tokens in one forward pass of a model; the model counts them itself."""
    concurrent: int = 1
    """Calls under way at the same time."""


@dataclass(frozen=True)
class Recipe:
    """From what a resource is built: plain words that travel to a worker, never a live object."""

    kind: Kind
    spec: Spec
    language_pair: str | None = None


class Resource(Protocol):
    """Whatever costs time or money to ask."""

    @property
    def name(self) -> str:
        """The name with options, as tables show it."""

    @property
    def signature(self) -> str:
        """Everything that can change an answer: name, content of the weights, options, precision, versions."""

    @property
    def limits(self) -> Limits:
        """How the engine should cut its calls."""

    @property
    def recipe(self) -> Recipe:
        """How a worker builds it again."""

    def close(self) -> None:
        """Give back memory, processes and connections."""


@dataclass
class Settings:
    """What holds for every resource from now on, unless its name says otherwise."""

    device: str = "auto"
    offline: bool = False
    """No network: a scorer without a `model` takes the one that ships, and says so in its name."""


SETTINGS = Settings()


class Gap(NamedTuple):
    """A text with one word missing: what a masked language model is asked to fill."""

    before: str
    after: str


class Filler(NamedTuple):
    """A word that a masked language model offers for a gap."""

    word: str
    probability: float


FULL = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
    "could not create a primitive",
)
"""What torch says where memory runs out: on a GPU, on a CPU, in oneDNN."""


def is_full(error: BaseException) -> bool:
    """Whether an error says that memory ran out."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in FULL)


def halving(answer: Callable[[list[Q]], list[A]], batch: list[Q]) -> list[A]:
    """Answer a batch; where memory runs out, answer its halves instead."""
    try:
        return answer(batch)
    except (MemoryError, RuntimeError) as error:
        if not is_full(error):
            raise
        if len(batch) == 1:
            raise ResumableError(
                "not enough memory for a single text. Finished work is kept. Free some memory, or use a smaller "
                f"model, precision=bfloat16 or another {setting('device')}."
            ) from error
    middle = len(batch) // 2
    return halving(answer, batch[:middle]) + halving(answer, batch[middle:])
