"""COMET networks (Rei et al. 2020, 2022; Guerreiro et al. 2023) read straight from their published folders.

A folder holds `hparams.yaml` and `checkpoints/model.ckpt`: a cross-lingual encoder, a learned mixture of its layers and
a feed-forward estimator. Regression and ranking models encode source, translation and reference each on its own;
unified models (CometKiwi, xCOMET) read them joined, which `comet_joint` does.

What the folder of a COMET model says of its network: `hparams.yaml`, and what each class assumes beyond it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.limits import text_of, yaml_of
from babelquake.models.batching import Tokens, on_gpu
from babelquake.models.checkpoint import PublishedEncoder, state
from babelquake.models.loading import Precision, in_precision, prepared
from babelquake.models.sequence_reader import Reader
from babelquake.paths import table_of_room
from babelquake.resource import halving

if TYPE_CHECKING:
    from torch import Tensor
from babelquake.models.loading import offline
from babelquake.models.tokenizers import fast_tokenizer


@dataclass(frozen=True)
class Family:
    """The transformers classes behind an `encoder_model`, and how it joins two texts."""

    model: str
    tokenizer: str
    separators: int
    typed: bool
    vocabulary: str | None = None
    """A tokenizer that is not the pretrained model's own."""
    prunable: bool = True
    """Whether the vectors of a layer are the same where those above it are left out."""


def family_of(name: str, folder: Path) -> Family:
    known = table_of_room("models", "comet")["encoders"]
    if name not in known:
        raise UserError(f"{folder} has the encoder_model '{name}': expected {' or '.join(known)}.")
    return Family(**known[name])


def pretrained(family: Family, name: str, vocabulary: str) -> tuple[Any, Any]:
    """Tokenizer and configuration of the encoder below; its weights are in the checkpoint."""
    import transformers

    try:
        found, config = fast_tokenizer(vocabulary, family.tokenizer), family.model.removesuffix("Model") + "Config"
        return found, getattr(transformers, config).from_pretrained(name, local_files_only=offline())
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


FILES = ("hparams.yaml", "checkpoints/model.ckpt")
JOINED = {"unified_metric", "xcomet_metric"}


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
    path = folder / FILES[0]
    written = yaml_of(text_of(path), str(path))
    kind = str(written.get("class_identifier")) if isinstance(written, dict) else ""
    defaults = table_of_room("models", "comet")["classes"]
    if kind not in defaults:
        raise UserError(
            f"{path} names no COMET model that is known: class_identifier is '{kind}', "
            f"expected {' or '.join(defaults)}."
        )
    found = {**defaults[kind], **written, **(trained or {})}
    if kind in JOINED and "sent_layer" in found:
        found["layer"] = found["sent_layer"]
    known = {field.name for field in fields(Settings)}
    chosen = {name: value for name, value in found.items() if name in known and (value is not None or "final" in name)}
    return Settings(**{**chosen, "class_identifier": kind})


