"""A MarianMT checkpoint of a few thousand random parameters, loaded and decoded as a real one."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.systems.tiny_models import marian_model, sentences

from babelquake.errors import UnansweredError, UserError
from babelquake.models import loading
from babelquake.models.loading import configure
from babelquake.systems import system
from babelquake.systems.huggingface import HuggingFace

pytest.importorskip("transformers", reason="needs transformers: pip install 'babelquake[neural]'")
pytest.importorskip("torch", reason="needs torch: pip install 'babelquake[neural]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    torch.set_num_threads(1)
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    return marian_model(tmp_path_factory.mktemp("marian"))


ENGINES = ["ctranslate2", "transformers"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_translation_does_not_depend_on_its_batch(folder: Path, engine: str) -> None:
    model = system(f"hf[model={folder},beam=2,max_new_tokens=6,batch=4,device=cpu,engine={engine}]")
    texts = sentences(10, longest=4)
    together = model.translate(texts)
    assert together == [model.translate([text])[0] for text in texts]
    assert len(set(together)) > 3


@pytest.mark.parametrize("engine", ENGINES)
def test_greedy_decoding_is_what_the_model_says_itself(folder: Path, engine: str) -> None:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    inputs = tokenizer(["der Mann geht nach Berlin"], return_tensors="pt")
    with torch.inference_mode():
        found = model.generate(**inputs, num_beams=1, do_sample=False, max_new_tokens=12)
    expected = tokenizer.batch_decode(found, skip_special_tokens=True)[0].strip()
    ours = system(f"hf[model={folder},beam=1,max_new_tokens=12,device=cpu,dtype=float32,engine={engine}]")
    assert ours.translate(["der Mann geht nach Berlin", ""]) == [expected, ""]
    ours.close()


def test_a_model_that_ctranslate2_s_own_converter_made_translates_alike(folder: Path, tmp_path: Path) -> None:
    """Its source must end with </s>, which CTranslate2 adds for models of other origins only."""
    from ctranslate2.converters import TransformersConverter

    TransformersConverter(str(folder), copy_files=["source.spm", "target.spm"]).convert(str(tmp_path / "converted"))
    texts = sentences(8, longest=6)
    converted = system(f"ctranslate2[model={tmp_path / 'converted'},beam=1,max_length=12,device=cpu]")
    expected = system(f"hf[model={folder},beam=1,max_new_tokens=12,device=cpu,dtype=float32]").translate(texts)
    assert converted.translate(texts) == expected


def test_the_signature_names_precision_and_content(folder: Path, tmp_path: Path) -> None:
    one = HuggingFace(str(folder), device="cpu").signature
    assert "dtype:int8" in one
    assert "ctranslate2:" in one
    plain = HuggingFace(str(folder), device="cpu", engine="transformers").signature
    assert "dtype:float32" in plain
    assert "ctranslate2:" not in plain
    assert one != HuggingFace(str(folder), device="cpu", dtype="float32").signature != plain
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
    with pytest.raises(UserError, match=r"cannot be loaded.*[^.]\. Works without a network: .*bundled\[model="):
        HuggingFace(str(tmp_path / "nothing"), device="cpu").translate(["Haus"])


def test_without_transformers_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise loading.PackageNotFoundError(name)

    monkeypatch.setattr(loading, "version", absent)
    with pytest.raises(UserError, match=r"\[neural\]"):
        HuggingFace(str(folder)).translate(["Haus"])


def test_a_model_is_converted_once(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = HuggingFace(str(folder), beam=1, max_new_tokens=5, device="cpu")
    answer = first.translate(["Haus"])
    (made,) = (tmp_path / "babelquake" / "converted").iterdir()
    written = (made / "model.bin").stat().st_mtime_ns
    assert HuggingFace(str(folder), beam=1, max_new_tokens=5, device="cpu").translate(["Haus"]) == answer
    assert (made / "model.bin").stat().st_mtime_ns == written
    assert [entry.name for entry in made.parent.iterdir()] == [made.name]


def test_a_cache_that_cannot_be_written_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        HuggingFace(str(folder), device="cpu").translate(["Haus"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_text_too_long_for_the_model_is_refused_and_the_others_are_translated(folder: Path, engine: str) -> None:
    model = system(f"hf[model={folder},beam=1,max_new_tokens=3,max_input=20,device=cpu,engine={engine}]")
    long = "Haus " * 100
    with pytest.raises(UnansweredError, match="subwords") as raised:
        model.translate(["Haus", long])
    assert list(raised.value.reasons) == [long]
    assert list(raised.value.answers) == ["Haus"]


def test_no_code_of_a_models_repository_is_run(folder: Path, tmp_path: Path) -> None:
    import json

    hostile = Path(shutil.copytree(folder, tmp_path / "hostile"))
    config = json.loads((hostile / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModelForSeq2SeqLM": "evil.Model"}
    config["model_type"] = "evil"
    (hostile / "config.json").write_text(json.dumps(config))
    trace = tmp_path / "ran"
    (hostile / "evil.py").write_text(f"open({str(trace)!r}, 'w').close()\nclass Config: ...\nclass Model: ...\n")
    with pytest.raises(UserError, match="cannot be loaded"):
        HuggingFace(str(hostile), device="cpu").translate(["Haus"])
    assert not trace.exists()


@pytest.mark.slow
def test_nothing_is_said_that_is_not_for_the_user(folder: Path) -> None:
    code = (
        "from babelquake.systems import system\n"
        f"print(len(system('hf[model={folder},beam=1,max_new_tokens=3,device=cpu,engine=transformers]').translate(['Haus'])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize("told", [True, False])
def test_offline_no_hub_is_asked(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    asked = []

    def from_pretrained(name: str, **options: object) -> object:
        asked.append(options["local_files_only"])
        raise OSError("there is no such model")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", from_pretrained)
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    configure(offline=told)
    with pytest.raises(UserError, match="cannot be loaded"):
        HuggingFace("somebody/some-model", device="cpu").translate(["Haus"])
    assert asked == [told]


class Bomb:
    """Unpickled, it would make a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.target,)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pickle_in_place_of_weights_is_refused_without_torch_s_advice(
    folder: Path, engine: str, tmp_path: Path
) -> None:
    mark, model = tmp_path / "exploded", tmp_path / "model"
    shutil.copytree(folder, model, ignore=shutil.ignore_patterns("*.safetensors"))
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": Bomb(mark)}, protocol=2))
    with pytest.raises(UserError, match="more than numbers") as told:
        system(f"hf[model={model},device=cpu,engine={engine}]").translate(["der Mann"])
    assert str(model) in str(told.value) and "safetensors" in str(told.value)
    assert "weights_only" not in str(told.value) and not mark.exists()


def test_a_file_is_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"weights": 1}))
    with pytest.raises(UserError, match=r"model\.pkl is a file.*folder.*\.gguf"):
        system(f"hf[model={tmp_path / 'model.pkl'}]").translate(["der Mann"])
