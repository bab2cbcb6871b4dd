"""`python -m babelquake.train`: every training where little more than PyTorch is installed."""

from pathlib import Path
from typing import Any

import pytest

from babelquake.train import nmt, vectors
from babelquake.train.__main__ import CONFIGURED, IN_PARTS, main
from babelquake.train.vectors import VectorRecipe


@pytest.mark.parametrize("kind", [*CONFIGURED, *IN_PARTS])
def test_every_kind_has_help_and_its_settings(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([kind, "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0 and {"--data", "--out", "--config", "--seed", "--minutes"} <= set(told.split())


def test_settings_are_given_with_the_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple[Path, VectorRecipe]] = []

    def train(folder: Path, out: Path, recipe: VectorRecipe) -> dict[str, Any]:
        made.append((out, recipe))
        return {}

    monkeypatch.setattr(vectors, "train", train)
    main(["vectors", "--data", str(tmp_path), "--out", str(tmp_path / "v"), "--rate", "0.5", "--hidden", "8"])
    assert made == [(tmp_path / "v", VectorRecipe(rate=0.5, hidden=8))]
    told: list[Any] = []
    monkeypatch.setattr(nmt, "train", lambda *given, **more: told.append((given, more)))
    main(["nmt", "--data", "d", "--out", "o", "--config", "de-en-bpe", "--restart", "--seed", "3"])
    assert told == [(("de-en-bpe", Path("d"), Path("o")), {"resume": False, "seed": 3})]


def test_an_unknown_config_ends_with_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mlm", "--data", str(tmp_path), "--out", str(tmp_path / "m"), "--config", "nothere"])
    assert ended.value.code == 2 and "nothere" in capsys.readouterr().err
