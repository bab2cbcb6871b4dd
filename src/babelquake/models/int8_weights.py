"""Weights in eight bits: a quarter of the size, read back as 32-bit numbers by plain transformers.

A folder has transformers' own `config.json` and tokenizer beside `weights.safetensors`. In it, each row of a matrix is
stored as whole numbers from −127 to 127 with one 32-bit scale (largest magnitude / 127), and vectors as they are.
`pretrained` builds any transformers class from such a folder as it does from a plain one. `python -m
babelquake.models.int8_weights FOLDER OUT` writes a plain one, which `from_pretrained` reads without babelquake.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError

WEIGHTS = "weights.safetensors"
SCALE = ":scale"
Weights = Mapping[str, NDArray[np.float32]]


def is_packed(folder: Path) -> bool:
    """Whether a folder's weights are packed."""
    return (folder / WEIGHTS).is_file()


def pack(weights: Weights, folder: Path) -> Path:
    """Write weights into a folder: matrices in eight bits, everything else as it is."""
    from safetensors.numpy import save_file

    arrays: dict[str, NDArray[Any]] = {}
    for name, value in weights.items():
        if value.ndim == 2:
            largest = np.abs(value).max(1)
            scale = (np.where(largest == 0, 1, largest) / 127).astype(np.float32)
            arrays[name] = np.rint(value / scale[:, None]).astype(np.int8)
            arrays[name + SCALE] = scale
        else:
            arrays[name] = np.ascontiguousarray(value, np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(arrays, folder / WEIGHTS, metadata={"format": "babelquake int8 rows"})
    return folder / WEIGHTS


def unpack(folder: Path) -> dict[str, Any]:
    """The weights of a folder as 32-bit torch tensors, by transformers' names."""
    import torch
    from safetensors.torch import load_file

    arrays = load_file(folder / WEIGHTS)
    weights = {}
    for name, value in arrays.items():
        if name.endswith(SCALE):
            continue
        scale = arrays.get(name + SCALE)
        weights[name] = value if scale is None else value.to(torch.float32).mul_(scale[:, None])
    return weights


def pretrained(auto: Any, folder: Path | str, **options: Any) -> Any:
    """`auto.from_pretrained(folder)` for a plain folder, a hub name or a packed folder; `auto` is e.g. `AutoModel`."""
    if not is_packed(Path(folder)):
        return auto.from_pretrained(folder, **options)
    from transformers import AutoConfig

    build = getattr(auto, "from_config", None) or auto._from_config  # an Auto class, or one of a single architecture
    model = build(AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False), **options)
    fill(model, unpack(Path(folder)), Path(folder).name)
    return model.eval()


def fill(model: Any, weights: Mapping[str, Any], name: str) -> None:
    """Put the weights of that name into a model: of the same class, or of the bare encoder within it or around it."""
    prefix = f"{model.base_model_prefix}."
    known = model.state_dict()
    named = dict(weights)
    if not any(name in known for name in weights if name.startswith(prefix)) and any(
        name.removeprefix(prefix) in known for name in weights
    ):
        named = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
    problem = model.load_state_dict({name: value for name, value in named.items() if name in known}, strict=False)
    model.tie_weights()
    tied = set(getattr(model, "_tied_weights_keys", None) or ())
    missing = [name for name in problem.missing_keys if name not in tied and "pooler" not in name]
    if missing:
        raise UserError(
            f"'{name}' is a checkpoint of another kind: it has no weights for {', '.join(missing[:3])} "
            f"({type(model).__name__})."
        )


def export(folder: Path, out: Path) -> Path:
    """A packed folder as a plain one: `model.safetensors` in half precision for every transformers class."""
    import torch
    from safetensors.torch import save_file

    out.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_file() and path.name != WEIGHTS:
            shutil.copyfile(path, out / path.name)
    weights = {name: value.to(torch.float16).contiguous() for name, value in unpack(folder).items()}
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    return out


if __name__ == "__main__":
    print(export(Path(sys.argv[1]), Path(sys.argv[2])))
