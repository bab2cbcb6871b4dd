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
HUMAN = ("human", "human_perturbed")


def write_augmentation(folder: Path, attacks: pl.DataFrame, rated: pl.DataFrame | None = None) -> None:
    """Every eligible perturbation with its segment, its edits, its scores and constraint values.

    Where people rated it, their ratings of both sides too: what a learned metric should have said.
    """
    human = {} if rated is None else {name: both for name, *both in rated.select("tuple", *HUMAN).iter_rows()}
    lines = []
    for row in attacks.filter("success").iter_rows(named=True):
        line = {name: row[name] for name in KEPT}
        line |= dict(zip(HUMAN, human.get(row["tuple"], ()), strict=False))
        line["edits"], line["constraints"] = json.loads(row["edits"]), json.loads(row["constraints"])
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    store_text("".join(lines), folder / FILE)
