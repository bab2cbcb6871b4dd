"""A program kept open: records go in, records come out, and no full pipe can block us.

What the record ends with is the caller's affair: a newline for `command`, a NUL for Apertium's null-flush mode. Writing
and reading have a thread each, and standard error goes to a temporary file whose end is quoted when something breaks.
The program leads its own process group, and whatever it has started ends with it.
"""

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.interrupts import SLICE
from babelquake.limits import most

BLOCK = 1 << 16
TAIL = 500
"""Bytes of standard error that an error quotes."""
AHEAD = 10_000
"""Records that are read before somebody asks for them: a program that never stops writing has to wait."""


class Program:
    """One running program, started from a list of arguments and never through a shell."""

    def __init__(self, argv: Sequence[str], end: bytes = b"\n") -> None:
        self._argv = list(argv)
        self._end = end
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the program, closed in close()
        try:
            self._child = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                start_new_session=True,
            )
        except FileNotFoundError:
            self._stderr.close()
            raise UserError(f"there is no program '{self._argv[0]}'. Is it installed, and on the PATH?") from None
        except (OSError, ValueError) as error:
            self._stderr.close()
            why = getattr(error, "strerror", None) or error
            raise UserError(f"program '{visible(self._argv[0])}' cannot be started: {why}.") from None
        self._records: queue.Queue[bytes | None] = queue.Queue(AHEAD)
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._ended = False
        self._closing = False
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def send(self, records: Sequence[bytes]) -> None:
        """Hand over records; returns at once, a thread does the writing."""
        self._to_write.put(b"".join(record + self._end for record in records))

    def end_input(self) -> None:
        """Close the program's standard input once everything sent is written."""
        self._to_write.put(None)

    def receive(self, timeout: float) -> bytes | None:
        """The next record, or None when the program has closed its output; TimeoutError when neither comes in time."""
        if self._ended:
            return None
        until = time.monotonic() + timeout
        while True:
            try:
                record = self._records.get(timeout=max(0.0, min(SLICE, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= until:
                    raise TimeoutError from None
                continue
            self._ended = record is None
            return record

    def status(self, timeout: float = 5.0) -> int | None:
        """The exit status of a program that is ending; None when it still runs after `timeout` seconds.

        It is looked at and left where it is, so that the number of the group cannot become somebody else's.
        """
        until, nap = time.monotonic() + timeout, 0.0005
        while (status := self._peek()) is None and time.monotonic() < until:
            time.sleep(nap)
            nap = min(2 * nap, SLICE)
        return status

    @property
    def running(self) -> bool:
        """Whether the program still takes records."""
        return not self._ended and self.status(0) is None

    def complaint(self) -> str:
        """The end of what the program wrote to standard error, for an error message."""
        size = self._stderr.seek(0, 2)
        self._stderr.seek(max(0, size - TAIL))
        said = visible(self._stderr.read().decode("utf-8", "replace").strip())
        return f" It said: {said}" if said else ""

    def close(self, grace: float = 2.0) -> None:
        """Ask the program to end by closing its input; after `grace` seconds end it, and all that it has started."""
        if self._closing:
            return
        self._closing = True
        self.end_input()
        try:
            self.status(grace)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self._child.pid, signal.SIGKILL)
                else:  # Windows
                    self._child.kill()
            self._child.wait()
            self._stderr.close()

    def _peek(self) -> int | None:
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._child.poll()
        if self._child.returncode is not None:
            return self._child.returncode
        found = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def _read(self) -> None:
        rest: list[bytes] = []
        kept, longest = 0, most("record")  # a program that writes more without an end of line has its output closed
        stream = self._child.stdout
        while stream is not None and kept <= longest and (block := stream.read(BLOCK)):
            first, *whole = block.split(self._end)
            rest.append(first)
            kept += len(first)
            if whole:
                *whole, last = whole
                for record in (b"".join(rest), *whole):
                    self._hand_over(record)
                rest, kept = [last], len(last)
        if kept:
            self._hand_over(b"".join(rest))
        self._hand_over(None)
        if stream is not None:
            stream.close()

    def _hand_over(self, record: bytes | None) -> None:
        """Wait until there is room; nobody asks any more once the program is being closed."""
        while not self._closing:
            with suppress(queue.Full):
                self._records.put(record, timeout=SLICE)
                return

    def _write(self) -> None:
        stream = self._child.stdin
        while stream is not None and (block := self._to_write.get()) is not None:
            try:
                view = memoryview(block)
                while view:
                    view = view[stream.write(view) or 0 :]
            except (BrokenPipeError, ValueError):
                break
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
