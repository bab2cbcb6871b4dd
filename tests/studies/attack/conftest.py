"""Toy models under names of their own, and a small word space."""

from pathlib import Path

import pytest
from tests.studies.attack.toys import Fillers, Letters

from babelquake.models import CAUSAL, MASKED


@pytest.fixture(autouse=True)
def toy_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy models under names of their own."""
    monkeypatch.setitem(MASKED._things, "toy", Fillers)
    monkeypatch.setitem(CAUSAL._things, "toy", Letters)


@pytest.fixture
def neighbours(tmp_path: Path) -> Path:
    """A small word space."""
    file = tmp_path / "neighbours.tsv"
    file.write_text("king queen ruler\nhouse home hut\nriver stream\nred crimson\npeople folk\n", "utf-8")
    return file
