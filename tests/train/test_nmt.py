"""Facts about training: it learns, it resumes as if never stopped, and what is exported computes the same."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")
pytest.importorskip("ctranslate2", reason="exporting needs CTranslate2")

from babelquake.errors import UserError  # noqa: E402
from babelquake.train.config import ModelConfig, load  # noqa: E402
from babelquake.train.corpus import Ragged  # noqa: E402
from babelquake.train.data import pack, unpack  # noqa: E402
from babelquake.train.export import pack_int8, to_ctranslate2, unpack_int8  # noqa: E402
from babelquake.train.nmt import train  # noqa: E402
from babelquake.train.segmentation import BEGIN, END, processor, vocabulary  # noqa: E402
from babelquake.train.trainer import Transformer, greedy, learning_rate, share  # noqa: E402  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
SHAPE = ModelConfig(width=16, feedforward=32, heads=2, encoder_layers=2, decoder_layers=1, dropout=0.1)
TOY = {
    "name": "toy",
    "segmentation": "bpe-dropout[p=0.1]",
    "vocabulary": 110,
    "model": vars(SHAPE),
    "batch_tokens": 320,
    "source_length": 80,
    "target_length": 64,
    "learning_rate": 0.01,
    "warmup": 5,
    "validate_every": 4,
    "precision": "fp32",
    "workers": 0,
    "steps": 8,
}


def random_model(size=110):
    torch.manual_seed(5)
    model = Transformer(SHAPE, size, 96).eval()
    for value in model.parameters():
        value.data.normal_(std=0.6 if value.ndim == 2 else 0.3)
    model.embedding.weight.data.mul_(0.1)
    return model, {name: value.numpy() for name, value in model.state_dict().items()}


def test_wrong_data_leave_no_folder(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError):
        train(TOY, tmp_path / "data", tmp_path / "out", cache=tmp_path / "cache")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_stopped_run_ends_like_an_undisturbed_one(toy_data, toy_cache, tmp_path):
    whole = train(TOY, toy_data, tmp_path / "whole", cache=toy_cache)
    # Stopped after four of eight steps: the schedule is that of eight, so the stop comes from outside.
    from babelquake.train import trainer

    original, calls = trainer.Trainer._step, []

    def stopping(self, batch):
        if len(calls) == 4:
            self.save()
            raise KeyboardInterrupt
        calls.append(1)
        return original(self, batch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer.Trainer, "_step", stopping)
        with pytest.raises(KeyboardInterrupt):
            train(TOY, toy_data, tmp_path / "parts", cache=toy_cache)
    parts = train(TOY, toy_data, tmp_path / "parts", cache=toy_cache)
    one, other = (torch.load(run / "checkpoint.pt", weights_only=True) for run in (whole, parts))
    assert torch.equal(one["random"], other["random"])
    assert torch.allclose(one["model"]["embedding.weight"], other["model"]["embedding.weight"], atol=1e-4)
    histories = [json.loads((run / "history.json").read_text())["history"] for run in (whole, parts)]
    losses = [[entry["dev_loss"] for entry in history] for history in histories]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0][-1] < losses[0][0]
    card = json.loads((whole / "model" / "card.json").read_text())
    assert card["steps"] == 8 and card["test"]["beam4"] >= 0
    with pytest.raises(UserError, match="seed"):
        train(TOY | {"seed": 9}, toy_data, tmp_path / "parts", cache=toy_cache)


def test_ctranslate2_computes_what_pytorch_computes(toy_data, toy_cache, tmp_path):
    import ctranslate2

    model, weights = random_model()
    path = vocabulary("bpe", 110, toy_data, toy_cache)
    pieces = processor(path)
    folder = to_ctranslate2(weights, SHAPE, path, tmp_path / "model", quantization=None)
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    sources = ["eins zwei drei", "tausend und sieben hundert", "neun"]
    tokens = pieces.encode(sources, out_type=str)
    ours = greedy(model, pieces.encode(sources), 12)
    theirs = [
        result.hypotheses[0] for result in translator.translate_batch(tokens, beam_size=1, max_decoding_length=12)
    ]
    assert [pieces.id_to_piece(output) for output in ours] == theirs
    assert len({token for output in ours for token in output}) > 2
    targets = pieces.encode(["one two three", "seven", "nine and ten"], out_type=str)
    config = load(TOY)
    for source, target, scored in zip(tokens, targets, translator.score_batch(tokens, targets), strict=True):
        packed = pack(Ragged.of([pieces.piece_to_id(source)]), Ragged.of([pieces.piece_to_id(target)]), config)
        loss, _ = model(unpack(torch.from_numpy(packed).long(), config), 0.0)
        assert loss.item() == pytest.approx(-sum(scored.log_probs), rel=1e-4)


def test_neighbours_in_a_row_do_not_see_each_other():
    model, _ = random_model()
    config, rng = load(TOY), np.random.default_rng(0)
    source = [rng.integers(3, 110, n).tolist() for n in (5, 9, 7)]
    target = [rng.integers(3, 110, n).tolist() for n in (6, 4, 8)]

    def loss(pairs):
        packed = pack(Ragged.of([source[i] for i in pairs]), Ragged.of([target[i] for i in pairs]), config)
        return model(unpack(torch.from_numpy(packed).long(), config), 0.0)[0].item()

    together = loss([0, 1, 2])
    assert together == pytest.approx(sum(loss([i]) for i in range(3)), rel=1e-4)


def test_packed_weights_export_to_the_same_bytes(toy_data, toy_cache, tmp_path):
    _, weights = random_model()
    path = vocabulary("bpe", 110, toy_data, toy_cache)
    pack_int8(weights, tmp_path / "packed.npz")
    direct = to_ctranslate2({k: v.copy() for k, v in weights.items()}, SHAPE, path, tmp_path / "direct")
    packed = to_ctranslate2(unpack_int8(tmp_path / "packed.npz"), SHAPE, path, tmp_path / "again")
    assert (direct / "model.bin").read_bytes() == (packed / "model.bin").read_bytes()


def test_the_learning_rate_rises_then_falls_to_zero_and_no_time_left_means_done():
    config = load(TOY)
    assert learning_rate(config, 0, 0.0) == pytest.approx(0.002)
    assert learning_rate(config, 50, 0.5) == pytest.approx(0.005)
    assert learning_rate(config, 50, 1.0) == 0
    assert share(3.0, -1.0) == 1 and share(3.0, 6.0) == 0.5
    assert BEGIN != END
