"""BLEURT equals the PyTorch port on small checkpoints of its two families."""

from pathlib import Path
from typing import Any

import pytest
from tests.scorers.parity import CLOSE, Made, off_by, official, questions

from babelquake.errors import UserError
from babelquake.scorers import scorer


@pytest.mark.parametrize("name", ["bleurt-base-128", "BLEURT-20"])
def test_scores_are_the_ports(name: str, small: Made) -> None:
    assert off_by(scorer("bleurt", model=small("bleurt", name)), official("bleurt")["scores"][name]) < CLOSE


@pytest.mark.parametrize("name", ["bleurt-base-128", "BLEURT-20"])
def test_company_changes_nothing(name: str, small: Made) -> None:
    made = scorer("bleurt", model=small("bleurt", name))
    whole = made.statistics(questions())
    assert (made.statistics(questions().rows(40, 47)) == whole[40:47]).all()


@pytest.mark.parametrize("name", ["bleurt-base-128", "BLEURT-20"])
def test_memory_that_runs_out_halves_the_batch(name: str, small: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer("bleurt", model=small("bleurt", name))
    few = questions().rows(60, 90)
    expected = made.statistics(few)
    real = made.network.outputs

    def outputs(sheet: Any) -> Any:
        if sheet.inputs["input_ids"].numel() > 256:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
        return real(sheet)

    monkeypatch.setattr(made.network, "outputs", outputs)
    assert (made.statistics(few) == expected).all()


def test_symmetric_is_the_mean_of_both_orders(small: Made) -> None:
    folder = small("bleurt", "BLEURT-20")
    plain, symmetric = scorer("bleurt", model=folder), scorer("bleurt", model=folder, symmetric=True)
    there, back = (plain.segments([a], [b])[0] for a, b in (("It rains.", "Rain falls."), ("Rain falls.", "It rains.")))
    assert symmetric.segments(["It rains."], ["Rain falls."])[0] == pytest.approx((there + back) / 2, abs=1e-7)
    assert symmetric.segments(["Rain falls."], ["It rains."])[0] == pytest.approx((there + back) / 2, abs=1e-7)
    assert symmetric.signature != plain.signature


def test_a_model_of_another_kind_is_refused(small: Made) -> None:
    with pytest.raises(UserError, match=r"BLEURT checkpoint: its config\.json says model_type 'xlm-roberta'"):
        scorer("bleurt", model=small("transquest", "monotransquest")).segments(["a"], ["b"])


def test_an_empty_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"config\.json is missing"):
        scorer("bleurt", model=tmp_path)


def test_the_default_is_bleurt_20() -> None:
    with pytest.raises(UserError, match="lucadiliello/BLEURT-20"):
        scorer("bleurt")
    with pytest.raises(UserError, match="lucadiliello/BLEURT-20-D12"):
        scorer("bleurt[model=BLEURT-20-D12]")
