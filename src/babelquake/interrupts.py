"""Stopping in good time: one flag that every wait looks at.

Only the main thread hears a signal, and a library's handler may restart the system call it interrupted. So nobody waits
in one piece: waits are cut into slices, and between two of them each thread looks whether the process is being stopped.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from babelquake.errors import StoppedError

SLICE = 0.1
"""Seconds between two looks at the flag."""
MOMENT = 1.5
"""Seconds that a call under way may still take once the process is being stopped: its answer may have been paid for."""
_STOPPING = threading.Event()


def stopping() -> bool:
    """Whether the process is being stopped."""
    return _STOPPING.is_set()


@contextmanager
def stopped() -> Iterator[None]:
    """While this lasts, waits end with a StoppedError and calls under way have a moment left."""
    _STOPPING.set()
    try:
        yield
    finally:
        _STOPPING.clear()


def pause(seconds: float) -> None:
    """Wait; where the process is being stopped, StoppedError."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if _STOPPING.wait(min(SLICE, left)):
            raise StoppedError("interrupted while waiting.")
