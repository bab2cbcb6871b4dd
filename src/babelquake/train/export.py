"""From trained weights to what ships: a CTranslate2 model in int8 with its SentencePiece model.

`pack_int8` quantises as CTranslate2 does: each row of a matrix is multiplied by 127 over its largest magnitude and
rounded. Dequantised, such a row still has that largest magnitude, so quantising it again gives the same integers: the
packed file is half the size of 16-bit weights, and loses nothing that the shipped model would keep.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.train.config import ModelConfig
from babelquake.train.vocabulary import processor

Weights = Mapping[str, NDArray[np.float32]]


def pack_int8(weights: Weights, path: Path) -> None:
    """Write weights as int8 rows with scales (matrices) and as they are (vectors)."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in weights.items():
        if value.ndim == 2:
            largest = np.abs(value).max(1)
            scale = np.float32(127) / np.where(largest == 0, np.float32(127), largest)
            arrays[f"{name}:int8"] = np.rint(value * scale[:, None]).astype(np.int8)
            arrays[f"{name}:scale"] = scale
        else:
            arrays[name] = value
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def unpack_int8(path: Path) -> dict[str, NDArray[np.float32]]:
    """The weights of a packed file, dequantised."""
    weights = {}
    with np.load(path) as arrays:
        for name in arrays.files:
            key, _, part = name.partition(":")
            if part == "int8":
                weights[key] = arrays[name].astype(np.float32) / arrays[f"{key}:scale"][:, None]
            elif not part:
                weights[key] = arrays[name]
    return weights


def to_ctranslate2(
    weights: Weights, model: ModelConfig, vocabulary: Path, out: Path, quantization: str | None = "int8"
) -> Path:
    """Write `out` as a CTranslate2 model folder with its `sentencepiece.model`; ready for `ctranslate2.Translator`."""
    from ctranslate2.specs import TransformerSpec

    pieces = processor(vocabulary)
    names = pieces.id_to_piece(list(range(pieces.get_piece_size())))
    spec = TransformerSpec.from_config((model.encoder_layers, model.decoder_layers), model.heads, pre_norm=True)
    for side in ("encoder", "decoder"):
        part = getattr(spec, side)
        embeddings = part.embeddings[0] if side == "encoder" else part.embeddings
        embeddings.weight = weights["embedding.weight"]
        _norm(part.layer_norm, weights, f"{side}_norm")
        for number, layer in enumerate(part.layer):
            prefix = f"{side}.{number}"
            _attention(layer.self_attention, weights, f"{prefix}.attention")
            if side == "decoder":
                _attention(layer.attention, weights, f"{prefix}.cross")
            _norm(layer.ffn.layer_norm, weights, f"{prefix}.feedforward.norm")
            _linear(layer.ffn.linear_0, weights, f"{prefix}.feedforward.inner")
            _linear(layer.ffn.linear_1, weights, f"{prefix}.feedforward.outer")
    spec.decoder.projection.weight = weights["embedding.weight"]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))
    shutil.copyfile(vocabulary, out / "sentencepiece.model")
    return out


def _attention(spec: Any, weights: Weights, name: str) -> None:
    _norm(spec.layer_norm, weights, f"{name}.norm")
    parts = [f"{name}.queries", f"{name}.memory", f"{name}.output"]
    for linear, part in zip(spec.linear, (part for part in parts if f"{part}.weight" in weights), strict=True):
        _linear(linear, weights, part)


def _linear(spec: Any, weights: Weights, name: str) -> None:
    spec.weight, spec.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]


def _norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
