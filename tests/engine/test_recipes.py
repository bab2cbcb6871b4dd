"""A worker elsewhere builds every resource from a recipe: words that travel, never a live object."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.systems.test_contract import make

from babelquake.engine import Cache, Engine, Local, build
from babelquake.errors import UserError
from babelquake.models import ENCODERS
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.resource import Recipe
from babelquake.scorers import SCORERS, Questions, Scorer, scorer
from babelquake.spec import Spec, parameters
from babelquake.systems import SYSTEMS, System

QUESTIONS = Questions(["aab", "b", "ccc", "ab"] * 50, sources=["ab", "a", "a", "ab"] * 50)


class AandB(SentenceEncoder):
    """Counts a and b."""

    signature = "ab-1"

    def sentences(self, texts: Sequence[str]) -> Matrix:
        return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_every_system_travels_as_its_recipe(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    recipe = pickle.loads(pickle.dumps(made.recipe))
    again = build(recipe)
    assert isinstance(again, System)
    assert (again.name, again.signature, again.recipe) == (made.name, made.signature, made.recipe)
    made.close()
    again.close()


@pytest.mark.parametrize("name", SCORERS.names())
def test_every_scorer_travels_as_its_recipe(name: str) -> None:
    required = [key for key, option in parameters(SCORERS.get(name)).items() if option.default is option.empty]
    try:
        made = scorer(name, **dict.fromkeys(required, "nothing"))
    except UserError as problem:
        pytest.skip(str(problem))
    again = build(pickle.loads(pickle.dumps(made.recipe)))
    assert isinstance(again, Scorer)
    assert (again.name, again.recipe) == (made.name, made.recipe)


def test_the_language_pair_travels_too() -> None:
    again = build(Recipe("system", Spec("google"), "de-en"))
    assert again.signature.endswith("source:de|target:en")


def test_a_scorer_with_an_encoder_works_in_processes_and_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENCODERS._things, "ab", AandB)
    here = Engine().judge(scorer("embedding-similarity[model=ab]"), QUESTIONS)
    elsewhere = Engine(Cache(tmp_path / "c.sqlite"), workers=Local(2, "processes"))
    there = elsewhere.judge(scorer("embedding-similarity[model=ab]"), QUESTIONS)
    assert here.tobytes() == there.tobytes()
    assert elsewhere.calls == 4 and len(elsewhere.memory) == 0
