"""How models run in this session, unless a name says otherwise: on which device, and whether a hub may be asked.

The command line sets these from `--device` and `--offline`; in Python, `babelquake.models.configure` does.
"""

import os
import re
from typing import Literal

from babelquake.errors import UserError, setting
from babelquake.resource import SETTINGS

Device = Literal["auto", "cpu", "cuda"]


def configure(device: str | None = None, offline: bool | None = None) -> None:
    """Change how models run from here on; what is None stays."""
    if device is not None:
        SETTINGS.device = _known(device)
    if offline is not None:
        SETTINGS.offline = offline


def offline() -> bool:
    """Whether no hub may be asked: by `--offline`, or by the variables that transformers knows."""
    switches = (os.environ.get(name, "") for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    return SETTINGS.offline or any(value.strip().lower() in ("1", "true", "yes", "on") for value in switches)


def device_of(given: str) -> str:
    """The device for a model: its own, the session's, or the first GPU there is."""
    import torch

    chosen = SETTINGS.device if given == "auto" else _known(given)
    if chosen == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if chosen.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(
            f"device {chosen} was asked for, but torch sees no GPU on this machine. Use {setting('device', 'cpu')}."
        )
    return chosen


def _known(device: str) -> str:
    """A device's name, or an error that says what names there are."""
    if re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", device) is None:
        raise UserError(f"no device is called '{device}': expected auto, cpu, cuda or cuda:1.")
    return device
