"""The layers of a transformer encoder: only those that are needed are computed.

Layer k is what the model gives when its stack ends after k blocks (as bert-score cuts it), so that models with a last
normalisation – T5, ByT5, ModernBERT – have it applied to every layer. Lower layers are taken on the way up, as the
input of the block above, so that several layers cost one pass.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from babelquake.models.batching import Sheet

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

        top = max(*layers, 1)
        found: dict[int, Any] = {}

        def keep(layer: int) -> Any:
            def hook(block: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
                found[layer] = given[0] if given else named["hidden_states"]

            return hook

        lower = [layer for layer in set(layers) if layer < top]
        hooks = [self._blocks[layer].register_forward_pre_hook(keep(layer), with_kwargs=True) for layer in lower]
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
        if self._end is not None:
            with torch.inference_mode():
                found = {layer: self._end(hidden) for layer, hidden in found.items()}
        if top in layers:
            found[top] = last
        return found

    def _whole(self, sheet: Sheet, layers: Sequence[int]) -> dict[int, Any]:
        states = self.run(partial(self.model, output_hidden_states=True), sheet).hidden_states
        if self.type == UPSAMPLED:
            length = sheet.inputs["input_ids"].shape[1]
            states = [_repeated(state, length, self.model.config.downsampling_rate) for state in states]
        return {layer: states[layer] for layer in layers}


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
