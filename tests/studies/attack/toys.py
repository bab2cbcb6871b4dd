"""Toy models, made-up sentences and runs of them for the tests of the attack study."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from babelquake.attacks.recipes import RECIPES
from babelquake.models import CausalLM, MaskedLM
from babelquake.models.base import Matrix
from babelquake.resource import Filler, Gap
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack

TEXT = "the old king saw a red house near that small river and many people came there with bread"
FOUR = list(RECIPES)[:4]


class Fillers(MaskedLM):
    """Offers the same words for every gap."""

    signature = "toy-masked"

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        """Three words, likeliest first."""
        return [[Filler("green", 0.5), Filler("queen", 0.3), Filler(f"word{len(gap.before)}", 0.1)] for gap in gaps]


class Letters(CausalLM):
    """Finds letters that are rare in English surprising."""

    signature = "toy-causal"

    def log_probabilities(self, texts: Sequence[str]) -> list[Matrix]:
        """One token per letter."""
        return [np.array([-4.0 if letter in "qwxz" else -2.0 for letter in text], np.float32) for text in texts]


def tuples(count: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for place in range(count):
        reference = " ".join(rng.permutation(TEXT.split())[: 8 + place % 5])
        words = reference.split()
        kept = [word for word in words if rng.random() < 0.5 + place / 30]
        rows.append(
            {
                "source": f"quelle {place}",
                "reference": f"{reference.capitalize()}.",
                "translation": f"{' '.join(kept or words[:1]).capitalize()}.",
                "system": f"s{place % 2}",
                "year": f"wmt{12 + place % 3}",
            }
        )
    return pl.DataFrame(rows)


def run_of(out: Path, neighbours: Path, recipes: Any = FOUR, victims: Any = ("chrf", "ter"), **options: Any) -> Run:
    given: dict[str, Any] = {
        "masked_lm": "toy",
        "fluency_lm": "toy",
        "neighbours": str(neighbours),
        "resamples": 100,
    } | options
    data = given.pop("data", tuples())
    return attack(recipes=recipes, victims=victims, data=data, out=out, **given)


def same(one: Run, other: Run) -> bool:
    return one.table("attacks").equals(other.table("attacks")) and one.measures.equals(other.measures)
