"""A trained model to go on from: `train nmt --init`. Read back from the CTranslate2 folder that training writes.

`model.bin` holds every variable by name: binary version, name and revision of the layout, then each variable's name,
shape, type and bytes, and at the end aliases. Matrices are rows of int8 with a scale each, as `export` wrote them, so
that what is read back is what the shipped model computes with.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError, setting
from babelquake.train.config import Config, ModelConfig
from babelquake.train.export import names
from babelquake.train.vocabulary import processor

Weights = dict[str, NDArray[np.float32]]
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
