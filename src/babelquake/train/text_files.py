"""Plain text to learn a language from: `SPLIT.NAME.txt`, perhaps xz-compressed, one sentence a line."""

import lzma
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from babelquake.errors import UserError


def files(data: Path, split: str) -> dict[str, Path]:
    """The files of a split by their name in the middle: `train.news.txt.xz` is `news`, `dev.txt` is `dev`."""
    found = {}
    for path in sorted([*data.glob(f"{split}*.txt"), *data.glob(f"{split}*.txt.xz")]):
        stem = path.name.removesuffix(".xz").removesuffix(".txt")
        found[stem.removeprefix(split).strip(".-") or split] = path
    return found


def read(path: Path) -> list[str]:
    """The lines of a file that hold anything."""
    if path.suffix == ".xz":
        text = lzma.decompress(path.read_bytes()).decode("utf-8")
    else:
        text = path.read_text(encoding="utf-8")
    return [line.strip() for line in text.split("\n") if line.strip()]


def training_texts(data: Path, passes: Mapping[str, int], join: float, seed: int) -> tuple[list[str], list[int]]:
    """The texts of a training, some lines joined with the ones before; and how often an epoch reads each."""
    found = files(data, "train")
    if not found:
        raise UserError(f"{data}: no text to train on, expected train.NAME.txt or train.NAME.txt.xz.")
    if unknown := sorted(set(passes) - set(found)):
        raise UserError(f"{data}: no file train.{unknown[0]}.txt, which the config reads {passes[unknown[0]]} times.")
    texts: list[str] = []
    times: list[int] = []
    for number, (name, path) in enumerate(found.items()):
        part = joined(read(path), join, np.random.default_rng([seed, number]))
        texts += part
        times += [passes.get(name, 1)] * len(part)
    return texts, times


def joined(lines: list[str], share: float, rng: np.random.Generator) -> list[str]:
    """Lines, a share of them appended to the line before."""
    texts: list[str] = []
    for line, append in zip(lines, rng.random(len(lines)) < share, strict=True):
        if append and texts:
            texts[-1] = f"{texts[-1]} {line}"
        else:
            texts.append(line)
    return texts
