"""Weights of published checkpoints, read without running anything they contain.

A `.ckpt` or `.bin` file is a pickle, and a pickle can name any function to be called on loading. `torch.load` with
`weights_only` calls none but the few that rebuild tensors. Trainers leave bookkeeping beside the weights – callbacks,
hyper-parameters – whose classes are not installed here: those of `INERT` packages become empty shells; anything else is
refused by name.
"""

import pickle
import warnings
import zipfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from babelquake.errors import UserError
from babelquake.models.checkpoint import Checkpoint, checkpoint
from babelquake.models.shipped import shipped

INERT = ("pytorch_lightning.", "lightning.", "lightning_fabric.", "argparse.Namespace", "kiwi.")
"""Where bookkeeping comes from that a checkpoint may name; it is read as data and never called."""
INSTEAD = "bertscore[model=minilm-en]"
"""A neural scorer that needs no hub."""


def published(name: str, files: Sequence[str], scorer: str, owner: str = "") -> Checkpoint:
    """A checkpoint with the files of its kind, alternatives joined by `|`; a bare name is completed by its `owner`."""
    bare = "/" not in name and not Path(name).expanduser().is_dir() and name not in shipped()
    found = checkpoint(f"{owner}/{name}" if bare and owner else name, f"{scorer}[model=FOLDER], or {INSTEAD}")
    for wanted in files:
        if not any((found.folder / choice).is_file() for choice in wanted.split("|")):
            raise UserError(
                f"{scorer}[model={name}] is no checkpoint of that kind: {wanted.replace('|', ' or ')} is missing."
            )
    return found


def library_versions(scorer: str) -> str:
    """Versions of torch and transformers for a signature, or how to install them."""
    try:
        return f"torch-{version('torch')},transformers-{version('transformers')}"
    except PackageNotFoundError:
        raise UserError(f"scorer '{scorer}' needs an extra: run pip install 'babelquake[neural]'.") from None


def state(path: Path) -> dict[str, Any]:
    """What a `.ckpt`, `.bin`, `.torch` or `.safetensors` file holds; whatever could run code is refused."""
    import torch

    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return dict(load_file(path))
    try:
        packed = zipfile.is_zipfile(path)
        foreign = torch.serialization.get_unsafe_globals_in_checkpoint(path) if packed else []
        dangerous = sorted(name for name in foreign if not name.startswith(INERT))
        if dangerous:
            raise UserError(
                f"{path} is refused: it is not only weights but would call {', '.join(dangerous[:3])} on loading."
            )
        shells: list[Any] = [(_Shell, name) for name in foreign]
        with torch.serialization.safe_globals(shells), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what torch thinks of an odd pickle is said below
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=packed or None)
    except pickle.UnpicklingError:
        raise UserError(
            f"{path} is refused: it cannot be read as plain weights. It holds more than numbers, such as code that "
            "would run on loading, or is cut off. Expected what torch.save writes."
        ) from None
    except (EOFError, RuntimeError, ValueError, AttributeError) as problem:
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise UserError(
            f"{path} is refused: it cannot be read as plain weights ({reason}). Expected what torch.save writes."
        ) from problem
    if not isinstance(found, dict):
        raise UserError(f"{path} holds no weights by name: expected a checkpoint.")
    return found


class _Shell(dict[Any, Any]):
    """Stands for a class of a trainer's bookkeeping: holds what it is given and does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()
