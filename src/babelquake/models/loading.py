"""Loading by the transformers library, in silence and without running anything that a file holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import Any

from babelquake.errors import UserError


@contextmanager
def loading(name: str) -> Iterator[None]:
    """No progress bars and no advice while a model loads; a pickle with more than numbers is refused."""
    from transformers.utils import logging

    chatter: Any = logging
    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    try:
        yield
    except UnpicklingError:
        raise UserError(
            f"the weights of '{name}' hold more than numbers – a pickle that could run code. "
            "Refused: expected safetensors, or tensors saved by torch."
        ) from None
    finally:
        chatter.set_verbosity(level)
        if bars:
            chatter.enable_progress_bar()
