"""OpenKiwi's predictor–estimator (Kim et al. 2017; Kepler et al. 2019), the lightest of the models in Kanojia 2021 §4.

Words are what stands between blanks, as in OpenKiwi: give it the tokenisation it was trained with. Words that it never
saw share one number, which is why it notices a translation that copies the source (Kanojia 2021 §5).

OpenKiwi saves one pickled file with configuration, vocabularies and weights; it is read as data, and the classes it
names become empty shells. What `babelquake train qe` makes is a folder with `model.safetensors`, `vocabulary.json` and
`card.json`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from babelquake.errors import UserError
from babelquake.files import store_text
from babelquake.limits import json_object
from babelquake.models.checkpoint import library_versions, published, state
from babelquake.models.loading import device_of
from babelquake.resource import Limits
from babelquake.scorers.base import Array, MeanScorer, Questions, required, shown
from babelquake.spec import signature

if TYPE_CHECKING:
    from babelquake.models.predictor_estimator import PredictorEstimator


WEIGHTS, WORDS, CARD = "model.safetensors", "vocabulary.json", "card.json"
CHECKPOINTS = ("model.torch", "best_model.torch", "model.ckpt")
"""Names under which OpenKiwi's models are published."""
FILES = ("|".join((WEIGHTS, *CHECKPOINTS)),)


@dataclass(frozen=True)
class Loaded:
    """A network with its vocabularies: word to number, for source and target."""

    network: "PredictorEstimator"
    source: dict[str, int]
    target: dict[str, int]


def load(folder: Path) -> Loaded:
    """The model of a folder, in either format."""
    if (folder / WEIGHTS).is_file():
        return _own(folder)
    path = next(folder / name for name in CHECKPOINTS if (folder / name).is_file())
    return _openkiwi(state(path), path)


