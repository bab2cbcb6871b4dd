"""What is trained is what is used: PyTorch's module and the stored model agree; little data are learnt from."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from babelquake.errors import UserError  # noqa: E402
from babelquake.models.hashed_vectors import HashedVectors  # noqa: E402
from babelquake.scorers.qe_multi import HashedQuality  # noqa: E402
from babelquake.train import quality, vectors  # noqa: E402
from babelquake.train.config import parts  # noqa: E402

TEXTS = ["Der Hund schläft.", "日本語 und mehr", "a", "Привет, мир! 12"]


def test_the_stored_vectors_are_those_of_the_module(tmp_path: Path) -> None:
    recipe = vectors.VectorRecipe(bits=10, width=16, hidden=24, out=32, heads=4)
    torch.manual_seed(1)
    model = vectors.network(recipe)
    vectors.save(model, tmp_path, {"languages": ["de"]})
    wanted = vectors.encode(model, TEXTS, recipe, torch.device("cpu"))
    assert np.abs(HashedVectors(str(tmp_path)).sentences(TEXTS) - wanted).max() < 5e-3  # stored in half precision


def test_the_stored_estimator_is_the_module(tmp_path: Path) -> None:
    recipe = quality.QualityRecipe(bits=10, width=16, hidden=32, layers=2, vocabulary=50)
    torch.manual_seed(2)
    model = quality.network(recipe).eval()
    vectors.save(model, tmp_path, {}, quality.LEFT_OUT)
    place = torch.device("cpu")
    with torch.inference_mode():
        sides = [vectors.OnGpu(vectors.Hashed(texts, 10, 48), place) for texts in (TEXTS, TEXTS[::-1])]
        (source, source_mask), (target, target_mask) = (model.embed(side.batch(torch.arange(4))) for side in sides)
        first, _, seen = model.read(source, source_mask, target, target_mask)
        wanted = model.rating(model.summary(first, seen, target_mask))[:, 0].numpy()
    assert np.abs(HashedQuality(str(tmp_path)).rate(TEXTS, TEXTS[::-1]) - wanted).max() < 1e-2


@pytest.mark.slow
def test_training_brings_translations_together(tmp_path: Path) -> None:
    words = [f"wort{number}" for number in range(12)]
    lines = [
        f"de\t{one} {two}\tword{words.index(one)}x word{words.index(two)}x\twmt24" for one in words for two in words
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    held = [line.split("\t") for line in lines[::7]]
    (tmp_path / "parallel.tsv").write_text("".join(f"de\t{row[1]}\t{row[2]}\n" for row in held), encoding="utf-8")
    recipe = vectors.VectorRecipe(bits=10, width=16, hidden=24, out=32, heads=4, batch=64, block=64, minutes=0.05)
    found = vectors.train(tmp_path, tmp_path / "model", recipe)
    assert found["auroc de"] > 0.8
    card = json.loads((tmp_path / "model" / "card.json").read_text("utf-8"))
    assert card["languages"] == ["de", "en"] and card["pairs"] == len(lines)


@pytest.mark.slow
def test_altered_meanings_are_told_from_translations_where_they_are_negatives(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    words = [f"{rng.integers(10**6)}" for _ in range(14)]
    both = [(one, other) for one in range(14) for other in range(14) if one != other]
    rows = [f"de\tw{words[one]} w{words[other]}\tx{words[one][::-1]} x{words[other][::-1]}" for one, other in both]
    (tmp_path / "pairs.tsv").write_text("".join(f"{row}\twmt24\n" for row in rows), encoding="utf-8")
    altered = [f"x{words[one][::-1]} notx{words[other][::-1]}" for one, other in both]
    lines = [f"{number}\t{text}\n" for number, text in enumerate(altered)]
    (tmp_path / "altered.tsv").write_text("".join(lines[: len(both) // 2]), encoding="utf-8")
    small = {"bits": 12, "width": 16, "hidden": 24, "out": 32, "heads": 4, "batch": 64, "block": 64, "steps": 120}
    right = {}
    for hard in (False, True):
        recipe = vectors.VectorRecipe(**small, rate=0.01, near=2 * hard, altered=hard)  # type: ignore[arg-type]
        vectors.train(tmp_path, tmp_path / str(hard), recipe)
        model = HashedVectors(str(tmp_path / str(hard)))
        text, true, bad = (
            model.sentences(texts)
            for texts in ([row.split("\t")[1] for row in rows], [row.split("\t")[2] for row in rows], altered)
        )
        right[hard] = float(((text * true).sum(1) > (text * bad).sum(1) + 0.05).mean())
    assert right[True] > right[False] + 0.1


def test_a_near_neighbour_is_alike_and_another_text() -> None:
    known = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [1.0, 0.01]]), dim=1)
    english = SimpleNamespace(batch=lambda numbers: numbers)
    recipe = vectors.VectorRecipe(near=1)
    near = vectors.Near(lambda numbers: known[numbers], english, 4, recipe, torch.device("cpu"))  # type: ignore[arg-type]
    places, others = near.drawn(torch.tensor([3, 0, 2]))
    assert places.tolist() == [0, 1, 2] and others.tolist() == [1, 1, 1]  # 0 and 3 say the same


def test_texts_are_drawn_from_one_language_each() -> None:
    words = [("de", "eins"), ("de", "zwei"), ("ja", "一"), ("ja", "二")]
    texts = vectors.drawn_texts(words, 40, np.random.default_rng(3))
    assert [word for _, word in words] == texts[:4] and len(texts) == 40
    assert all(set(text.split()) <= {"eins", "zwei"} or set(text) <= {"一", "二"} for text in texts)


def test_a_teacher_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meaning = dict(zip("abcdefgh", np.random.default_rng(1).normal(size=(8, vectors.TEACHER_WIDTH)), strict=True))
    monkeypatch.setattr(vectors, "taught", lambda texts: np.array([meaning[text] for text in texts], np.float16))
    table = [["de", german, english, "wmt24"] for german, english in zip("abcd", "efgh", strict=True)]
    (tmp_path / "words.tsv").write_text("".join(f"de\t{letter}\n" for letter in "abcd"), encoding="utf-8")
    recipe = vectors.VectorRecipe(bits=10, width=16, hidden=24, out=32, heads=4, batch=8, drawn=0)
    monkeypatch.setattr(vectors, "drawn_texts", lambda *_: list("abcd"))
    torch.manual_seed(1)
    lesson, model = vectors.Lesson(table, tmp_path, recipe, torch.device("cpu")), vectors.network(recipe)
    sides = [vectors.OnGpu(vectors.Hashed([row[side] for row in table], 10, 64), "cpu") for side in (1, 2)]
    optimiser = torch.optim.Adam([*model.parameters(), *lesson.said.parameters()], lr=0.02)
    losses = []
    for _ in range(60):
        numbers, rounded = torch.arange(4), model.words.rounded()
        foreign, english = (model(side.batch(numbers), rounded) for side in sides)
        loss = lesson.loss(model, rounded, numbers, foreign, english, recipe)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_probes_are_drawn_for_the_translation_they_were_made_of() -> None:
    table = [["2", "preserving", "c kept"], ["0", "altering", "a worse"], ["2", "altering", "c worse"]]
    table += [["2", "altering", "c bad"], ["0", "preserving", "a kept"], ["1", "altering", "b worse"]]
    probes = quality.Probes(table, quality.QualityRecipe(bits=10), torch.device("cpu"))
    of = sorted(table, key=lambda row: int(row[0]))
    for _ in range(20):
        both, altered, kept = probes.drawn(torch.tensor([0, 1, 2, 7]))
        assert both.tolist() == [0, 2]  # the others have no probe of both kinds
        assert [[of[n][0] for n in some.tolist()] for some in (altered, kept)] == [["0", "2"], ["0", "2"]]
        assert {of[n][1] for n in altered.tolist()} == {"altering"} and {of[n][1] for n in kept.tolist()} == {
            "preserving"
        }
    given, low = torch.tensor([1.0, 1.0]), torch.tensor([0.5, 0.6])
    assert probes.loss(given, low, given).item() == 0.0
    assert probes.loss(given, given, low).item() > probes.loss(given, given, given).item() > 0.5


def test_several_tunings_are_averaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = quality.QualityRecipe(bits=8, width=8, hidden=16, layers=1, vocabulary=5, tunings=2)
    model = quality.network(recipe)
    began, steps = model.rating.bias.item(), iter([1.0, 3.0])

    def moved(model: object, *_: object) -> None:
        with torch.no_grad():
            model.rating.bias += next(steps)  # type: ignore[attr-defined]

    monkeypatch.setattr(quality, "tune", moved)
    monkeypatch.setattr(quality, "figures", lambda *_: {"dev ru-en": 0.5, "test20 ru-en": 0.1})
    assert quality.tuned(model, tmp_path, recipe, torch.device("cpu"))["dev"] == 0.5
    assert model.rating.bias.item() == pytest.approx(began + 2.0)


def test_parts_go_on_from_each_other_and_steps_repeat_a_training(tmp_path: Path) -> None:
    rows = [f"de\twort{n} wort{n + 1}\tword{n} word{n + 1}\twmt24\n" for n in range(40)]
    (tmp_path / "pairs.tsv").write_text("".join(rows), encoding="utf-8")
    small = {"bits": 8, "width": 8, "hidden": 8, "out": 8, "heads": 2, "batch": 16, "block": 16, "seed": 3}
    config = {**small, "parts": [{"steps": 3}, {"steps": 2, "rate": 0.001}]}
    for name in ("one", "other"):
        vectors.in_parts(
            vectors.train, tmp_path, tmp_path / name, parts(config, "vectors", vectors.VectorRecipe, minutes=None)
        )
    weights = [np.load(tmp_path / name / "weights.npz") for name in ("one", "one/part-1", "other")]
    assert all((weights[0][name] == weights[2][name]).all() for name in weights[0].files)
    assert (weights[0]["centre_weight"] != weights[1]["centre_weight"]).any()
    cards = [json.loads((tmp_path / name / "card.json").read_text("utf-8")) for name in ("one/part-1", "one")]
    assert [card["steps"] for card in cards] == [3, 2]
    assert cards[1]["recipe"]["start"] == str(tmp_path / "one/part-1/weights.npz") and not cards[0]["recipe"]["start"]


def test_the_trainings_that_ship_have_configs() -> None:
    first, second, third = parts("qe-multi", "qe", quality.QualityRecipe)
    assert (first.start, second.start, third.start) == ("", "pretrained", "") and third.tunings == 2
    assert [part.teacher_weight for part in parts("vectors-multi", "vectors", vectors.VectorRecipe)] == [0, 2]
    assert [part.minutes for part in parts("qe-multi", "qe", quality.QualityRecipe, minutes=1)] == [1, 1, 1]
    with pytest.raises(UserError, match="Did you mean 'rate'"):
        parts({"parts": [{"rat": 1}]}, "qe", quality.QualityRecipe)
    with pytest.raises(UserError, match="minutes is 'fast'"):
        parts({"parts": [{"minutes": "fast"}]}, "qe", quality.QualityRecipe)
    with pytest.raises(UserError, match="parts"):
        parts({"parts": {"rate": 1}}, "qe", quality.QualityRecipe)


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"pairs\.tsv"):
        vectors.train(tmp_path, tmp_path / "model", vectors.VectorRecipe())
