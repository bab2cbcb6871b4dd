"""CTranslate2 models: translations that do not depend on their neighbours."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tests.systems.tiny_models import ctranslate2_model, sentencepiece_model, sentences

import babelquake as bq
from babelquake.errors import UnansweredError, UserError
from babelquake.systems import ctranslate2, system
from babelquake.systems.ctranslate2 import CTranslate2
from babelquake.systems.defended import Defended, behind


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ctranslate2_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.parametrize("beam", [1, 4])
def test_a_translation_does_not_depend_on_its_batch(folder: Path, beam: int) -> None:
    model = CTranslate2(str(folder), beam=beam, device="cpu", threads=1, max_length=20)
    texts = sentences(60)
    together = model.translate(texts)
    assert together == [model.translate([text])[0] for text in texts]
    assert together == model.translate(texts[::-1])[::-1]
    assert len(set(together)) > 10


def test_blank_texts_have_blank_translations(folder: Path) -> None:
    model = system(f"ctranslate2[model={folder},beam=1,max_length=10]")
    assert model.translate([]) == []
    first, word, last = model.translate(["", "Haus", "  "])
    assert (first, last) == ("", "")
    assert word


def test_a_closed_model_loads_again(folder: Path) -> None:
    model = CTranslate2(str(folder), beam=1, max_length=10)
    before = model.translate(["Haus"])
    model.close()
    assert model.translate(["Haus"]) == before


def test_a_target_prefix_is_not_part_of_the_translation(folder: Path) -> None:
    plain = CTranslate2(str(folder), beam=1, max_length=10)
    forced = CTranslate2(str(folder), beam=1, max_length=10, target_prefix="▁Haus")
    assert not forced.translate(["der Mann"])[0].startswith("Haus Haus")
    assert plain.signature != forced.signature


def test_the_signature_follows_content_and_options(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "elsewhere")
    other = ctranslate2_model(tmp_path / "other", width=16)
    one = CTranslate2(str(folder)).signature
    assert one == CTranslate2(str(copy)).signature
    assert one != CTranslate2(str(other)).signature
    assert one != CTranslate2(str(folder), beam=1).signature


@pytest.mark.parametrize(
    ("missing", "message"),
    [("model.bin", "no model.bin"), ("sentencepiece.model", "no SentencePiece file source.spm or")],
)
def test_missing_files_are_named(tmp_path: Path, missing: str, message: str) -> None:
    (ctranslate2_model(tmp_path / "m") / missing).unlink()
    with pytest.raises(UserError, match=message):
        CTranslate2(str(tmp_path / "m"))


def test_damaged_files_are_named(tmp_path: Path) -> None:
    damaged = ctranslate2_model(tmp_path / "m")
    (damaged / "model.bin").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="cannot load"):
        CTranslate2(str(damaged)).translate(["a"])
    (damaged / "sentencepiece.model").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="not a SentencePiece model"):
        CTranslate2(str(damaged)).translate(["a"])


def test_bundled_models_are_found_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "shipped", lambda: {"tiny": folder})
    card = folder / "card.json"
    card.write_text('{"name": "tiny"}', encoding="utf-8")
    assert list(ctranslate2.available()) == ["tiny"]
    made = system("bundled[model=tiny]")
    assert made.translate(["Haus"]) == CTranslate2(str(folder), beam=1, device="cpu").translate(["Haus"])
    assert "model:tiny" in made.signature
    assert "beam:1" in made.signature
    card.write_text('{"name": "tiny", "licence": "free"}', encoding="utf-8")
    assert system("bundled[model=tiny]").signature == made.signature
    with pytest.raises(UserError, match="Did you mean 'tiny'"):
        system("bundled[model=tny]")


def test_one_file_of_pieces_may_serve_both_sides(folder: Path, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(folder, tmp_path / "model")
    pieces = (elsewhere / "sentencepiece.model").rename(tmp_path / "both.model")
    made = system(f"ctranslate2[model={elsewhere},pieces={pieces},beam=1,max_length=10]")
    assert made.translate(["Haus"]) == CTranslate2(str(folder), beam=1, max_length=10).translate(["Haus"])


def test_a_line_of_a_hundred_thousand_characters_is_refused_and_the_others_are_translated(folder: Path) -> None:
    line = "Haus und Mann " * 7000
    with pytest.raises(UnansweredError, match="max_input allows 1,024") as raised:
        CTranslate2(str(folder), beam=1, max_length=10).translate(["Haus", line])
    assert list(raised.value.reasons) == [line]
    assert list(raised.value.answers) == ["Haus"]


@pytest.mark.parametrize(("pair", "refused"), [("de-en", False), ("en-de", True), ("deu-eng", False), ("de-fr", True)])
def test_a_bundled_model_on_data_of_other_languages_is_told(pair: str, refused: bool) -> None:
    if "de-en-bpe" not in ctranslate2.available():
        pytest.skip("needs the models that ship")
    if refused:
        with pytest.raises(UserError, match=f"translates de-en, but the data are {pair}"):
            system("bundled[model=de-en-bpe]", pair)
    else:
        system("bundled[model=de-en-bpe]", pair)


TEXTS = ["  der  Mann\tgeht ", "", "日本 und 日", *sentences(30)]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def processor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("pieces") / "made.model"
    kind = {"model_type": "unigram"} if request.param == "unigram" else {}
    return sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model(path, **kind)))


def test_a_sample_spells_the_same_text(processor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "ALPHA", 0.01)  # the small model has little doubt
    usual = processor.encode(TEXTS, out_type=str)
    drawn = [ctranslate2.samples(processor, TEXTS, number) for number in (1, 2)]
    assert [processor.decode(pieces) for pieces in drawn[0]] == [processor.decode(pieces) for pieces in usual]
    assert drawn[0] != usual and drawn[0] != drawn[1]


def test_a_sample_does_not_depend_on_its_batch(processor: Any) -> None:
    together = ctranslate2.samples(processor, TEXTS, 3)
    assert together == [ctranslate2.samples(processor, [text], 3)[0] for text in TEXTS]
    assert together == ctranslate2.samples(processor, TEXTS[::-1], 3)[::-1]


def test_without_chance_a_sample_is_what_sentencepiece_gives(processor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "DROPOUT", 0.0)
    monkeypatch.setattr(ctranslate2, "ALPHA", 1e6)
    known = [text for text in TEXTS if "日" not in text]
    assert ctranslate2.samples(processor, known, 1) == processor.encode(known, out_type=str)


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
