"""Cross-encoders give what transformers gives for each pair alone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models.conftest import made as made

from babelquake.errors import UserError
from babelquake.scorers import scorer

Make = Callable[..., Path]
TRANSLATIONS = ["the cat sat on the mat .", "", "a dog barks !", "the law " * 60]
OTHERS = ["the cat sat .", "a vote", "", "a law"]


@pytest.fixture(scope="module")
def judge(made: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with a head of one output, as BLEURT's and MonoTransQuest's checkpoints have."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tmp_path_factory.mktemp("judge") / "judge"
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_pretrained(made("bert"), num_labels=1).save_pretrained(folder)
    AutoTokenizer.from_pretrained(made("bert")).save_pretrained(folder)
    return folder


def alone(folder: Path, first: str, second: str) -> float:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)(
        first, second, truncation="longest_first", max_length=48, return_tensors="pt"
    )
    with torch.inference_mode():
        return float(AutoModelForSequenceClassification.from_pretrained(folder).eval()(**tokens).logits[0, 0])


def test_values_and_company(judge: Path) -> None:
    by_reference = scorer("cross-encoder", model=judge)
    found = by_reference.segments(TRANSLATIONS, OTHERS)
    expected = [alone(judge, other, text) for text, other in zip(TRANSLATIONS, OTHERS, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found[1] == by_reference.segments(TRANSLATIONS[1:2], OTHERS[1:2])[0]
    by_source = scorer("cross-encoder", model=judge, inputs="source")
    assert np.array_equal(by_source.segments(TRANSLATIONS, sources=OTHERS), found)
    assert by_source.needs == {"source"} and by_source.signature != by_reference.signature


def test_several_references_and_activation(judge: Path) -> None:
    made_scorer = scorer("cross-encoder", model=judge, activation="sigmoid")
    both = made_scorer.segments(["the cat"], [["a dog", "the cat sat"]])[0]
    single = [made_scorer.segments(["the cat"], [text])[0] for text in ("a dog", "the cat sat")]
    assert both == max(single) and 0 < both < 1
    raw = scorer("cross-encoder", model=judge).segments(["the cat"], ["a dog"])[0]
    assert single[0] == pytest.approx(1 / (1 + np.exp(-raw)))


def test_a_model_with_several_outputs_is_refused(made: Make, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    AutoModelForSequenceClassification.from_pretrained(made("bert"), num_labels=3).save_pretrained(tmp_path / "three")
    AutoTokenizer.from_pretrained(made("bert")).save_pretrained(tmp_path / "three")
    with pytest.raises(UserError, match="gives 3 numbers per pair"):
        scorer("cross-encoder", model=tmp_path / "three").segments(["a"], ["b"])
    with pytest.raises(UserError, match="needs model"):
        scorer("cross-encoder")
