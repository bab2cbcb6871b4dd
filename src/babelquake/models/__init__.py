"""Encoders and language models by name: hub, folder, or the models that ship."""

from collections.abc import Callable
from typing import TypeVar

from babelquake.models.base import CausalLM, Encoder, Encoding, MaskedLM, Model, Vectors
from babelquake.models.encoders import ENCODERS, encoder
from babelquake.registry import Registry
from babelquake.spec import Spec, bind, parameters, parse

__all__ = [
    "CAUSAL",
    "ENCODERS",
    "MASKED",
    "CausalLM",
    "Encoder",
    "Encoding",
    "MaskedLM",
    "Vectors",
    "causal",
    "encoder",
    "masked",
]

MASKED: Registry[Callable[..., MaskedLM]] = Registry("masked language model", "babelquake.masked")
CAUSAL: Registry[Callable[..., CausalLM]] = Registry("causal language model", "babelquake.causal")
M = TypeVar("M", bound=Model)


def masked(what: str | Spec) -> MaskedLM:
    """The masked language model of that name."""
    return _made(what, MASKED)


def causal(what: str | Spec) -> CausalLM:
    """The causal language model of that name."""
    return _made(what, CAUSAL)


def _made(what: str | Spec, registry: Registry[Callable[..., M]]) -> M:
    spec = parse(what) if isinstance(what, str) else what
    kind = registry.get(spec.name)
    made = kind(**bind(spec, parameters(kind), registry.kind))
    made.spec = spec
    return made
