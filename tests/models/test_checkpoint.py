"""Checkpoints by name: where they are looked for, and what is said where they cannot be had."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from babelquake.errors import UserError
from babelquake.models.checkpoint import checkpoint

hub: Any = pytest.importorskip("huggingface_hub", reason="needs the extra [neural]")


@pytest.mark.parametrize("package", ["httpx", "httpx2", "httpcore", "requests.exceptions", "urllib3.exceptions"])
def test_a_hub_that_cannot_be_reached_is_no_fault_of_ours(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = type("ConnectError", (Exception,), {"__module__": package})

    def unreachable(*_: Any, **__: Any) -> None:
        raise trouble("[Errno -2] Name or service not known")

    monkeypatch.setattr("babelquake.models.checkpoint.offline", lambda: False)
    monkeypatch.setattr(hub.HfApi, "model_info", unreachable)
    with pytest.raises(UserError, match=r"hub cannot be reached \(ConnectError\)\. Works without a network: chrf"):
        checkpoint("no-such/model", "chrf")


def test_what_is_no_trouble_of_the_network_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("babelquake.models.checkpoint.offline", lambda: False)
    monkeypatch.setattr(hub.HfApi, "model_info", broken)
    with pytest.raises(ZeroDivisionError):
        checkpoint("no-such/model", "chrf")


def test_a_plain_pickle_is_refused_without_torch_s_advice(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    from babelquake.models.checkpoint import state

    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "went-off",))

    (tmp_path / "model.ckpt").write_bytes(pickle.dumps({"state_dict": Bomb()}))
    with pytest.raises(UserError, match="more than numbers") as told:
        state(tmp_path / "model.ckpt")
    assert "weights_only" not in str(told.value) and not (tmp_path / "went-off").exists() and not recwarn.list
