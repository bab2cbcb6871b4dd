"""Facts about going on from a trained model: it is read back as it was, learns further, and keeps its subwords."""

import json
import struct

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")
pytest.importorskip("ctranslate2", reason="exporting needs CTranslate2")

from babelquake.errors import UserError  # noqa: E402
from babelquake.models.shipped import shipped  # noqa: E402
from babelquake.train.export import start_from, to_ctranslate2  # noqa: E402
from babelquake.train.nmt import train  # noqa: E402
from babelquake.train.segmentation import processor, vocabulary  # noqa: E402
from babelquake.train.trainer import Transformer, greedy  # noqa: E402

from .test_nmt import SHAPE, TOY, random_model  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
QUICK = TOY | {"steps": 6, "validate_every": 3, "warmup": 2}


@pytest.mark.parametrize("quantization", [None, "int8", "float16"])
def test_a_folder_is_read_back_as_it_was_written(toy_data, toy_cache, tmp_path, quantization):
    _, weights = random_model()
    path = vocabulary("bpe", 110, toy_data, toy_cache)
    folder = to_ctranslate2({k: v.copy() for k, v in weights.items()}, SHAPE, path, tmp_path / "model", quantization)
    start = start_from(str(folder), SHAPE.dropout)
    assert (start.model, start.vocabulary, start.learnt) == (SHAPE, 110, "bpe")
    assert start.weights.keys() == weights.keys()
    exactness = {None: 0.0, "int8": 0.006, "float16": 0.001}[quantization]
    for name, value in weights.items():
        assert abs(start.weights[name] - value).max() <= exactness * abs(value).max()


def test_a_model_that_ships_computes_in_pytorch_what_it_ships():
    if "de-en-bpe" not in shipped():
        pytest.skip("needs the distribution babelquake-models")
    from babelquake.systems.ctranslate2 import Bundled

    start = start_from("de-en-bpe")
    model = Transformer(start.model, start.vocabulary, 128).eval()
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in start.weights.items()})
    pieces = processor(start.pieces)
    sources = ["Herr Präsident, die Abstimmung findet morgen statt.", "Ich bin anderer Meinung."]
    ours = [pieces.decode(tokens) for tokens in greedy(model, pieces.encode(sources))]
    assert ours == Bundled("de-en-bpe").translate(sources)
    assert start_from("de-en-sentencepiece").learnt == "unigram"


@pytest.mark.slow
def test_fine_tuning_begins_where_the_model_was_and_gets_better(toy_data, toy_cache, tmp_path):
    first = train(TOY, toy_data, tmp_path / "first", cache=toy_cache)
    other = tmp_path / "other"
    other.mkdir()
    for split in ("train", "valid", "test"):
        own = next(toy_data.glob(f"{'dev' if split == 'valid' else split}*.tsv")).read_text("utf-8").splitlines()
        lines = [f"{number}\t{line.upper()}" for number, line in enumerate(own)]
        (other / f"{split}.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    # Another shape and vocabulary in the config are the model's own in the end; MTNT's layout is understood.
    asked = QUICK | {"name": "tuned", "vocabulary": 300, "model": vars(SHAPE) | {"width": 32}}
    tuned = train(asked, other, tmp_path / "tuned", init=str(first), cache=tmp_path / "cache")
    history = json.loads((tuned / "history.json").read_text("utf-8"))
    losses = [entry["dev_loss"] for entry in history["history"]]
    assert [entry["step"] for entry in history["history"]] == [0, 3, 6]
    assert losses[-1] < losses[0]
    pieces = "sentencepiece.model"
    assert (tuned / "model" / pieces).read_bytes() == (first / "model" / pieces).read_bytes()
    assert start_from(str(tuned)).model == SHAPE
    card = json.loads((tuned / "model" / "card.json").read_text("utf-8"))
    assert card["config"]["init"] == str(first) and f"--init {first}" in card["command"]
    with pytest.raises(UserError, match="init"):
        train(asked, other, tmp_path / "tuned", init=str(tuned), cache=tmp_path / "cache")


def test_what_cannot_be_gone_on_from_is_said(toy_data, toy_cache, tmp_path):
    with pytest.raises(UserError, match=r"init.*nowhere.*model\.bin"):
        train(QUICK, toy_data, tmp_path / "out", init="nowhere", cache=toy_cache)
    _, weights = random_model(50)
    pieces = vocabulary("unigram", 50, toy_data, toy_cache)
    folder = to_ctranslate2(weights, SHAPE, pieces, tmp_path / "unigram")
    with pytest.raises(UserError, match="has unigram subwords"):
        train(QUICK, toy_data, tmp_path / "out", init=str(folder), cache=toy_cache)
    file = folder / "model.bin"
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", struct.pack("<I", 5) + whole[4:]):
        file.write_bytes(broken)
        with pytest.raises(UserError, match=r"model\.bin"):
            start_from(str(folder))
