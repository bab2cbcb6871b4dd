"""From trained weights to what ships: a CTranslate2 model in int8 with its SentencePiece model.

`pack_int8` quantises as CTranslate2 does: each row of a matrix is multiplied by 127 over its largest magnitude and
rounded. Dequantised, such a row still has that largest magnitude, so quantising it again gives the same integers: the
packed file is half the size of 16-bit weights, and loses nothing that the shipped model would keep.

The last step of a training exports the best weights, measures them on the test split and writes the model card; `python
-m babelquake.train.export` does it for weights that were trained on another machine.

`start_from` reads such a folder back, for `train nmt --init`. `model.bin` holds every variable by name: binary version,
name and revision of the layout, then each variable's name, shape, type and bytes, and at the end aliases. What is read
back is what the shipped model computes with.
"""

import argparse
import json
import os
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError, setting
from babelquake.train.config import Config, ModelConfig, load
from babelquake.train.corpus import read_pairs, sha256, split_file
from babelquake.train.segmentation import processor, segmentation, vocabulary

Weights = Mapping[str, NDArray[np.float32]]


def pack_int8(weights: Weights, path: Path) -> None:
    """Write weights as int8 rows with scales (matrices) and as they are (vectors)."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in weights.items():
        if value.ndim == 2:
            largest = np.abs(value).max(1)
            scale = np.float32(127) / np.where(largest == 0, np.float32(127), largest)
            arrays[f"{name}:int8"] = np.rint(value * scale[:, None]).astype(np.int8)
            arrays[f"{name}:scale"] = scale
        else:
            arrays[name] = value
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def unpack_int8(path: Path) -> dict[str, NDArray[np.float32]]:
    """The weights of a packed file, dequantised."""
    weights = {}
    with np.load(path) as arrays:
        for name in arrays.files:
            key, _, part = name.partition(":")
            if part == "int8":
                weights[key] = arrays[name].astype(np.float32) / arrays[f"{key}:scale"][:, None]
            elif not part:
                weights[key] = arrays[name]
    return weights


def to_ctranslate2(
    weights: Weights, model: ModelConfig, vocabulary: Path, out: Path, quantization: str | None = "int8"
) -> Path:
    """Write `out` as a CTranslate2 model folder with its `sentencepiece.model`; ready for `ctranslate2.Translator`."""
    from ctranslate2.specs import TransformerSpec

    pieces = processor(vocabulary)
    words = pieces.id_to_piece(list(range(pieces.get_piece_size())))
    spec = TransformerSpec.from_config((model.encoder_layers, model.decoder_layers), model.heads, pre_norm=True)
    for ours, theirs in names(model):
        *path, last = theirs.split("/")
        setattr(reduce(_part, path, spec), last, weights[ours])
    spec.encoder.embeddings[0].weight = spec.decoder.projection.weight = weights["embedding.weight"]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=quantization)
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))
    shutil.copyfile(vocabulary, out / "sentencepiece.model")
    return out


def names(model: ModelConfig) -> Iterator[tuple[str, str]]:
    """Our name of every weight, and CTranslate2's."""
    yield "embedding.weight", "decoder/embeddings/weight"
    for side, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        yield from _norm(f"{side}_norm", f"{side}/layer_norm")
        for number in range(layers):
            ours, theirs = f"{side}.{number}", f"{side}/layer_{number}"
            yield from _norm(f"{ours}.attention.norm", f"{theirs}/self_attention/layer_norm")
            yield from _linear(f"{ours}.attention.queries", f"{theirs}/self_attention/linear_0")
            yield from _linear(f"{ours}.attention.output", f"{theirs}/self_attention/linear_1")
            if side == "decoder":
                yield from _norm(f"{ours}.cross.norm", f"{theirs}/attention/layer_norm")
                for place, part in enumerate(("queries", "memory", "output")):
                    yield from _linear(f"{ours}.cross.{part}", f"{theirs}/attention/linear_{place}")
            yield from _norm(f"{ours}.feedforward.norm", f"{theirs}/ffn/layer_norm")
            yield from _linear(f"{ours}.feedforward.inner", f"{theirs}/ffn/linear_0")
            yield from _linear(f"{ours}.feedforward.outer", f"{theirs}/ffn/linear_1")