class Network(Reader):
    """The encoder, the mixture of its layers and the estimator, ready to judge."""

    def __init__(self, folder: Path, encoder: str | None, precision: Precision, device: str) -> None:
        import torch
        import transformers

        checkpoint = state(folder / FILES[1])
        weights = checkpoint.get("state_dict")
        if not isinstance(weights, dict) or not any(name.startswith("encoder.model.") for name in weights):
            raise UserError(f"{folder / FILES[1]} is not a COMET checkpoint: it has no encoder.model.* weights.")
        self.settings = settings(folder, checkpoint.get("hyper_parameters"))
        self.device = device
        self.family = family_of(self.settings.encoder_model, folder)
        vocabulary = encoder or self.family.vocabulary or self.settings.pretrained_model
        self.tokenizer, config = pretrained(self.family, encoder or self.settings.pretrained_model, vocabulary)
        kind = getattr(transformers, self.family.model)
        self.limit = config.max_position_embeddings - 2
        self.mixture = _mixture(self.settings, weights, config.num_hidden_layers + 1)
        self._gamma = float(weights["layerwise_attention.gamma"]) if self.settings.layer == "mix" else 1.0
        network = filled(kind, config, _under(weights, "encoder.model."))
        if self.family.prunable:
            needed = [layer for layer, weight in self.mixture.items() if weight]
            needed += [self.settings.word_layer] if self._tags else []
            del network.encoder.layer[max(needed) :]
        self.config = config
        self.ribbons = self.ribbons and not on_gpu(device)  # there, means over groups of any size were never compared
        network = in_precision(network, precision).eval().to(device)
        self.encoder = prepared(network) if self.ribbons and precision == "float32" else network
        self._estimator = _linears(_under(weights, "estimator.ff."), device)
        self._activation = _activation(torch.nn, self.settings.activations)
        self._final = _activation(torch.nn, self.settings.final_activation) if self.settings.final_activation else None
        self.tagger = _linears({f"0.{k}": v for k, v in _under(weights, "hidden2tag.").items()}, device)
        self.cut: list[str] = []
        """Texts, or texts joined, that were longer than the encoder reads."""

    @property
    def _tags(self) -> bool:
        return self.settings.joined and self.settings.word_level_training

    @property
    def width(self) -> int:
        """Numbers of a sentence vector."""
        return int(self.encoder.config.hidden_size)

    def tokenised(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids between the encoder's marks, cut to its length, and where each token stands in the text."""
        found = self.tokenizer(text, return_offsets_mapping=True, return_token_type_ids=False, verbose=False)
        ids, offsets = list(found["input_ids"]), [tuple(pair) for pair in found["offset_mapping"]]
        longest = self.limit - 2
        if len(ids) > longest:
            self.cut += [] if self.settings.joined else [text]  # what is joined is counted when it is cut again
            ids, offsets = [*ids[: longest - 1], ids[-1]], [*offsets[: longest - 1], offsets[-1]]
        return ids, offsets

    def read(
        self, sequences: Tokens, types: Tokens | None = None
    ) -> "Iterator[tuple[list[int], Tensor, list[Tensor]]]":
        """Sequences of equal length: which they are, their tokens, and every layer that is used, embeddings first."""
        sheet = self.sheet(sequences, types)
        states = self.run(self.encoder, sheet, output_hidden_states=True).hidden_states
        for places, rows in sheet.equals():
            yield places, rows(sheet.inputs["input_ids"]), [rows(state) for state in states]

    def mixed(self, layers: "list[Tensor]", mask: "Tensor") -> "Tensor":
        """The mixture of layers (Rei et al. 2020, §2.2), each normalised over the whole sentence where so trained."""
        if self.settings.layer != "mix":
            return layers[int(self.settings.layer)].float()
        import torch

        total = torch.zeros(())
        seen = mask.float().unsqueeze(-1)
        for number, weight in self.mixture.items():
            if weight:
                layer = layers[number].float()
                piece = (_normalised(layer, seen) if self.settings.layer_norm else layer) * weight
                total = piece if total.ndim == 0 else total + piece
        return total * self._gamma

    def pooled(self, vectors: "Tensor", layers: "list[Tensor]", ids: "Tensor", mask: "Tensor") -> "Tensor":
        """One vector per text: the mean, the maximum, or the first token's."""
        match self.settings.pool:
            case "cls":
                return vectors[:, 0]
            case "default" if self.settings.encoder_model != "BERT":
                return layers[-1][:, 0].float()
            case "avg":
                padding = ids.eq(self.tokenizer.pad_token_id).unsqueeze(-1)
                return vectors.masked_fill(padding, 0.0).sum(1) / mask.sum(1, keepdim=True)
            case "max":
                padding = ids.eq(self.tokenizer.pad_token_id).unsqueeze(-1)
                return vectors.masked_fill(padding, float("-inf")).amax(1)
        raise UserError(f"a COMET checkpoint pools by '{self.settings.pool}': expected avg, max, cls or default.")

    def sentence_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text, each encoded on its own."""
        sequences = [self.tokenised(text)[0] for text in texts]
        found = np.zeros((len(texts), self.width), dtype=np.float32)
        for places in self.batches(sequences):
            found[places] = halving(self._vectors, [sequences[place] for place in places])
        return found

    def _vectors(self, sequences: list[list[int]]) -> list[NDArray[np.float32]]:
        import torch

        found = np.zeros((len(sequences), self.width), dtype=np.float32)
        with torch.inference_mode():
            for places, ids, layers in self.read(sequences):
                mask = torch.ones_like(ids)
                vectors = self.pooled(self.mixed(layers, mask), layers, ids, mask)
                found[places] = vectors.float().cpu().numpy()[: len(places)]
        return list(found)

    def estimate(self, vectors: "Tensor") -> "Tensor":
        """The feed-forward estimator: one number per row."""
        vectors = vectors.double()
        for weight, bias in self._estimator[:-1]:
            vectors = self._activation(vectors @ weight.T + bias)
        weight, bias = self._estimator[-1]
        found = vectors @ weight.T + bias
        found = self._final(found) if self._final else found
        return found.reshape(-1).float()

    def judge(
        self,
        translations: NDArray[np.float32],
        sources: NDArray[np.float32],
        references: NDArray[np.float32] | None,
    ) -> NDArray[np.float64]:
        """Scores from sentence vectors (Rei et al. 2020, §2.3 and §2.4)."""
        import torch

        with torch.inference_mode():
            t, s = (torch.as_tensor(part, device=self.device) for part in (translations, sources))
            if self.settings.class_identifier == "referenceless_regression_metric":
                found = self.estimate(torch.cat((t, s, t * s, (t - s).abs()), dim=1))
                return np.asarray(found.cpu().numpy(), dtype=np.float64)
            r = torch.as_tensor(references, device=self.device)
            if self.settings.class_identifier == "ranking_metric":
                to_source, to_reference = (torch.nn.functional.pairwise_distance(t, other) for other in (s, r))
                found = 1 / (1 + 2 * to_reference * to_source / (to_reference + to_source))
            else:
                found = self.estimate(torch.cat((t, r, t * r, (t - r).abs(), t * s, (t - s).abs()), dim=1))
            return np.asarray(found.cpu().numpy(), dtype=np.float64)


def _under(weights: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def _linears(weights: Mapping[str, Any], device: str) -> "list[tuple[Tensor, Tensor]]":
    """Weight and bias of each linear layer, in order; double, so that a batch's size rounds nothing."""
    numbers = sorted({int(name.partition(".")[0]) for name in weights})
    return [(weights[f"{n}.weight"].double().to(device), weights[f"{n}.bias"].double().to(device)) for n in numbers]


def _activation(modules: Any, name: str) -> Any:
    kind = getattr(modules, name.title(), None)
    if kind is None:
        raise UserError(f"a COMET checkpoint names the activation '{name}', which torch does not have.")
    return kind()


def _mixture(settings: Settings, weights: Mapping[str, Any], layers: int) -> dict[int, float]:
    """The share of each layer: softmax or sparsemax of the learned scalars, or one layer alone."""
    import torch

    if settings.layer != "mix":
        if not 0 <= int(settings.layer) < layers:
            raise UserError(f"a COMET checkpoint reads layer {settings.layer} of an encoder with {layers} layers.")
        return {int(settings.layer): 1.0}
    names = [f"layerwise_attention.scalar_parameters.{number}" for number in range(layers)]
    if any(name not in weights for name in names):
        raise UserError(f"the COMET checkpoint mixes layers but does not weigh all {layers} of its encoder.")
    scalars = torch.cat([weights[name].float().reshape(1) for name in names])
    shares = sparsemax(scalars) if settings.layer_transformation == "sparsemax" else torch.softmax(scalars, dim=0)
    return {number: float(share) for number, share in enumerate(shares)}


def sparsemax(scalars: "Tensor") -> "Tensor":
    """The nearest point of the simplex (Martins & Astudillo 2016, Algorithm 1): small shares become exactly zero."""
    import torch

    ordered = torch.sort(scalars, descending=True).values
    ranks = torch.arange(1, len(scalars) + 1, dtype=scalars.dtype)
    support = int((1 + ranks * ordered > ordered.cumsum(0)).sum())
    threshold = (ordered[:support].sum() - 1) / support
    return torch.clamp(scalars - threshold, min=0)


def _normalised(layer: "Tensor", seen: "Tensor") -> "Tensor":
    """Mean 0 and variance 1 over all numbers of a sentence, padding left out."""
    count = seen.sum((1, 2), keepdim=True) * layer.shape[-1]
    mean = (layer * seen).sum((1, 2), keepdim=True) / count
    variance = (((layer * seen - mean) * seen) ** 2).sum((1, 2), keepdim=True) / count
    centred: Tensor = (layer - mean) / (variance + 1e-12).sqrt()
    return centred


class CometEncoder(PublishedEncoder[Network]):
    """The encoder of a COMET checkpoint, its layers mixed and its tokens pooled as trained."""

    metric = "comet"
    owner = "Unbabel"
    files = FILES

    def __init__(
        self,
        model: str,
        encoder: str | None = None,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.settings = settings(self.checkpoint.folder)
        self._below = encoder

    def load(self, device: str) -> Network:
        return Network(self.checkpoint.folder, self._below, self.precision, device)
