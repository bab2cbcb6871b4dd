"""Loading of models: in silence, without running anything that a file holds, and with a word where memory runs out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import Any

from babelquake.errors import ResumableError, UserError
from babelquake.resource import is_full


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Where memory runs out while this holds, the error says so, whatever the library made of it."""
    try:
        yield
    except Exception as error:
        if not is_full(error):
            raise
        raise ResumableError(
            f"the memory is not enough to load '{name}'. Finished work is kept: free some memory, or name a smaller "
            "model, precision=bfloat16 or another --device."
        ) from error


@contextmanager
def loading(name: str) -> Iterator[None]:
    """No progress bars and no advice while a model loads; a pickle with more than numbers is refused."""
    from transformers.utils import logging

    chatter: Any = logging
    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    try:
        with enough_memory(name):
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
