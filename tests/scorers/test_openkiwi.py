"""OpenKiwi's predictor–estimator: its arithmetic, its file format, and small models of our own."""

import sys
import types
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.scorers.parity import CLOSE, Made, off_by, official

from babelquake.errors import UserError
from babelquake.scorers import scorer

torch = pytest.importorskip("torch", reason="needs the extra [neural]")

from babelquake.models.predictor_estimator import MARKS, PredictorEstimator, Shape, numbered  # noqa: E402
from babelquake.scorers import openkiwi  # noqa: E402

SMALL = {"source_width": 6, "target_width": 5, "output_width": 4, "predictor_width": 3, "estimator_width": 4}
SOURCE = {word: at for at, word in enumerate([*MARKS, "der", "Hund", "schläft", "."])}
TARGET = {word: at for at, word in enumerate([*MARKS, "the", "dog", "sleeps", "."])}


def network(**more: object) -> PredictorEstimator:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return PredictorEstimator(Shape(len(SOURCE), len(TARGET), **SMALL, predictor_layers=2, **more)).eval()


def test_scores_are_openkiwis(small: Made) -> None:
    made = scorer("openkiwi", model=small("openkiwi", "predictor-estimator"))
    assert off_by(made, official("openkiwi")["scores"]["predictor-estimator"]) < CLOSE


def test_every_place_is_foreseen_without_looking_at_it() -> None:
    """The prediction of a word depends on its neighbours, never on the word itself (Kim et al. 2017, Figure 1)."""
    model = network()
    source = torch.tensor([numbered(["der", "Hund", "schläft", "."], SOURCE)])
    target = torch.tensor([numbered(["the", "dog", "sleeps", "."], TARGET)])
    changed = target.clone()
    changed[0, 2] = TARGET["."]
    before, after = (model.encoder(source, some)[1] for some in (target, changed))
    assert torch.allclose(before[0, 2], after[0, 2], atol=1e-7)
    assert not torch.allclose(before[0, 1], after[0, 1]) and not torch.allclose(before[0, 3], after[0, 3])


def test_marks_of_the_source_are_not_attended_to() -> None:
    model = network()
    states = torch.randn(1, 4, 6)
    seen = torch.tensor([[False, True, True, False]])
    contexts = torch.randn(1, 3, 6)
    other = states.clone()
    other[0, 0] += 1
    other[0, 3] -= 1
    attend = model.encoder.encode_target.attention
    assert torch.allclose(attend(contexts, states, seen), attend(contexts, other, seen))


def test_the_mean_of_a_cut_normal_distribution() -> None:
    """Against numerical integration."""
    from babelquake.models.predictor_estimator import _cut_normal_mean

    grid = np.linspace(0, 1, 200_001)
    for mean, spread in ((0.3, 0.2), (-0.5, 0.4), (0.9, 1.0)):
        density = np.exp(-((grid - mean) ** 2) / (2 * spread**2))
        expected = (grid * density).sum() / density.sum()
        found = float(_cut_normal_mean(torch.tensor(mean), torch.tensor(spread)))
        assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("distribution", [False, True])
def test_files_that_openkiwi_saved_are_read(
    distribution: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same scores from its format as from ours; its classes are not needed and not run."""
    model = network(distribution=distribution)
    openkiwi.save(tmp_path / "own", openkiwi.Loaded(model, SOURCE, TARGET), {"kind": "predictor-estimator"})
    stranger = types.ModuleType("kiwi")

    class Vocabulary:
        __module__ = "kiwi"

        def __init__(self, words: dict[str, int]) -> None:
            self.itos, self.unk_token = list(words), MARKS[0]

        def __setstate__(self, state: object) -> None:
            raise AssertionError("foreign code ran")

    Vocabulary.__qualname__ = "Vocabulary"
    stranger.Vocabulary = Vocabulary
    monkeypatch.setitem(sys.modules, "kiwi", stranger)
    weights = model.state_dict()
    under = {
        part: {k.removeprefix(f"{part}."): v for k, v in weights.items() if k.startswith(f"{part}.")}
        for part in ("encoder", "decoder", "mean", "spread")
    }
    prefix = "sentence_outputs.sentence_scores."
    outputs = {f"{prefix}sentence_pred.{k}": v for k, v in under["mean"].items()}
    outputs |= {f"{prefix}sentence_sigma.{k}": v for k, v in under["spread"].items()}
    saved = {
        "__version__": "2.1.0",
        "class_name": "PredictorEstimator",
        "vocab": {"source": Vocabulary(SOURCE), "target": Vocabulary(TARGET)},
        "encoder": {"config": {"hidden_size": 3, "rnn_layers": 2}, "state_dict": under["encoder"]},
        "decoder": {"config": {"hidden_size": 4, "rnn_layers": 1, "use_mlp": True}, "state_dict": under["decoder"]},
        "outputs": {
            "config": {
                "sentence_level": {"hter": True, "use_distribution": distribution},
                "n_layers_output": 3,
                "last_activation": False,
            },
            "state_dict": outputs,
        },
    }
    (tmp_path / "kiwi").mkdir()
    torch.save(saved, tmp_path / "kiwi" / "model.torch")
    monkeypatch.delitem(sys.modules, "kiwi")
    texts = ["the dog sleeps .", "dog the", ""], None, ["der Hund schläft .", "der Hund", "der unbekannte Hund"]
    own, theirs = (scorer("openkiwi", model=tmp_path / name).segments(*texts) for name in ("own", "kiwi"))
    assert own == pytest.approx(theirs, abs=1e-7)
    hter = scorer("openkiwi", model=tmp_path / "kiwi", predicts="hter").segments(*texts)
    assert hter == pytest.approx(1 - theirs, abs=1e-7)


def test_other_systems_of_openkiwi_are_refused(tmp_path: Path) -> None:
    torch.save({"class_name": "NuQE"}, tmp_path / "model.torch")
    with pytest.raises(UserError, match="system 'NuQE'"):
        scorer("openkiwi", model=tmp_path).segments(["a"], None, ["b"])


@pytest.mark.slow
def test_a_small_model_learns_what_words_are_worth(tmp_path: Path) -> None:
    """Translations lose ten points per wrong word; the model must find that on pairs that it has not seen."""
    from babelquake.train.predictor_estimator import train_predictor_estimator

    words = {"ein": "a", "Hund": "dog", "Haus": "house", "rot": "red", "alt": "old", "schläft": "sleeps"}
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(400):
        source = rng.choice(list(words), 4).tolist()
        wrong = rng.random(4) < 0.4
        target = ["WRONG" if bad else words[word] for word, bad in zip(source, wrong, strict=True)]
        rows.append((" ".join(source), " ".join(target), 100 - 10.0 * wrong.sum()))
    table = tmp_path / "rated.tsv"
    pl.DataFrame(rows, ["source", "translation", "score"], orient="row").write_csv(table, separator="\t")
    card = train_predictor_estimator([table], tmp_path / "model", epochs=6)
    assert card["pearson"]["held out"] > 0.8
    made = scorer("openkiwi", model=tmp_path / "model")
    good, bad = made.segments(["a dog", "a WRONG"], None, ["ein Hund", "ein Hund"])
    assert good > bad and 40 < bad < 110
