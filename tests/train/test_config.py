"""Recipes: those that ship and those that the documentation shows are read by the trainings they are for."""

import re
from pathlib import Path

import pytest
import yaml

from babelquake.errors import UserError
from babelquake.train.config import CausalRecipe, MaskedRecipe, MetricRecipe, Recipe, read_settings

KINDS: dict[str, type[Recipe]] = {"mlm": MaskedRecipe, "clm": CausalRecipe, "metric": MetricRecipe}
ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "src/babelquake/train/configs").glob("*/*.yaml"))
SHOWN = re.findall(
    r"```yaml\n(# babelquake train (\w+).*?)```", (ROOT / "docs/training.md").read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize("file", [file for file in SHIPPED if file.parent.name in KINDS], ids=lambda file: file.stem)
def test_recipes_that_ship_are_found_by_name(file: Path) -> None:
    found = read_settings(KINDS[file.parent.name], file.parent.name, file.stem)
    assert found.name == file.stem and found.steps and {"data", "limits", "second_seed"} <= set(found.card)


def test_recipes_in_the_documentation_are_read() -> None:
    assert "mlm" in {kind for _, kind in SHOWN}
    for text, kind in SHOWN:
        found = read_settings(KINDS[kind], kind, yaml.safe_load(text))
        assert found.steps is not None and found.seed == 1


def test_a_setting_that_does_not_exist_is_named() -> None:
    with pytest.raises(UserError, match="learning_rat"):
        read_settings(CausalRecipe, "clm", {"name": "x", "steps": 1, "learning_rat": 1})
