"""What the folder of a COMET model says of its network: `hparams.yaml`, and what each class assumes beyond it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from babelquake.errors import UserError

FILES = ("hparams.yaml", "checkpoints/model.ckpt")
JOINED = {"unified_metric", "xcomet_metric"}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "regression_metric": {},
    "referenceless_regression_metric": {"hidden_sizes": [2048, 1024]},
    "ranking_metric": {"pretrained_model": "xlm-roberta-base"},
    "unified_metric": {"layer_transformation": "sparsemax", "pretrained_model": "microsoft/infoxlm-large"},
    "xcomet_metric": {
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "encoder_model": "XLM-RoBERTa-XL",
        "pretrained_model": "facebook/xlm-roberta-xl",
        "word_layer": 36,
        "hidden_sizes": [2560, 1280],
        "word_level_training": True,
        "error_labels": ["minor", "major", "critical"],
    },
}
"""What each class of unbabel-comet 2.2 assumes where a checkpoint says nothing, beyond the defaults of `Settings`."""


@dataclass(frozen=True)
class Settings:
    """The hyper-parameters that shape the network, under the names of `hparams.yaml`."""

    class_identifier: str
    encoder_model: str = "XLM-RoBERTa"
    pretrained_model: str = "xlm-roberta-large"
    pool: str = "avg"
    layer: str | int = "mix"
    layer_transformation: str = "softmax"
    layer_norm: bool = True
    hidden_sizes: Sequence[int] = (3072, 1024)
    activations: str = "Tanh"
    final_activation: str | None = None
    input_segments: Sequence[str] = ("mt", "src", "ref")
    word_level_training: bool = False
    word_layer: int = 24
    error_labels: Sequence[str] = ("minor", "major")

    @property
    def joined(self) -> bool:
        """Whether the texts of a segment are read together."""
        return self.class_identifier in JOINED

    @property
    def inputs(self) -> frozenset[str]:
        """Which of source and reference the model reads."""
        if self.class_identifier == "referenceless_regression_metric":
            return frozenset({"source"})
        if self.class_identifier == "unified_metric":
            names = {"src": "source", "ref": "reference"}
            return frozenset(names[segment] for segment in self.input_segments if segment in names)
        return frozenset({"source", "reference"})


def settings(folder: Path, trained: Mapping[str, Any] | None = None) -> Settings:
    """What `hparams.yaml` says; `trained`, the hyper-parameters inside the checkpoint, win as they do in COMET."""
    import yaml

    path = folder / FILES[0]
    try:
        written = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise UserError(f"{path} is no YAML: {str(problem).splitlines()[0]}") from problem
    kind = str(written.get("class_identifier")) if isinstance(written, dict) else ""
    if kind not in DEFAULTS:
        raise UserError(
            f"{path} names no COMET model that is known: class_identifier is '{kind}', "
            f"expected {' or '.join(DEFAULTS)}."
        )
    found = {**DEFAULTS[kind], **written, **(trained or {})}
    if kind in JOINED and "sent_layer" in found:
        found["layer"] = found["sent_layer"]
    known = {field.name for field in fields(Settings)}
    chosen = {name: value for name, value in found.items() if name in known and (value is not None or "final" in name)}
    return Settings(**{**chosen, "class_identifier": kind})