def _norm(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    yield f"{ours}.weight", f"{theirs}/gamma"
    yield f"{ours}.bias", f"{theirs}/beta"


def _linear(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    yield f"{ours}.weight", f"{theirs}/weight"
    yield f"{ours}.bias", f"{theirs}/bias"


def _part(spec: Any, name: str) -> Any:
    """A part of a specification by its name in files, in which members of lists are numbered."""
    if hasattr(spec, name):
        return getattr(spec, name)
    parts, _, number = name.rpartition("_")
    return getattr(spec, parts)[int(number)]


def finish(
    weights: Path,
    history: Path,
    data: Path,
    cache: Path,
    out: Path,
    *,
    pieces: Path | None = None,
    data_source: str = "not stated",
    data_licence: str = "as stated by the owner of the data",
    hardware: str = "not stated",
    selection: str = "not stated",
) -> Path:
    """Write `out`: CTranslate2 int8 model, SentencePiece model and `card.json`, with BLEU if there is a test split.

    `pieces` is the SentencePiece model of weights that went on from another model's.
    """
    run = json.loads(history.read_text(encoding="utf-8"))
    config = load(run["config"])
    arrays = unpack_int8(weights)
    model = pieces or vocabulary(segmentation(config.segmentation).vocabulary, config.vocabulary, data, cache)
    to_ctranslate2(arrays, config.model, model, out)
    tested = bool(sorted(data.glob("test*.tsv*")))
    splits = ("train", "dev", "test") if tested else ("train", "dev")
    card: dict[str, Any] = {
        "name": config.name,
        "segmentation": config.segmentation,
        "parameters": int(sum(value.size for value in arrays.values())),
        "licence": "Apache-2.0",
        "data_source": data_source,
        "data_licence": data_licence,
        "data_sha256": {path.name: sha256(path) for path in (split_file(data, split) for split in splits)},
        "steps": run["step"],
        "best_step": run["best_step"],
        "dev_loss": round(run["best_loss"], 4),
        "training_tokens": run["tokens"],
        "training_seconds": round(run["seconds"], 1),
        "hardware": hardware,
        "bound": bound(config, run["step"]),
        "command": f"babelquake train nmt --config {config.name} --seed {config.seed} --data DIR --out DIR"
        + (f" --init {config.init}" if config.init else ""),
        "selection": selection,
        "config": config.to_dict() | {"steps": run["step"], "minutes": None},
        "history": run["history"],
    }
    if tested:
        card["test"] = evaluate(out, split_file(data, "test"))
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return out


def bound(config: Config, steps: int) -> str:
    """What ended the run, and with it how closely the card's command repeats it."""
    if steps == config.steps:
        return "steps"
    return (
        "time: the learning rate fell to zero with the time left, and these were the steps done. The command repeats "
        "that with `steps` in the config and a learning rate that falls with the steps."
    )


def evaluate(folder: Path, test: Path) -> dict[str, Any]:
    """Case-insensitive BLEU (13a) of a model folder on a test file, with beam 4 and greedy."""
    import ctranslate2
    import sacrebleu

    pieces = processor(folder / "sentencepiece.model")
    translator = ctranslate2.Translator(str(folder), device="cpu", inter_threads=os.cpu_count() or 1, intra_threads=1)
    pairs = list(read_pairs(test))
    sources = [pieces.encode(source, out_type=str) for source, _ in pairs]
    references = [target for _, target in pairs]
    scores: dict[str, Any] = {"sentences": len(pairs), "metric": "BLEU, case-insensitive, 13a, int8 on CPU"}
    for name, beam in (("beam4", 4), ("greedy", 1)):
        results = translator.translate_batch(sources, beam_size=beam, max_batch_size=32, batch_type="examples")
        hypotheses = [pieces.decode(result.hypotheses[0]) for result in results]
        scores[name] = round(float(sacrebleu.corpus_bleu(hypotheses, [references], lowercase=True).score), 2)
    return scores


TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
VERSION = 6
PIECES = "sentencepiece.model"


@dataclass(frozen=True)
class Start:
    """Weights, the shape they have, and the subwords they know."""

    name: str
    weights: Weights
    model: ModelConfig
    pieces: Path

    @property
    def vocabulary(self) -> int:
        """The number of subwords."""
        return len(self.weights["embedding.weight"])

    @property
    def learnt(self) -> str:
        """How its subwords were learnt: the scores of `bpe` are whole numbers of merges, those of `unigram` are not."""
        pieces = processor(self.pieces)
        scores = (pieces.get_score(number) for number in range(pieces.get_piece_size()))
        return "bpe" if all(score == round(score) for score in scores) else "unigram"

    def check(self, config: Config, vocabulary: str) -> None:
        """Refuse a segmentation that these subwords do not serve."""
        if vocabulary != self.learnt:
            raise UserError(
                f"{setting('init', self.name)} has {self.learnt} subwords, but config '{config.name}' cuts words by "
                f"{config.segmentation}, which needs {vocabulary}. Use the config that the model was trained with."
            )


def start_from(what: str, dropout: float = 0.1) -> Start:
    """A model that ships by name, a CTranslate2 folder of `train nmt`, or the output folder that has one."""
    from babelquake.models.shipped import shipped

    folder = shipped().get(what, Path(what))
    folder = folder / "model" if (folder / "model" / "model.bin").is_file() else folder
    for file in ("model.bin", PIECES):
        if not (folder / file).is_file():
            ships = ", ".join(name for name, place in shipped().items() if (place / "model.bin").is_file())
            raise UserError(
                f"{setting('init', what)}: there is no {file} in {folder}. Expected a model that `train nmt` made, or "
                f"a bundled one{f' ({ships})' if ships else ''}."
            )
    variables = read_variables(folder / "model.bin")
    try:
        model = _shape(variables, dropout)
        return Start(
            what, {name: _dequantised(variables, there) for name, there in names(model)}, model, folder / PIECES
        )
    except KeyError as error:
        said = setting("init", what)
        raise UserError(f"{said}: the model has no {error}; its layout is not that of `train nmt`.") from None


def _shape(variables: dict[str, NDArray[Any]], dropout: float) -> ModelConfig:
    def layers(side: str) -> int:
        return sum(name.startswith(f"{side}/layer_") and name.endswith("/ffn/linear_0/bias") for name in variables)

    return ModelConfig(
        width=variables["decoder/embeddings/weight"].shape[1],
        feedforward=variables["encoder/layer_0/ffn/linear_0/weight"].shape[0],
        heads=int(variables["encoder/num_heads"]),
        encoder_layers=layers("encoder"),
        decoder_layers=layers("decoder"),
        dropout=dropout,
    )


def _dequantised(variables: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    value = variables[name].astype(np.float32)
    scale = variables.get(f"{name}_scale")
    return value if scale is None else value / scale[:, None]


def read_variables(path: Path) -> dict[str, NDArray[Any]]:
    """Every variable of a `model.bin`, by name."""
    data, at = memoryview(path.read_bytes()), 0

    def number(kind: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(f"<{kind}", data, at)
        at += struct.calcsize(f"<{kind}")
        return int(value)

    def string() -> str:
        nonlocal at
        length = number("H")
        at += length
        return bytes(data[at - length : at - 1]).decode("utf-8")

    try:
        if (version := number("I")) != VERSION:
            raise UserError(f"{path} has format version {version}; {VERSION} is read here.")
        string(), number("I")
        found: dict[str, NDArray[Any]] = {}
        for _ in range(number("I")):
            name, shape = string(), [number("I") for _ in range(number("B"))]
            kind, size = TYPES[number("B")], number("I")
            found[name] = np.frombuffer(data[at : at + size], kind).reshape(shape)
            at += size
        for _ in range(number("I")):
            alias = string()
            found[alias] = found[string()]
    except (struct.error, KeyError, ValueError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a CTranslate2 model that can be read here ({error}).") from None
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m babelquake.train.export", description=finish.__doc__)
    for name in ("weights", "history", "data", "cache", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--pieces", type=Path, help="the SentencePiece model, where training began with --init")
    for name in ("data-source", "data-licence", "hardware", "selection"):
        parser.add_argument(f"--{name}", default=argparse.SUPPRESS, help="for the model card")
    print(finish(**vars(parser.parse_args(arguments))))


if __name__ == "__main__":
    main()
