"""`babelquake train` explains itself without loading what it needs for training."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result


def test_help_names_the_recipes(cli: Callable[..., Result]) -> None:
    shown = cli("train", "--help").stdout
    assert "nmt" in shown and "qe" in shown


@pytest.mark.parametrize("kind", ["nmt", "qe"])
def test_every_recipe_has_an_example(cli: Callable[..., Result], kind: str) -> None:
    assert f"Example: babelquake train {kind}" in " ".join(cli("train", kind, "--help").stdout.split())


def test_a_wrong_recipe_is_named(cli: Callable[..., Result], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "data").mkdir()
    told = cli("train", "nmt", "--config", "de-en-bpp", "--data", "data", "--out", "model", status=2).stderr
    assert "de-en-bpp" in told and "de-en-bpe" in told
