"""What is known of encoders under BERTScore: the layer that agrees best with people, and what unrelated texts score."""

import csv
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from babelquake.errors import UserError

PRF = tuple[float, float, float]
"""Precision, recall and F."""


def published_layer(encoder: str) -> int | None:
    """The layer that bert-score takes for an encoder."""
    found: int | None = _lookup(_facts()["layers"], encoder)
    return found


def published_baseline(encoder: str, layer: int) -> PRF | None:
    """The baseline of English, which is published for the best layer alone."""
    found = _lookup(_facts()["baselines"], encoder)
    return None if found is None or published_layer(encoder) != layer else (found[0], found[1], found[2])


def baseline_in(file: str, layer: int) -> PRF:
    """The baseline of a layer in a table with the columns LAYER,P,R,F."""
    try:
        with Path(file).open(encoding="utf-8", newline="") as stream:
            rows: Iterable[dict[str, str]] = csv.DictReader(stream)
            found = {int(row["LAYER"]): (float(row["P"]), float(row["R"]), float(row["F"])) for row in rows}
        return found[layer]
    except (OSError, UnicodeDecodeError, KeyError, ValueError, TypeError) as problem:
        raise UserError(
            f"bertscore[rescale={file}]: expected true, false or a table LAYER,P,R,F with a row for layer {layer} "
            f"({type(problem).__name__}: {problem})."
        ) from None


@lru_cache(maxsize=1)
def _facts() -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = yaml.safe_load((files("babelquake.scorers") / "bertscore.yaml").read_text("utf-8"))
    return found


def _lookup(table: dict[str, Any], name: str) -> Any:
    """What is known of an encoder, by its hub name or by that name's last part, as a folder is called."""
    if name in table:
        return table[name]
    return next((value for known, value in table.items() if known.rpartition("/")[2] == name), None)
