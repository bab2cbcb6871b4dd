"""What a training leaves: the folder of a model that ships, with packed weights, config, tokenizer and card."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.errors import UserError
from babelquake.models.int8_weights import pack
from babelquake.train.corpus import opened, sha256
from babelquake.train.recipes import Recipe


def files(data: Path, split: str) -> dict[str, Path]:
    """The files of a split by their name in the middle: `train.news.txt.xz` is `news`, `dev.txt` is `dev`."""
    found = {}
    for path in sorted([*data.glob(f"{split}*.txt"), *data.glob(f"{split}*.txt.xz")]):
        stem = path.name.removesuffix(".xz").removesuffix(".txt")
        found[stem.removeprefix(split).strip(".-") or split] = path
    return found


def read(path: Path) -> list[str]:
    """The lines of a file that hold anything."""
    with opened(path) as lines:
        return [line.strip() for line in lines if line.strip()]


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


def store(
    out: Path, kind: str, recipe: Recipe, model: Any, tokenizer: Any, history: Any, figures: dict[str, Any], data: Path
) -> Path:
    """Write the model and its card, and print the figures."""
    out.mkdir(parents=True, exist_ok=True)
    state = {name: value.detach().float().cpu().numpy() for name, value in model.state_dict().items()}
    pack(untied(state, model), out)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(str(out))
    if hasattr(tokenizer, "backend_tokenizer"):
        tokenizer.backend_tokenizer.no_truncation()
    tokenizer.save_pretrained(str(out))
    card = {
        "name": recipe.name,
        "kind": kind,
        "parameters": int(sum(value.numel() for value in model.parameters())),
        "licence": "Apache-2.0",
        "command": f"babelquake train {kind} --config {recipe.name} --seed {recipe.seed} --data DIR --out DIR",
        "data_sha256": {path.name: sha256(path) for path in sorted(data.iterdir()) if path.is_file()},
        "steps": history.steps,
        "training_tokens": history.tokens,
        "training_seconds": history.seconds,
        "recipe": {name: value for name, value in recipe.to_dict().items() if name != "card"}
        | {"steps": history.steps, "minutes": None},
        "figures": figures,
        **recipe.card,
        "history": history.losses,
    }
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"[{recipe.name}] {history.steps} steps in {history.seconds:.0f} s: {json.dumps(figures)}", flush=True)
    return out


def untied(state: dict[str, Any], model: Any) -> dict[str, Any]:
    """A state without what is stored once already: the output matrix and bias that are the embeddings' own."""
    return {name: value for name, value in state.items() if name not in set(_tied(model))}


def _tied(model: Any) -> list[str]:
    seen: dict[int, str] = {}
    tied = []
    for name, value in model.state_dict(keep_vars=True).items():
        if value.data_ptr() in seen and value.numel() > 1:
            tied.append(name)
        seen.setdefault(value.data_ptr(), name)
    return tied
