"""Small COMET checkpoints: folders with `hparams.yaml` and `checkpoints/model.ckpt`, as the trainer leaves them."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
import yaml
from checkpoints import LAYERS, WIDTH, bert, drawn, minilm, rembert, weights, xlmr


def feed_forward(sizes: Iterable[int]) -> torch.nn.Sequential:
    """COMET's estimator: linear layers at every third place, activation and dropout between."""
    whole = list(sizes)
    modules: list[torch.nn.Module] = []
    for inner, outer in itertools.pairwise(whole):
        modules += [torch.nn.Linear(inner, outer), torch.nn.Tanh(), torch.nn.Dropout()]
    return torch.nn.Sequential(*modules[:-2])


ENCODERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "BERT": (bert, "BertModel"),
    "XLM-RoBERTa": (xlmr, "XLMRobertaModel"),
    "XLM-RoBERTa-XL": (lambda folder: xlmr(folder, "XLMRobertaXL"), "XLMRobertaXLModel"),
    "MiniLM": (minilm, "BertModel"),
    "RemBERT": (rembert, "RemBertModel"),
}
COMET: dict[str, dict[str, Any]] = {
    "wmt20-comet-da": {"class_identifier": "regression_metric", "hidden_sizes": [24, 12]},
    "wmt22-comet-da": {
        "class_identifier": "regression_metric",
        "hidden_sizes": [24, 12],
        "layer_transformation": "sparsemax",
        "layer_norm": False,
    },
    "regression-rembert": {
        "class_identifier": "regression_metric",
        "hidden_sizes": [24],
        "encoder_model": "RemBERT",
        "pool": "max",
        "activations": "Sigmoid",
        "final_activation": "Sigmoid",
    },
    "regression-bert-layer": {
        "class_identifier": "regression_metric",
        "hidden_sizes": [24],
        "encoder_model": "BERT",
        "pool": "cls",
        "layer": 2,
    },
    "regression-minilm": {"class_identifier": "regression_metric", "hidden_sizes": [24], "encoder_model": "MiniLM"},
    "wmt20-comet-qe-da": {"class_identifier": "referenceless_regression_metric", "hidden_sizes": [20, 10]},
    "emnlp20-comet-rank": {"class_identifier": "ranking_metric", "pool": "avg"},
    "wmt22-cometkiwi-da": {
        "class_identifier": "unified_metric",
        "hidden_sizes": [20, 10],
        "input_segments": ["mt", "src"],
        "layer_norm": True,
    },
    "unified-bert": {
        "class_identifier": "unified_metric",
        "hidden_sizes": [20],
        "encoder_model": "BERT",
        "sent_layer": 3,
        "layer_transformation": "softmax",
        "input_segments": ["mt", "src", "ref"],
    },
    "unified-words": {
        "class_identifier": "unified_metric",
        "hidden_sizes": [20],
        "input_segments": ["mt", "ref"],
        "word_level_training": True,
        "word_layer": 3,
    },
    "xcomet": {
        "class_identifier": "xcomet_metric",
        "hidden_sizes": [20, 10],
        "encoder_model": "XLM-RoBERTa-XL",
        "word_layer": 2,
    },
}
"""Hyper-parameters as `hparams.yaml` has them; names of the published models whose architecture they copy."""


def comet(name: str, folder: Path) -> Path:
    """A COMET checkpoint folder; the encoder's tokenizer and configuration lie in `encoder/` within it."""
    given = COMET[name]
    kind = given["class_identifier"]
    make, model = ENCODERS[given.get("encoder_model", "XLM-RoBERTa")]
    config = make(folder / "encoder")
    network = getattr(transformers, model)(
        config, add_pooling_layer=given.get("encoder_model") in ("MiniLM", "RemBERT")
    )
    found = weights(network, "encoder.model.")
    unified = kind in ("unified_metric", "xcomet_metric")
    if given.get("sent_layer" if unified else "layer", "mix") == "mix":
        for layer in range(LAYERS + 1):
            key = f"layerwise_attention.scalar_parameters.{layer}"
            found[key] = drawn(key, (1,)) + 0.3 * layer
        found["layerwise_attention.gamma"] = torch.tensor([1.3])
        found["layerwise_attention.dropout_mask"] = torch.zeros(LAYERS + 1)
        found["layerwise_attention.dropout_fill"] = torch.full((LAYERS + 1,), -1e20)
    inputs = {"regression_metric": 6, "referenceless_regression_metric": 4}.get(kind, 1) * WIDTH
    if kind != "ranking_metric":
        found |= weights(feed_forward([inputs, *given["hidden_sizes"], 1]), "estimator.ff.")
    if kind == "xcomet_metric" or given.get("word_level_training"):
        labels = 4 if kind == "xcomet_metric" else 3
        found |= weights(torch.nn.Linear(WIDTH, labels), "hidden2tag.")
        found["hidden2tag.bias"] = torch.tensor([0.6, 0.4, 0.2, 0.0][:labels])
        found[f"estimator.ff.{3 * len(given['hidden_sizes'])}.bias"] = torch.tensor([0.1])  # scores on both sides of 1
    if kind == "xcomet_metric":
        found["wordloss.weight"] = torch.tensor([0.08, 0.486, 0.505, 0.533])
    hparams = {"pretrained_model": str(folder / "encoder"), "nr_frozen_epochs": 0.3, "dropout": 0.1, **given}
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams))
    kept = {key: value for key, value in hparams.items() if key != "class_identifier"}
    saved = {"state_dict": found, "hyper_parameters": kept, "epoch": 1, "pytorch-lightning_version": "2.0.0"}
    torch.save(saved, folder / "checkpoints" / "model.ckpt")
    return folder
