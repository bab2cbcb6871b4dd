"""A MarianMT checkpoint of a few thousand random parameters, loaded and decoded as a real one."""

import shutil
from pathlib import Path

import pytest
from tests.systems.tiny_models import marian_model, sentences

from babelquake.errors import UserError
from babelquake.systems import huggingface, system
from babelquake.systems.huggingface import HuggingFace

pytest.importorskip("transformers", reason="needs transformers: pip install 'babelquake[neural]'")
pytest.importorskip("torch", reason="needs torch: pip install 'babelquake[neural]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    torch.set_num_threads(1)
    return marian_model(tmp_path_factory.mktemp("marian"))


def test_a_translation_does_not_depend_on_its_batch(folder: Path) -> None:
    model = HuggingFace(str(folder), beam=2, max_new_tokens=6, batch=4, device="cpu")
    texts = sentences(10, longest=4)
    together = model.translate(texts)
    assert together == [model.translate([text])[0] for text in texts]
    assert len(set(together)) > 3


def test_greedy_decoding_is_what_the_model_says_itself(folder: Path) -> None:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    inputs = tokenizer(["der Mann geht nach Berlin"], return_tensors="pt")
    with torch.inference_mode():
        found = model.generate(**inputs, num_beams=1, do_sample=False, max_new_tokens=12)
    expected = tokenizer.batch_decode(found, skip_special_tokens=True)[0].strip()
    ours = system(f"hf[model={folder},beam=1,max_new_tokens=12,device=cpu]")
    assert ours.translate(["der Mann geht nach Berlin", ""]) == [expected, ""]
    ours.close()


def test_the_signature_names_precision_and_content(folder: Path, tmp_path: Path) -> None:
    one = HuggingFace(str(folder), device="cpu").signature
    assert "dtype:float32" in one
    assert one == HuggingFace(str(shutil.copytree(folder, tmp_path / "again")), device="cpu").signature
    assert one != HuggingFace(str(folder), device="cpu", dtype="bfloat16").signature
    assert one != HuggingFace(str(folder), device="cpu", prefix="translate: ").signature


def test_half_precision_translates_too(folder: Path) -> None:
    model = HuggingFace(str(folder), beam=1, max_new_tokens=5, device="cpu", dtype="bfloat16")
    assert len(model.translate(sentences(3))) == 3


def test_a_language_the_model_does_not_know(folder: Path) -> None:
    with pytest.raises(UserError, match="knows no language 'xxx_Latn'"):
        HuggingFace(str(folder), tgt_lang="xxx_Latn", device="cpu").translate(["Haus"])


def test_a_model_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        HuggingFace(str(tmp_path / "nothing"), device="cpu").translate(["Haus"])


def test_without_transformers_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise huggingface.PackageNotFoundError(name)

    monkeypatch.setattr(huggingface, "version", absent)
    with pytest.raises(UserError, match=r"babelquake\[neural\]"):
        HuggingFace(str(folder)).translate(["Haus"])
