"""The English models that ship serve the scorers that name them."""

import numpy as np
import pytest

from babelquake.models.shipped import shipped
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
