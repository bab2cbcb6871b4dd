"""The figures on the cards of the English models are those of the models that ship, on small samples."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelquake.models.int8_weights import pretrained
from babelquake.models.shipped import card, folder, shipped

torch = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow
SENTENCES = 200


@pytest.fixture
def news(shared_data: Path) -> list[str]:
    """Every tenth English sentence of newstest2019."""
    lines = (shared_data / "testsets/newstest2019.deu-eng.tsv").read_text("utf-8").splitlines()[1:]
    return [line.split("\t")[1] for line in lines][:: len(lines) // SENTENCES]


def place(name: str) -> Path:
    torch.set_num_threads(1)
    if name not in shipped():
        pytest.skip(f"{name} is not installed: pip install ./packages/models")
    return folder(name)


@pytest.mark.parametrize(("name", "units", "length"), [("minilm-en", "subwords", 128), ("bytes-en", "bytes", 512)])
def test_masked_accuracy(name: str, units: str, length: int, news: list[str]) -> None:
    from babelquake.train.config import MaskedRecipe
    from babelquake.train.mlm import measured

    where = place(name)
    recipe = MaskedRecipe(name=name, units=units, start="x" if units == "subwords" else "", length=length, steps=1)
    model = pretrained(transformers.AutoModelForMaskedLM, where)
    tokenizer = transformers.AutoTokenizer.from_pretrained(where, local_files_only=True)
    found = measured(model, tokenizer, recipe, news, torch.device("cpu"))
    expected = card(name)["figures"]["news2019"]["accuracy"]
    error = np.sqrt(expected * (1 - expected) / found["masked"])
    design = 1 if units == "subwords" else 2.5  # bytes of one word are right or wrong together
    assert abs(found["accuracy"] - expected) < 4 * design * error


def test_preferences(news: list[str]) -> None:
    from babelquake.train.clm import log_probabilities, preferences

    where = place("gpt-en")
    model = pretrained(transformers.GPT2LMHeadModel, where)
    tokenizer = transformers.AutoTokenizer.from_pretrained(where, local_files_only=True)
    news = news[::12]
    found = preferences(log_probabilities(model, tokenizer, 256, torch.device("cpu")), news)
    figures = card("gpt-en")["figures"]["news2019"]
    for name in ("letters swapped in two words", "two words deleted", "one word deleted"):
        expected = figures[name]
        assert abs(found[name] - expected) < 4 * np.sqrt(expected * (1 - expected) / len(news)), name


def test_judge_agrees_with_the_published_scores_it_learnt(shared_data: Path) -> None:
    """BLEURT-20 on some segments of one system of WMT23 zh-en (most of them were in its training)."""
    from babelquake.scorers import scorer

    place("judge-en")
    root = shared_data / "wmt23"
    lines = (root / "metric-scores/zh-en/BLEURT-20-refA.seg.score").read_text("utf-8").splitlines()
    published = [float(line.split("\t")[1]) for line in lines if line.startswith("ONLINE-A\t")][::15]
    translations = (root / "system-outputs/zh-en/ONLINE-A.txt").read_text("utf-8").split("\n")[:1976:15]
    references = (root / "references/zh-en.refA.txt").read_text("utf-8").split("\n")[:1976:15]
    found = scorer("cross-encoder[model=judge-en]").segments(translations, references)
    assert np.corrcoef(found, published)[0, 1] > 0.85


def test_neighbours_are_words_of_like_meaning() -> None:
    from babelquake.attacks.moves import neighbours

    place("neighbours-en")
    table = neighbours("neighbours-en")
    figures = card("neighbours-en")["figures"]
    assert len(table) == figures["words"]
    assert figures["SimLex-999 Spearman, counter-fitted"] >= 0.56
    assert all(8 <= len(others) <= 50 for others in table.values())
    assert "huge" in table["big"]
    assert "small" not in table["big"]
