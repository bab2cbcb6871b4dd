"""Predictor–estimator models on disk: those that OpenKiwi 2 saved, and those that `babelquake train qe` makes.

OpenKiwi saves one pickled file with configuration, vocabularies and weights; it is read as data, and the classes it
names become empty shells. Ours is a folder with `model.safetensors`, `vocabulary.json` and `card.json`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babelquake.errors import UserError
from babelquake.limits import json_object
from babelquake.models.checkpoint import state

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
    (folder / WORDS).write_text(json.dumps(words, ensure_ascii=False), "utf-8")
    (folder / CARD).write_text(json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n", "utf-8")


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
