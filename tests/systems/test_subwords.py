"""Other subwords for the same text: what a sample is depends on the text and its number alone."""

from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tests.systems.tiny_models import ctranslate2_model, sentencepiece_model, sentences

import babelquake as bq
from babelquake.errors import UserError
from babelquake.systems import subwords
from babelquake.systems.ctranslate2 import CTranslate2
from babelquake.systems.defended import Defended, behind

TEXTS = ["  der  Mann\tgeht ", "", "日本 und 日", *sentences(30)]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def processor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("pieces") / "made.model"
    kind = {"model_type": "unigram"} if request.param == "unigram" else {}
    return sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model(path, **kind)))


def test_a_sample_spells_the_same_text(processor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "ALPHA", 0.01)  # the small model has little doubt
    usual = processor.encode(TEXTS, out_type=str)
    drawn = [subwords.samples(processor, TEXTS, number) for number in (1, 2)]
    assert [processor.decode(pieces) for pieces in drawn[0]] == [processor.decode(pieces) for pieces in usual]
    assert drawn[0] != usual and drawn[0] != drawn[1]


def test_a_sample_does_not_depend_on_its_batch(processor: Any) -> None:
    together = subwords.samples(processor, TEXTS, 3)
    assert together == [subwords.samples(processor, [text], 3)[0] for text in TEXTS]
    assert together == subwords.samples(processor, TEXTS[::-1], 3)[::-1]


def test_without_chance_a_sample_is_what_sentencepiece_gives(processor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "DROPOUT", 0.0)
    monkeypatch.setattr(subwords, "ALPHA", 1e6)
    known = [text for text in TEXTS if "日" not in text]
    assert subwords.samples(processor, known, 1) == processor.encode(known, out_type=str)


def test_a_model_reads_samples_and_a_vote_asks_for_them(tmp_path: Path) -> None:
    folder = ctranslate2_model(tmp_path / "model")
    plain = bq.system(f"ctranslate2[model={folder},beam=1,max_length=12,threads=1]", "de-en")
    assert isinstance(plain, CTranslate2)
    sample = plain.resegmented(2)
    assert sample.signature == bq.system(sample.recipe.spec, "de-en").signature != plain.signature
    texts = sentences(20)
    assert sample.translate(texts) != plain.translate(texts)
    assert sample.translate(texts) == sample.translate(texts[::-1])[::-1]
    assert sample._translator is plain._translator
    voted = behind(plain, "vote[of=fold,samples=3]")
    assert isinstance(voted, Defended)
    candidates = [plain, *(plain.resegmented(number) for number in (1, 2, 3))]
    said = [set(one) for one in zip(*(one.translate(texts) for one in candidates), strict=True)]
    assert all(found in known for found, known in zip(voted.translate(texts), said, strict=True))
    assert voted.spent.calls == 4 * len(texts)


def test_a_system_without_subwords_is_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"command\[cmd=cat\].*ctranslate2"):
        behind(bq.system("command[cmd=cat]", "de-en"), "vote[samples=2]")
