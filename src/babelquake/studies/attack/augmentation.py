"""Found perturbations as training material: one JSON object a line (Huang 2023 §3.3)."""

import json
from pathlib import Path

import polars as pl

from babelquake.files import store_text

FILE = "augmentation.jsonl"
KEPT = (
    "tuple",
    "id",
    "language_pair",
    "system",
    "source",
    "references",
    "original",
    "perturbed",
    "victim",
    "recipe",
    "goal",
    "score",
    "score_perturbed",
    "gain",
)


def write_augmentation(folder: Path, attacks: pl.DataFrame) -> None:
    """Every eligible perturbation with its segment, its edits, its scores and constraint values."""
    lines = []
    for row in attacks.filter("success").iter_rows(named=True):
        line = {name: row[name] for name in KEPT}
        line["edits"], line["constraints"] = json.loads(row["edits"]), json.loads(row["constraints"])
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    store_text("".join(lines), folder / FILE)
