"""The models that ship, in a distribution of their own (`babelquake-models`), so that the code stays light.

A model is a folder with weights and a `card.json` that says how it was made. Nothing here loads weights.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from babelquake.errors import UserError, did_you_mean

DISTRIBUTION = "babelquake_models"
CARD = "card.json"
INSTALL = "The models are a package of their own: pip install babelquake-models (in a checkout: ./packages/models)."


def shipped() -> dict[str, Path]:
    """Names and folders of the installed models; empty where the distribution is not installed."""
    found = find_spec(DISTRIBUTION)
    if found is None or not found.submodule_search_locations:
        return {}
    root = Path(next(iter(found.submodule_search_locations)))
    return {path.parent.name: path.parent for path in sorted(root.glob(f"*/{CARD}"))}


def folder(name: str) -> Path:
    """Where the model of that name lies; a wrong name gets a hint, a missing distribution the line that installs it."""
    known = shipped()
    if name not in known:
        hint = did_you_mean(name, known) if known else INSTALL
        raise UserError(f"no model that ships is called '{name}'. {hint}".strip())
    return known[name]


def card(name: str) -> dict[str, Any]:
    """How a model was made: data, recipe, seed, figures, licence, limits."""
    found: dict[str, Any] = json.loads((folder(name) / CARD).read_text("utf-8"))
    return found
