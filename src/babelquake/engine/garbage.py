"""Fewer looks for garbage while millions of small objects are made that live long and form no circles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

TIMES = 100
"""How many times as many new objects there must be before garbage is looked for."""


@contextmanager
def seldom() -> Iterator[None]:
    """While this holds, what is there already is not looked at, and what is new seldom.

    Python otherwise goes through every object of every library again and again: a quarter of a second each time, and a
    tenth of what a search takes.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(before[0] * TIMES, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
