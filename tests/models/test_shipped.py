"""The English models that ship serve the scorers that name them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelquake.models.shipped import folder, shipped
from babelquake.scorers import scorer

GOOD = "The government said on Monday that it would increase its spending."
LINES = ("bertscore[model=minilm-en]", "perplexity[model=gpt-en]", "cross-encoder[model=judge-en]")


@pytest.mark.parametrize("line", LINES)
def test_the_lines_that_errors_name_work_offline(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = line.partition("=")[2].rstrip("]")
    if name not in shipped():
        pytest.skip(f"{name} is not installed: pip install ./packages/models")
    pytest.importorskip("transformers", reason="needs the extra [neural]")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    made = scorer(line)
    found = made.segments(
        [GOOD, " ".join(reversed(GOOD.split()))], ["On Monday the government said it would spend more."] * 2
    )
    assert np.isfinite(found).all()
    assert (found[0] > found[1]) == made.higher_is_better
    assert f"{name}|content:" in made.signature


PLAIN = {
    "minilm-en": "AutoModelForMaskedLM",
    "bytes-en": "AutoModelForMaskedLM",
    "gpt-en": "GPT2LMHeadModel",
    "judge-en": "AutoModelForTokenClassification",
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_transformers_reads_every_model_that_ships(name: str, tmp_path: Path) -> None:
    """By the path that the package's README names: `python -m babelquake.models.int8_weights FOLDER OUT`."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    transformers: Any = pytest.importorskip("transformers", reason="needs the extra [neural]")
    from babelquake.models import int8_weights

    if name not in shipped():
        pytest.skip(f"{name} is not installed: pip install ./packages/models")
    torch.set_num_threads(1)
    kind = getattr(transformers, PLAIN[name])
    out = int8_weights.export(folder(name), tmp_path / name)
    plain = kind.from_pretrained(out, local_files_only=True, dtype=torch.float32).eval()
    given = transformers.AutoTokenizer.from_pretrained(out, local_files_only=True)(
        "The train was late.", "It left.", return_tensors="pt"
    )
    ids = {"input_ids": given["input_ids"]}
    with torch.inference_mode():
        ours, theirs = (model(**ids).logits for model in (int8_weights.pretrained(kind, folder(name)), plain))
    assert torch.allclose(ours, theirs, atol=0.05) and ours.abs().max() > 0.1
