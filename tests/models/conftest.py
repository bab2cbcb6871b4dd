"""Checkpoints made once per session; torch on one thread."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models import tiny


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of a small checkpoint of an architecture."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    pytest.importorskip("transformers", reason="needs the extra [neural]")
    torch.set_num_threads(1)
    folders: dict[tuple[str, bool], Path] = {}

    def make(kind: str, masked: bool = False) -> Path:
        if (kind, masked) not in folders:
            folders[kind, masked] = tiny.checkpoint(kind, tmp_path_factory.mktemp(kind) / f"tiny-{kind}", masked)
        return folders[kind, masked]

    return make
