"""What a training leaves: the folder of a model that ships, with packed weights, config, tokenizer and card."""

import json
from pathlib import Path
from typing import Any

from babelquake.models.int8_weights import pack
from babelquake.train.corpus import sha256
from babelquake.train.recipes import Recipe


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
