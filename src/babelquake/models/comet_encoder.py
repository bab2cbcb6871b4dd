"""The pretrained encoder below a COMET network: its classes, its tokenizer, and the checkpoint's weights in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babelquake.errors import UserError
from babelquake.models.settings import offline
from babelquake.models.tokenizing import BERT_MARKS, ROBERTA_MARKS, tokenizer


@dataclass(frozen=True)
class Family:
    """The transformers classes behind an `encoder_model`, and how it joins two texts."""

    model: str
    config: str
    tokenizer: str
    marks: Mapping[str, str]
    separators: int
    typed: bool
    vocabulary: str | None = None
    """A tokenizer that is not the pretrained model's own."""
    prunable: bool = True
    """Whether the vectors of a layer are the same where those above it are left out."""


FAMILIES = {
    "BERT": Family("BertModel", "BertConfig", "BertTokenizerFast", BERT_MARKS, separators=1, typed=True),
    "XLM-RoBERTa": Family(
        "XLMRobertaModel", "XLMRobertaConfig", "XLMRobertaTokenizerFast", ROBERTA_MARKS, separators=2, typed=False
    ),
    "XLM-RoBERTa-XL": Family(
        "XLMRobertaXLModel",
        "XLMRobertaXLConfig",
        "XLMRobertaTokenizerFast",
        ROBERTA_MARKS,
        separators=2,
        typed=False,
        prunable=False,
    ),
    "MiniLM": Family(
        "BertModel",
        "BertConfig",
        "XLMRobertaTokenizerFast",
        ROBERTA_MARKS,
        separators=2,
        typed=False,
        vocabulary="xlm-roberta-base",
    ),
    "RemBERT": Family("RemBertModel", "RemBertConfig", "RemBertTokenizerFast", BERT_MARKS, separators=1, typed=True),
}


def family_of(name: str, folder: Path) -> Family:
    if name not in FAMILIES:
        raise UserError(f"{folder} has the encoder_model '{name}': expected {' or '.join(FAMILIES)}.")
    return FAMILIES[name]


def pretrained(family: Family, name: str, vocabulary: str) -> tuple[Any, Any]:
    """Tokenizer and configuration of the encoder below; its weights are in the checkpoint."""
    import transformers

    try:
        found = tokenizer(vocabulary, family.tokenizer, family.marks)
        return found, getattr(transformers, family.config).from_pretrained(name, local_files_only=offline())
    except (OSError, ValueError) as problem:
        raise UserError(
            f"the tokenizer and configuration of '{name}', on which this COMET checkpoint builds, cannot be loaded: "
            f"{str(problem).strip().splitlines()[0]} Where there is no hub, name a folder with them: "
            "comet[model=FOLDER,encoder=FOLDER]."
        ) from problem


def filled(kind: Any, config: Any, weights: Mapping[str, Any]) -> Any:
    """The encoder with the checkpoint's weights; nothing may stay as it was drawn at random."""
    import torch

    with torch.device("meta"):
        network = kind(config, add_pooling_layer=False)
    network.to_empty(device="cpu")
    for name, buffer in network.named_buffers():
        if name.endswith("position_ids"):
            buffer.copy_(torch.arange(buffer.shape[-1]).expand_as(buffer))
        else:
            buffer.zero_()
    try:
        missing = network.load_state_dict(dict(weights), strict=False, assign=True).missing_keys
    except RuntimeError as problem:
        reason = str(problem).splitlines()[1].strip()
        raise UserError(f"the COMET checkpoint does not fit its encoder: {reason}") from None
    if missing:
        raise UserError(
            f"the COMET checkpoint does not fit its encoder: {len(missing)} weights are missing, such as {missing[0]}."
        )
    return network