def save(folder: Path, loaded: Loaded, card: Mapping[str, Any]) -> None:
    """Write a model and what is to be known about it."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().cpu().contiguous() for name, value in loaded.network.state_dict().items()}
    save_file(weights, folder / WEIGHTS)
    words = {"source": list(loaded.source), "target": list(loaded.target), "shape": asdict(loaded.network.shape)}
    store_text(json.dumps(words, ensure_ascii=False), folder / WORDS)
    store_text(json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n", folder / CARD)


def _own(folder: Path) -> Loaded:
    from babelquake.models.predictor_estimator import PredictorEstimator, Shape

    try:
        words = json_object(folder / WORDS, "document")
        network = PredictorEstimator(Shape(**words["shape"]))
        network.load_state_dict(state(folder / WEIGHTS))
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as problem:
        raise UserError(
            f"{folder} is not a predictor-estimator model: {str(problem).splitlines()[0]} Expected what babelquake "
            "train qe --architecture predictor-estimator writes, or a checkpoint of OpenKiwi 2."
        ) from problem
    source, target = ({word: at for at, word in enumerate(words[side])} for side in ("source", "target"))
    return Loaded(network.eval(), source, target)


def _openkiwi(found: Mapping[str, Any], path: Path) -> Loaded:
    """A file that OpenKiwi 2 saved."""
    from babelquake.models.predictor_estimator import PredictorEstimator, Shape

    kind = found.get("class_name")
    if kind != "PredictorEstimator":
        raise UserError(f"{path} contains OpenKiwi's system '{kind}': expected PredictorEstimator.")
    try:
        encoder, decoder, outputs = (found[part] for part in ("encoder", "decoder", "outputs"))
        if encoder["config"].get("use_v0_buggy_strategy") or decoder["config"].get("use_v0_buggy_strategy"):
            raise UserError(f"{path} was saved by OpenKiwi 0.3 or before: convert it with OpenKiwi 2 first.")
        level = outputs["config"]["sentence_level"]
        if not level["hter"]:
            raise UserError(f"{path} labels words only: a model with sentence scores (hter) is needed.")
        weights = encoder["state_dict"]
        source, target = (_words(found["vocab"][side]) for side in ("source", "target"))
        shape = Shape(
            source_words=weights["embeddings.source.embedding.weight"].shape[0],
            target_words=weights["embeddings.target.embedding.weight"].shape[0],
            source_width=weights["embeddings.source.embedding.weight"].shape[1],
            target_width=weights["embeddings.target.embedding.weight"].shape[1],
            output_width=weights["output_embeddings.target.weight"].shape[1],
            predictor_width=encoder["config"]["hidden_size"],
            predictor_layers=encoder["config"]["rnn_layers"],
            estimator_width=decoder["config"]["hidden_size"],
            estimator_layers=decoder["config"]["rnn_layers"],
            narrowed=decoder["config"]["use_mlp"],
            output_layers=3 if level["use_distribution"] else outputs["config"]["n_layers_output"],
            final_activation=not level["use_distribution"] and outputs["config"]["last_activation"],
            distribution=level["use_distribution"],
        )
        network = PredictorEstimator(shape)
        network.encoder.load_state_dict(weights)
        network.decoder.load_state_dict(decoder["state_dict"])
        _fill(network, outputs["state_dict"])
    except (KeyError, TypeError, AttributeError, RuntimeError) as problem:
        reason = str(problem).splitlines()[0]
        raise UserError(f"{path} is not a predictor-estimator checkpoint of OpenKiwi 2: {reason}.") from problem
    return Loaded(network.eval(), source, target)


def _fill(network: "PredictorEstimator", weights: Mapping[str, Any]) -> None:
    for name, part in (("sentence_pred", network.mean), ("sentence_sigma", network.spread)):
        if part is not None:
            prefix = f"sentence_outputs.sentence_scores.{name}."
            own = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
            part.load_state_dict(own)


def _words(vocabulary: Any) -> dict[str, int]:
    """A saved vocabulary: the list of its words, by number."""
    listed = vocabulary["itos"] if "itos" in vocabulary else vars(vocabulary)["itos"]
    return {word: at for at, word in enumerate(listed)}


ROWS = 128
"""Segments of one shape that go through the network together."""


class OpenKiwi(MeanScorer):
    """Predicted human judgement of a translation given its source, by LSTMs without pre-training on large corpora.

    `model` is a folder with OpenKiwi's `model.torch`, or one that `babelquake train qe --architecture
    predictor-estimator` made. `predicts=hter` turns a predicted edit rate around, so that higher is better.
    """

    extra: ClassVar[str | None] = "neural"
    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True

    limits = Limits(texts=1024)
    """Enough segments at once to find some of equal shape."""

    def __init__(self, model: str, predicts: Literal["score", "hter"] = "score", device: str = "auto") -> None:
        self.checkpoint = published(model, FILES, "openkiwi")
        self.predicts = predicts
        self._device = device

    @property
    def described(self) -> str:
        return shown(self.spec, self.checkpoint)

    @cached_property
    def signature(self) -> str:
        return signature(
            "openkiwi",
            self.checkpoint.name,
            content=self.checkpoint.content,
            predicts=self.predicts,
            libraries=library_versions("openkiwi").partition(",")[0],
        )

    @cached_property
    def loaded(self) -> Loaded:
        """The weights and vocabularies, loaded when first needed."""
        library_versions("openkiwi")
        found = load(self.checkpoint.folder)
        found.network.to(device_of(self._device))
        return found

    def judge(self, questions: Questions) -> Array:
        import torch

        from babelquake.models.predictor_estimator import by_shape, numbered

        sources, loaded = required(questions.sources, self, "source"), self.loaded
        ids = [
            (numbered(source.split(), loaded.source), numbered(translation.split(), loaded.target))
            for source, translation in zip(sources, questions.translations, strict=True)
        ]
        found = np.zeros(len(ids))
        device = device_of(self._device)
        with torch.inference_mode():
            for rows in by_shape(ids, ROWS):
                s, t = (torch.tensor([ids[row][side] for row in rows], device=device) for side in (0, 1))
                found[rows] = loaded.network(s, t).double().cpu().numpy()
        return 1 - found if self.predicts == "hter" else found

    def close(self) -> None:
        self.__dict__.pop("loaded", None)
