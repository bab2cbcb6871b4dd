"""The models that ship, in a separate distribution (`babelquake-models`), so that the code stays light.

A model is a folder with weights and a `card.json` that says how it was made. Nothing here loads weights.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from babelquake.errors import UserError, did_you_mean

DISTRIBUTION = "babelquake_models"
CARD = "card.json"
INSTALL = "The models are a separate package: pip install babelquake-models (in a checkout: ./packages/models)."


def shipped() -> dict[str, Path]:
    """Names and folders of the installed models; empty where the distribution is not installed."""
    found = find_spec(DISTRIBUTION)
    if found is None or not found.submodule_search_locations:
        return {}
    root = Path(next(iter(found.submodule_search_locations)))
    return {path.parent.name: path.parent for path in sorted(root.glob(f"*/{CARD}"))}


SHIPPED: dict[str, tuple[str, str]] = {
    "bytes-en": ("encoder, masked LM", "bertscore[model=bytes-en]"),
    "de-en-bpe": ("translator", "bundled[model=de-en-bpe]"),
    "de-en-bpe-dropout": ("translator", "bundled[model=de-en-bpe-dropout]"),
    "de-en-bpe-noise": ("translator", "bundled[model=de-en-bpe-noise]"),
    "de-en-sentencepiece": ("translator", "bundled[model=de-en-sentencepiece]"),
    "gpt-en": ("causal LM", "perplexity[model=gpt-en]"),
    "judge-en": ("learned metric", "cross-encoder[model=judge-en]"),
    "minilm-en": ("encoder, masked LM", "bertscore[model=minilm-en]"),
    "qe-multi": ("quality estimation", "qe-multi"),
    "vectors-multi": ("sentence vectors", "embedding-similarity[model=vectors-multi]"),
    "neighbours-en": ("word neighbours", "attack recipes that swap words"),
}
"""What each model that ships is, and the name under which it is used."""


def catalogue() -> list[dict[str, Any]]:
    """One row per model that ships: what it is, how it is used, whether it is installed, what it knows, its size."""
    here = shipped()
    rows = []
    for name in sorted({*SHIPPED, *here}):
        kind, use = SHIPPED.get(name, ("", ""))
        found: dict[str, Any] = {"name": name, "kind": kind, "use": use, "installed": name in here}
        if name in here:
            size = sum(path.stat().st_size for path in here[name].rglob("*") if path.is_file())
            about = card(name)
            spoken = about.get("language_pairs") or about.get("languages", [])
            found |= {"languages": spoken, "megabytes": round(size / 1e6, 1), "licence": about.get("licence", "")}
        else:
            found |= {"languages": [], "megabytes": None, "licence": ""}
        rows.append(found)
    return rows


def folder(name: str) -> Path:
    """Where the model of that name lies; a wrong name gets a hint, a missing distribution the line that installs it."""
    known = shipped()
    if name not in known:
        hint = did_you_mean(name, known) if known else INSTALL
        raise UserError(f"no model that ships is called '{name}'. {hint}".strip())
    return known[name]


def languages_of(name: str) -> frozenset[str] | None:
    """The languages that a model that ships was trained on; None of other models."""
    return frozenset(card(name).get("languages", ())) or None if name in shipped() else None


def card(name: str) -> dict[str, Any]:
    """How a model was made: data, recipe, seed, figures, licence, limits."""
    found: dict[str, Any] = json.loads((folder(name) / CARD).read_text("utf-8"))
    return found
