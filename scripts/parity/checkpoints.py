"""Small checkpoints in the official formats, the same numbers on every machine: for parity scripts and tests.

Each has the architecture of a published model, a few layers of a few numbers, and weights drawn from streams keyed by
their names, so that nothing but this file need be kept. Vocabularies are made of the parity segments themselves.
"""

import json
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent))
from judged_segments import segments

WIDTH, LAYERS, HEADS, POSITIONS = 16, 3, 2, 130
Shapes = dict[str, tuple[int, ...]]


def drawn(name: str, shape: tuple[int, ...]) -> Tensor:
    """A weight by its name: normalisations near 1, everything else scaled by its inputs."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    noise = rng.standard_normal(shape).astype(np.float32)
    if "norm" in name.lower() and name.endswith("weight"):
        return torch.from_numpy(1 + 0.1 * noise)
    if name.endswith("bias") or len(shape) < 2:
        return torch.from_numpy(0.3 * noise)
    spread = 1.0 if "embedding" in name or "shared" in name else 1.6 / np.sqrt(shape[-1])
    return torch.from_numpy((spread * noise).astype(np.float32))


def weights(network: torch.nn.Module, prefix: str = "") -> dict[str, Tensor]:
    """Weights for every parameter of a network."""
    found = {prefix + name: value for name, value in network.state_dict().items()}
    return {
        name: drawn(name, tuple(value.shape)) if value.is_floating_point() else value for name, value in found.items()
    }


def words() -> Counter[str]:
    """How often each word of the parity segments occurs; what is repeated within one text counts once."""
    counts: Counter[str] = Counter()
    for segment in segments():
        for text in (segment.source, segment.translation, segment.reference):
            counts.update(sorted(set(text.split())))
    return counts


def unigram(first: list[str], last: list[str], unknown: str) -> Tokenizer:
    """A unigram tokenizer as XLM-RoBERTa has it: frequent words whole, otherwise pieces and characters."""
    counts = words()
    pieces = {
        f"▁{word}": -5.0 - 0.01 * rank for rank, (word, _) in enumerate(counts.most_common(150)) if len(word) < 20
    }
    for characters, cost in ((3, -9.0), (2, -10.5), (1, -12.0)):
        grams = Counter(f"▁{word}"[at : at + characters] for word in counts for at in range(len(word)))
        for rank, (gram, _) in enumerate(sorted(grams.items(), key=lambda item: (-item[1], item[0]))[:160]):
            pieces.setdefault(gram, cost - 0.005 * rank)
    taken = {*first, *last}
    vocabulary = [(token, 0.0) for token in first]
    vocabulary += [(piece, score) for piece, score in pieces.items() if piece not in taken]
    vocabulary += [(token, 0.0) for token in last]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=[name for name, _ in vocabulary].index(unknown)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def wordpiece() -> Tokenizer:
    """A WordPiece tokenizer as BERT has it, without letter case."""
    first = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    lowered = sorted({word.lower().strip(".,!?") for word in words()})
    characters = sorted({character for word in lowered for character in word if len(word) < 40})
    pieces = [*first, *characters, *(f"##{character}" for character in characters)]
    pieces += [word for word in lowered if 1 < len(word) < 12 and word.isascii()]
    vocabulary = {piece: at for at, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=first[1]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, kind: str, **marks: str) -> int:
    """Write `tokenizer.json` and what transformers wants beside it; give the size of the vocabulary."""
    ids = {name: tokenizer.token_to_id(mark) for name, mark in marks.items()}
    tokenizer.add_special_tokens(list(dict.fromkeys(marks.values())))
    begin, end = marks.get("cls_token", ""), marks.get("sep_token", "")
    if begin:
        doubled = [end] if kind.startswith("XLM") else []
        typed = ":1" if not kind.startswith("XLM") else ""
        tokenizer.post_processor = processors.TemplateProcessing(
            single=[begin, "$A", end],
            pair=[begin, "$A", end, *doubled, f"$B{typed}", f"{end}{typed}"],
            special_tokens=[(begin, ids["cls_token"]), (end, ids["sep_token"])],
        )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": kind, "model_max_length": POSITIONS - 2, **marks}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tokenizer.get_vocab_size()


ROBERTA_MARKS = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "cls_token": "<s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
BERT_MARKS = {
    "sep_token": "[SEP]",
    "cls_token": "[CLS]",
    "unk_token": "[UNK]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}


def xlmr(folder: Path, kind: str = "XLMRoberta", **extra: Any) -> transformers.PretrainedConfig:
    """Tokenizer and configuration of a small XLM-RoBERTa (or its XL variety)."""
    tokenizer = unigram(["<s>", "<pad>", "</s>", "<unk>"], ["<mask>"], "<unk>")
    size = save_tokenizer(tokenizer, folder, "XLMRobertaTokenizer", **ROBERTA_MARKS)
    return _save_config(folder, kind, size, max_position_embeddings=POSITIONS, type_vocab_size=1, **extra)


def bert(folder: Path, kind: str = "Bert", **extra: Any) -> transformers.PretrainedConfig:
    """Tokenizer and configuration of a small BERT."""
    size = save_tokenizer(wordpiece(), folder, "BertTokenizer", **BERT_MARKS)
    (folder / "vocab.txt").write_text("\n".join(_vocabulary(folder)), "utf-8")
    return _save_config(folder, kind, size, max_position_embeddings=POSITIONS - 2, **extra)


def minilm(folder: Path) -> transformers.PretrainedConfig:
    """Tokenizer and configuration of a small multilingual MiniLM: BERT's network over XLM-RoBERTa's vocabulary."""
    xlmr(folder)
    size = len(_vocabulary(folder))
    return _save_config(folder, "Bert", size, max_position_embeddings=POSITIONS - 2)


def rembert(folder: Path) -> transformers.PretrainedConfig:
    """Tokenizer and configuration of a small RemBERT."""
    tokenizer = unigram(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], [], "[UNK]")
    size = save_tokenizer(tokenizer, folder, "RemBertTokenizer", **BERT_MARKS)
    extra = {"input_embedding_size": 8, "output_embedding_size": 12}
    return _save_config(folder, "RemBert", size, max_position_embeddings=POSITIONS - 2, pad_token_id=0, **extra)


def _vocabulary(folder: Path) -> list[str]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return [str(tokenizer.id_to_token(at)) for at in range(tokenizer.get_vocab_size())]


def _save_config(folder: Path, kind: str, size: int, **extra: Any) -> transformers.PretrainedConfig:
    shape = {
        "vocab_size": size,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": 32,
        **extra,
    }
    config = getattr(transformers, f"{kind}Config")(**shape)
    config.save_pretrained(folder)
    return config
