"""The settings for training a language model or metric: one YAML file, checked before anything costly begins."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from babelquake.errors import UserError
from babelquake.train.config import Bounded, read_settings

AnyRecipe = TypeVar("AnyRecipe", bound="Recipe")
Train = Callable[..., Path]


@dataclass(frozen=True)
class Shape:
    """Shape of a Transformer that is trained from scratch."""

    width: int = 384
    layers: int = 6
    heads: int = 6
    feedforward: int = 1536


@dataclass(frozen=True, kw_only=True)
class Recipe(Bounded):
    """The training of a language model or a metric.

    A batch holds `batch_tokens` tokens, padding included, of texts of about the same length; a text longer than
    `length` tokens is cut. `compile` compiles the layers, which pays on a GPU after a minute or two.
    """

    batch_tokens: int = 65536
    length: int = 128
    learning_rate: float = 5e-4
    warmup: int = 500
    dropout: float = 0.1
    compile: bool = False
    card: Mapping[str, Any] = field(default_factory=dict)
    """What the model's card says besides: data, licences, limits, how the seed was chosen."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_tokens < self.length:
            raise UserError(f"config '{self.name}': batch_tokens {self.batch_tokens} is too small for one text.")

    def until(self, end: float | None) -> Self:
        """The same training, bounded by the time left until `end` (seconds since the epoch), where that is given."""
        return self if end is None else self.bounded(minutes=max(0.01, (end - time.time()) / 60))


@dataclass(frozen=True, kw_only=True)
class Reading(Recipe):
    """A training on plain text. `passes` says how often an epoch reads the lines of `train.NAME.txt`, once by default.

    With probability `join` a line is appended to the one before it, so that long texts are met too.
    """

    passes: Mapping[str, int] = field(default_factory=dict)
    join: float = 0.0
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe(Reading):
    """A masked language model: `units: subwords` goes on from the encoder `start`, `units: bytes` starts from nothing.

    `share` of the units is to be guessed: single subwords, or whole words of bytes. In `accents` of the texts of bytes
    some letters are disguised (`babelquake.train.mlm`).
    """

    units: str = "subwords"
    start: str = ""
    share: float = 0.15
    accents: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units not in ("subwords", "bytes"):
            raise UserError(f"config '{self.name}': units is '{self.units}', expected subwords or bytes.")
        if (self.units == "subwords") != bool(self.start):
            raise UserError(
                f"config '{self.name}': 'start' names the encoder whose subwords are kept; bytes have none."
            )


@dataclass(frozen=True, kw_only=True)
class CausalRecipe(Reading):
    """A causal language model of GPT-2's architecture over byte-level BPE, from scratch."""

    vocabulary: int = 16384


@dataclass(frozen=True, kw_only=True)
class MetricRecipe(Recipe):
    """A cross-encoder (reference, translation) → score that goes on from the encoder `start`.

    `within` weighs the error in differences between translations of one sentence against the error in scores.
    """

    start: str
    within: float = 1.0
    pooling: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling not in ("first", "mean"):
            raise UserError(f"config '{self.name}': pooling is '{self.pooling}', expected first or mean.")


@dataclass
class Training:
    """What a kind of model brings to its training; `loss` gives the mean loss of a batch and the tokens in it."""

    model: Any
    tokenizer: Any
    batches: Iterator[Any]
    loss: Callable[[Any], tuple[Any, int]]
    figures: Callable[[], dict[str, Any]]
    """What the trained model reaches on held-out data."""


def trains(kind: str, known: type[AnyRecipe]) -> Callable[[Callable[[AnyRecipe, Path, Any], Training]], Train]:
    """Of a function that prepares a training – from a recipe, a data folder and a device – the one that does it."""

    def decorate(prepare: Callable[[AnyRecipe, Path, Any], Training]) -> Train:
        def train(
            config: str | Path | Mapping[str, Any],
            data: Path,
            out: Path,
            *,
            device: str | None = None,
            until: float | None = None,
            **overrides: Any,
        ) -> Path:
            """Train as the config says; `out` receives the packed weights, config, tokenizer and card of the model.

            `until` (seconds since the epoch) bounds the training by the time left when it begins, whatever the config
            says.
            """
            import torch

            from babelquake.train.batches import ahead
            from babelquake.train.loop import device_named, optimise
            from babelquake.train.model_folder import store

            recipe, place = read_settings(known, kind, config, **overrides), device_named(device)
            torch.manual_seed(recipe.seed)
            made = prepare(recipe, data, place)
            history = optimise(made.model, ahead(made.batches), made.loss, recipe := recipe.until(until))
            return store(out, kind, recipe, made.model, made.tokenizer, history, made.figures(), data)

        return train

    return decorate
