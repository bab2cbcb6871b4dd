"""A program kept open: records go in, records come out, and no full pipe can block us.

What the record ends with is the caller's affair: a newline for `command`, a NUL for Apertium's null-flush mode. Writing
and reading have a thread each, and standard error goes to a temporary file whose end is quoted when something breaks.
"""

import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence

from babelquake.errors import UserError

BLOCK = 1 << 16
TAIL = 500
"""Bytes of standard error that an error quotes."""


class Program:
    """One running program, started from a list of arguments and never through a shell."""

    def __init__(self, argv: Sequence[str], end: bytes = b"\n") -> None:
        self._argv = list(argv)
        self._end = end
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the program, closed in close()
        try:
            self._child = subprocess.Popen(
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
            )
        except FileNotFoundError:
            self._stderr.close()
            raise UserError(f"there is no program '{self._argv[0]}': is it installed, and on the PATH?") from None
        except OSError as error:
            self._stderr.close()
            raise UserError(f"program '{self._argv[0]}' cannot be started: {error.strerror}.") from None
        self._records: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._ended = False
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
        try:
            record = self._records.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None
        self._ended = record is None
        return record

    def status(self, timeout: float = 5.0) -> int | None:
        """The exit status of a program that is ending; None when it still runs after `timeout` seconds."""
        try:
            return self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    @property
    def running(self) -> bool:
        """Whether the program still takes records."""
        return not self._ended and self._child.poll() is None

    def complaint(self) -> str:
        """The end of what the program wrote to standard error, for an error message."""
        size = self._stderr.seek(0, 2)
        self._stderr.seek(max(0, size - TAIL))
        said = self._stderr.read().decode("utf-8", "replace").strip()
        return f" It said: {said}" if said else ""

    def close(self, grace: float = 2.0) -> None:
        """Ask the program to end by closing its input; end it after `grace` seconds if it does not."""
        self.end_input()
        if self.status(grace) is None:
            self._child.kill()
            self._child.wait()
        self._stderr.close()

    def _read(self) -> None:
        rest = b""
        stream = self._child.stdout
        while stream is not None and (block := stream.read(BLOCK)):
            *whole, rest = (rest + block).split(self._end)
            for record in whole:
                self._records.put(record)
        if rest:
            self._records.put(rest)
        self._records.put(None)

    def _write(self) -> None:
        stream = self._child.stdin
        while stream is not None and (block := self._to_write.get()) is not None:
            try:
                view = memoryview(block)
                while view:
                    view = view[stream.write(view) or 0 :]
            except BrokenPipeError:
                break
        if stream is not None:
            stream.close()
