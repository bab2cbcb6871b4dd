"""Stopping in good time: signals set a flag, and loops and waits look at it.

A signal that raised an exception wherever the program happens to be would tear an answer that was paid for out of the
hands of whoever is about to store it, and is lost for good where Python swallows exceptions (in callbacks of weak
references, in `__del__`). So the handler only takes note. Whoever loops calls `check`; whoever waits does so in slices
and looks between two of them. Only where nobody looks for `GRACE` seconds – a library computes – is the main thread
interrupted as by Ctrl-C, never while paid answers are under way or being stored (`uninterrupted`). A second signal
interrupts at once; those under way are then no longer waited for (`stop_at_once`).
"""

import _thread
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from babelquake.errors import StoppedError

SLICE = 0.1
"""Seconds between two looks at the flag."""
IN_FLIGHT = 7.0
"""Seconds that a call under way may still take once the process is being stopped: its answer may have been paid for.
`docker stop` kills after ten."""
GRACE = 1.0
"""Seconds without a look at the flag after which the main thread is interrupted."""
SAME = 0.5
"""Seconds within which further signals belong to the first: a closed terminal sends several."""
LAST = 30.0
"""Seconds after which a process that was told to stop ends, whatever it waits for."""
RESUMABLE = 3
"""The status of an interrupted command."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class _State:
    """What the handler has noted. Plain attributes: a lock could be held by the very code that a signal interrupts."""

    def __init__(self) -> None:
        self.heard = 0.0
        """When the first signal came; 0 where none did."""
        self.looked = 0.0
        """When the main thread last looked."""
        self.raised = False
        """Whether the main thread has been interrupted."""
        self.undisturbed = 0
        self.impatient = False
        """Whether another signal came while nothing was to be disturbed."""
        self.reminded = False
        """Whether the next signal is the watch's own."""
        self.library = 0
        """How many are stopping without a handler of ours: Python itself raised KeyboardInterrupt."""


_STATE = _State()


def listen() -> None:
    """Have SIGINT, SIGTERM and SIGHUP noted, unless they are ignored (`nohup`); only the main thread can ask for it."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _known_signals():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _note)


@contextmanager
def handlers_restored() -> Iterator[None]:
    """Whatever a library does to the handlers while this lasts is undone: Ray, for one, replaces that of SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _known_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def ignore_signals(status: int, within: float = 15.0) -> None:
    """The status is decided: no signal changes it, and what still hangs as the process ends does not hold it."""
    if threading.current_thread() is threading.main_thread():
        for number in _known_signals():
            signal.signal(number, signal.SIG_IGN)
    _thread.start_new_thread(_end, (status, within))


def stopping() -> bool:
    """Whether the process is being stopped."""
    if threading.get_ident() == threading.main_thread().ident:
        _STATE.looked = time.monotonic()
    return bool(_STATE.heard or _STATE.library)


def check() -> None:
    """KeyboardInterrupt where the process is being stopped: what every loop of some length calls."""
    if stopping():
        _STATE.raised = True
        raise KeyboardInterrupt


@contextmanager
def stopped() -> Iterator[None]:
    """While this lasts, waits end with a StoppedError and calls under way have a moment left."""
    _STATE.library += 1
    try:
        yield
    finally:
        _STATE.library -= 1


@contextmanager
def uninterrupted() -> Iterator[None]:
    """While this lasts nothing is raised: answers are under way or being stored; whoever waits looks at the flag."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _STATE.undisturbed += 1
    try:
        yield
    finally:
        _STATE.undisturbed -= 1
        _STATE.looked = time.monotonic()


def stop_at_once() -> bool:
    """Whether the user has asked again, so that nothing is to be waited for."""
    return _STATE.impatient


def pause(seconds: float) -> None:
    """Wait; where the process is being stopped, StoppedError."""
    until = time.monotonic() + seconds
    while True:
        if stopping():
            raise StoppedError("interrupted while waiting.")
        if (left := until - time.monotonic()) <= 0:
            return
        time.sleep(min(SLICE, left))


def _note(number: int, frame: FrameType | None) -> None:
    now, reminded = time.monotonic(), _STATE.reminded
    _STATE.reminded = False
    if not _STATE.heard:
        _STATE.heard = _STATE.looked = now
        _thread.start_new_thread(_watch, (signal.Signals(number),))
    elif now - _STATE.heard < SAME:
        return
    elif _STATE.undisturbed:
        _STATE.impatient = _STATE.impatient or not reminded
    else:
        _STATE.raised = True
        raise KeyboardInterrupt


def _watch(number: signal.Signals) -> None:
    """Interrupt the main thread once it has not looked for a while; in the end, end the process."""
    main = threading.main_thread().ident
    last = time.monotonic() + LAST
    while time.monotonic() < last:
        time.sleep(SLICE)
        overdue = not _STATE.raised and time.monotonic() - _STATE.looked > GRACE
        if overdue and not _STATE.undisturbed and main is not None:
            _STATE.reminded = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main, number)
            else:  # Windows
                _thread.interrupt_main(number)
            time.sleep(GRACE)
    os._exit(RESUMABLE)


def _end(status: int, within: float) -> None:
    time.sleep(within)
    os._exit(status)


def _known_signals() -> Iterator[signal.Signals]:
    """Windows has no SIGHUP."""
    for name in SIGNALS:
        if (number := getattr(signal, name, None)) is not None:
            yield number
