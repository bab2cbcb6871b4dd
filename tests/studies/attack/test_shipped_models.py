"""All four attacks with the models that ship and no network: masked LM, fluency, word neighbours, BERTScore."""

import json
from pathlib import Path

import polars as pl
import pytest

from babelquake.attacks.recipes import RECIPES
from babelquake.errors import UserError
from babelquake.models.shipped import folder
from babelquake.studies.attack.study import attack

ROWS = [
    ("Das Treffen war gut.", "The meeting on Monday went very well.", "The meeting on Monday was really very good."),
    ("Er hat Angst.", "He is afraid of the dark.", "He fears darkness."),
]


@pytest.mark.slow
def test_four_recipes_find_fluent_perturbations_offline(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    try:
        for name in ("minilm-en", "gpt-en", "neighbours-en"):
            folder(name)
    except UserError as missing:
        pytest.skip(str(missing))
    data = pl.DataFrame(ROWS, schema=["source", "reference", "translation"], orient="row")
    victim, goal = "bertscore[model=minilm-en]", "overpenalise[by=0.2]"
    run = attack(
        recipes=list(RECIPES)[:4],
        victims=victim,
        data=data,
        goal=goal,
        out=tmp_path / "run",
        offline=True,
        resamples=100,
    )
    found = run.table("attacks").filter("success")
    assert set(found["recipe"]) == set(list(RECIPES)[:4])
    assert all(json.loads(values)["perplexity"] < 10 for values in found["constraints"])
    assert {"masked model", "fluency model", "neighbours", "parts of speech"} <= run.info.signatures.keys()
