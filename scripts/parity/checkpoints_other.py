"""Small checkpoints of BLEURT, TransQuest and MetricX in the formats of their published ones."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
import transformers
from checkpoints import POSITIONS, WIDTH, bert, drawn, save_tokenizer, unigram, weights, xlmr
from judged_segments import segments
from safetensors.torch import save_file

PIECES = Path(__file__).with_name("pieces.model")
"""A SentencePiece model of 319 pieces trained on the parity segments, without normalisation."""
BLEURT = ("bleurt-base-128", "BLEURT-20")
TRANSQUEST = ("monotransquest", "siamesetransquest")
METRICX = "metricx"


def bleurt(name: str, folder: Path) -> Path:
    """A BLEURT checkpoint of the PyTorch ports: BERT with word pieces, or RemBERT with SentencePiece."""
    narrow = 8 if name == "BLEURT-20" else None
    config: dict[str, Any] = bert(folder).to_dict()
    if narrow:
        for file in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
            (folder / file).unlink()
        shutil.copy(PIECES, folder / "spm.model")
        config["vocab_size"] = 400
    network = transformers.BertModel(transformers.BertConfig(**config))
    found = weights(network, "bleurt.")
    if narrow:
        for key in ("word", "position", "token_type"):
            key = f"bleurt.embeddings.{key}_embeddings.weight"
            found[key] = drawn(key, (found[key].shape[0], narrow))
        for key in ("weight", "bias"):
            found[f"bleurt.embeddings.LayerNorm.{key}"] = drawn(f"bleurt.embeddings.LayerNorm.{key}", (narrow,))
        found |= weights(torch.nn.Linear(narrow, WIDTH), "bleurt.encoder.embedding_projection.")
    found |= weights(torch.nn.Linear(WIDTH, 1), "classifier.")
    kept = {"model_type": "bleurt", "architectures": ["BleurtForSequenceClassification"], "embedding_size": narrow}
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act")
    names += ("max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id")
    kept |= {name: config[name] for name in names}
    (folder / "config.json").write_text(json.dumps(kept))
    save_file(found, folder / "model.safetensors", {"format": "pt"})
    return folder


def transquest(name: str, folder: Path) -> Path:
    """A TransQuest checkpoint: XLM-R with one output, or bare; `model_args.json` holds the longest input."""
    mono = name == "monotransquest"
    kind = "XLMRobertaForSequenceClassification" if mono else "XLMRobertaModel"
    config = xlmr(folder, num_labels=1, architectures=[kind])
    network = getattr(transformers, kind)(config)
    save_file(weights(network), folder / "model.safetensors", {"format": "pt"})
    arguments = {"model_class": "MonoTransQuestModel" if mono else "SiameseTransQuestModel", "model_type": "xlmroberta"}
    arguments |= {"max_seq_length": 60, "fp16": False, "use_multiprocessing": False, "n_gpu": 0}
    (folder / "model_args.json").write_text(json.dumps(arguments))
    return folder


def metricx(folder: Path) -> Path:
    """A MetricX checkpoint: mT5 with its whole vocabulary, for the score is the logit of one late token."""
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    save_tokenizer(unigram(list(marks.values()), [], "<unk>"), folder, "T5TokenizerFast", **marks)
    shape = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
    config = transformers.MT5Config(vocab_size=250112, **shape, tie_word_embeddings=False, dropout_rate=0.0)
    config.architectures = ["MT5ForRegression"]
    config.save_pretrained(folder)
    written = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": False}  # as mT5's own says
    (folder / "config.json").write_text(json.dumps(written))
    network = transformers.MT5ForConditionalGeneration(config)
    found = weights(network)
    for part in ("encoder", "decoder"):
        found[f"{part}.embed_tokens.weight"] = found["shared.weight"].clone()
    found |= {name: value * 0.5 for name, value in found.items() if "block" in name and value.ndim == 2}
    found["lm_head.weight"] = found["lm_head.weight"] * -1.5
    save_file(found, folder / "model.safetensors", {"format": "pt"})
    return folder


def longest() -> int:
    """Tokens that the small encoders read."""
    return POSITIONS - 2


KIWI = {
    "source_width": 6,
    "target_width": 5,
    "output_width": 4,
    "predictor_width": 7,
    "predictor_layers": 2,
    "estimator_width": 8,
}
"""Sizes of a small predictor–estimator."""


def kiwi_words(side: str) -> list[str]:
    """A vocabulary of the parity segments: some of their words, so that others are unknown."""
    marks = ["<unk>", "<pad>", "<bos>", "<eos>", "<unaligned>"]
    texts = [row.source if side == "source" else row.translation for row in segments()]
    found = sorted({word for text in texts for word in text.split() if len(word) < 30} - set(marks))
    return [*marks, *found[::2]]


def openkiwi(name: str, folder: Path) -> Path:
    """A predictor–estimator as OpenKiwi 2 saves it."""
    from babelquake.models.predictor_estimator import PredictorEstimator, Shape

    listed = {side: kiwi_words(side) for side in ("source", "target")}
    network = PredictorEstimator(Shape(len(listed["source"]), len(listed["target"]), **KIWI))
    output = weights(network.mean, "sentence_pred.")
    keep_openkiwi(folder, listed, weights(network.encoder), weights(network.decoder), output)
    return folder


def keep_openkiwi(
    folder: Path, words: dict[str, list[str]], encoder: dict[str, Any], decoder: dict[str, Any], output: dict[str, Any]
) -> None:
    """Write `model.torch`, with vocabularies as plain lists."""
    level = {"hter": True, "use_distribution": False}
    saved = {
        "class_name": "PredictorEstimator",
        "vocab": {side: {"itos": listed} for side, listed in words.items()},
        "encoder": {
            "config": {"hidden_size": KIWI["predictor_width"], "rnn_layers": KIWI["predictor_layers"]},
            "state_dict": encoder,
        },
        "decoder": {
            "config": {"hidden_size": KIWI["estimator_width"], "rnn_layers": 1, "use_mlp": True},
            "state_dict": decoder,
        },
        "outputs": {
            "config": {"sentence_level": level, "n_layers_output": 3, "last_activation": False},
            "state_dict": {f"sentence_outputs.sentence_scores.{name}": value for name, value in output.items()},
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(saved, folder / "model.torch")
