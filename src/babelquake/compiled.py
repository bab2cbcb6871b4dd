"""Compile a loop over arrays to machine code, once per machine."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, kept on disk for the next process where some folder can be written."""
    try:
        made = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder is writable
        made = njit(nogil=True)(function)
    return cast(Callable[P, R], made)
