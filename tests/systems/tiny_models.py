"""Tiny models with random weights, in the formats that real ones have."""

from pathlib import Path
from typing import Any

import numpy as np

WORDS = "der die das Haus Mann Frau geht nicht heute morgen mit einem großen Auto nach Berlin und sagt dass er"


def sentences(count: int, longest: int = 20) -> list[str]:
    """Random German words, a sentence each."""
    rng = np.random.default_rng(7)
    return [" ".join(rng.choice(WORDS.split(), rng.integers(1, longest + 1))) + "." for _ in range(count)]


def sentencepiece_model(path: Path, **options: Any) -> Path:
    """A BPE model, or what `options` say, of 90 pieces learnt from a few words."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(300)),
        model_prefix=str(path.with_suffix("")),
        **{"model_type": "bpe"} | options,
        vocab_size=90,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    made = path.with_suffix(".model")
    return made.rename(path) if made != path else path


def ctranslate2_model(folder: Path, width: int = 32, quantization: str | None = "int8") -> Path:
    """An encoder and a decoder of two layers each, with its `sentencepiece.model`."""
    import sentencepiece
    from ctranslate2.specs import TransformerSpec

    folder.mkdir(parents=True, exist_ok=True)
    pieces = sentencepiece.SentencePieceProcessor(
        model_file=str(sentencepiece_model(folder / "sentencepiece.model", pad_id=-1))
    )
    names = pieces.id_to_piece(list(range(pieces.get_piece_size())))
    rng = np.random.default_rng(1)

    def linear(spec: Any, rows: int, columns: int) -> None:
        spec.weight = rng.normal(0, 0.3, (rows, columns)).astype(np.float32)
        spec.bias = rng.normal(0, 0.1, rows).astype(np.float32)

    def norm(spec: Any) -> None:
        spec.gamma, spec.beta = np.ones(width, np.float32), np.zeros(width, np.float32)

    spec = TransformerSpec.from_config(2, 4)
    for part in (spec.encoder, spec.decoder):
        embeddings = part.embeddings[0] if part is spec.encoder else part.embeddings
        embeddings.weight = rng.normal(0, 1, (len(names), width)).astype(np.float32)
        norm(part.layer_norm)
        for layer in part.layer:
            norm(layer.self_attention.layer_norm)
            linear(layer.self_attention.linear[0], 3 * width, width)
            linear(layer.self_attention.linear[1], width, width)
            if part is spec.decoder:
                norm(layer.attention.layer_norm)
                linear(layer.attention.linear[0], width, width)
                linear(layer.attention.linear[1], 2 * width, width)
                linear(layer.attention.linear[2], width, width)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, 2 * width, width)
            linear(layer.ffn.linear_1, width, 2 * width)
    linear(spec.decoder.projection, len(names), width)
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))
    return folder


def marian_model(folder: Path) -> Path:
    """A MarianMT checkpoint of a few thousand parameters, saved as safetensors with its tokenizer files."""
    import json

    import sentencepiece
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    source = sentencepiece_model(folder / "source.spm")
    (folder / "target.spm").write_bytes(source.read_bytes())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(source))
    names = ["</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: index for index, name in enumerate(names)}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"source_lang": "de", "target_lang": "en", "tokenizer_class": "MarianTokenizer"}), encoding="utf-8"
    )
    torch.manual_seed(3)
    config = transformers.MarianConfig(
        vocab_size=len(names),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=128,
        pad_token_id=len(names) - 1,
        eos_token_id=0,
        decoder_start_token_id=len(names) - 1,
        forced_eos_token_id=0,
        init_std=0.5,
    )
    transformers.MarianMTModel(config).save_pretrained(folder)
    return folder
