"""Any program that reads lines and writes lines: `command[cmd="sed s/a/b/"]`.

The program is started once and kept open. Many programs, such as `sed` and `tr`, hold their answer back until their
input ends; nobody can tell those from slow ones, so a program that keeps still for `patience` seconds has its input
closed. It then has to give the whole answer, and from there on every batch gets its own process. Either way line n of
the output belongs to line n of the input, and anything else is an error.

What a command's files hold, in one short hash: a changed script, model or folder is another system. Every argument that
is an existing file or folder counts, also behind `--option=`. A file counts by its content; one over `WHOLE` bytes by
size, time of change, head and tail. A folder counts by the names and contents in it, hidden files and `__pycache__`
aside; past `FOLDER` bytes its files count by size and time of change.

The program itself counts by its content where it is given by path. One found on the PATH counts by its name, so that
`cat` is the same system on every machine – unless it is a script: its text after the `#!` line counts too.
"""

import hashlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from babelquake.errors import BabelquakeError, ResumableError, UserError
from babelquake.escape import visible
from babelquake.interrupts import SLICE
from babelquake.limits import most
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.systems.base import System
from babelquake.text import digest

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


LINE_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
"""What some program or other takes for the end of a line."""
GRACE = 0.02
"""Seconds to wait for a line too many after the first answer of a program. Later ones are looked for without waiting,
before the next batch goes out: a program that gets out of step does so from the start, or is found out soon."""


class Command(System):
    """A program of the user's, one line per text. Line breaks inside a text become spaces.

    `mode=stream` keeps the program open and waits `timeout` seconds for each line; `mode=batch` starts it for every
    batch; `mode=auto` begins with the first and falls back to the second.

    Files and folders named in the command are part of the signature by their content (see `fingerprint`), so that a
    changed script or model is never served old results. Where that goes too far – the command names a log it writes –
    or not far enough – the model is elsewhere – `version=` says in your words which system this is, and no file counts.
    """

    indifferent = frozenset({"mode", "timeout", "patience"})

    def __init__(
        self,
        cmd: str,
        mode: Literal["auto", "stream", "batch"] = "auto",
        timeout: Annotated[float, Range(0.1, 86400)] = 600.0,
        patience: Annotated[float, Range(0.05, 3600)] = 3.0,
        version: str | None = None,
    ) -> None:
        try:
            self._argv = shlex.split(cmd)
        except ValueError as error:
            raise UserError(f"command[cmd={cmd}]: {error}. Quote as in a shell.") from None
        if not self._argv:
            raise UserError("command[cmd=…] is empty: name a program that reads lines and writes lines.")
        self._cmd = cmd
        self._mode = mode
        self._version = version
        self._timeout = timeout
        self._patience = timeout if mode == "stream" else min(patience, timeout)
        self._program: Program | None = None
        self._proven = False
        self._answered = False

    @property
    def limits(self) -> Limits:
        """What an interruption may cost: small batches, but large ones for a program started anew for each."""
        return Limits(texts=1000 if self._mode == "batch" else 100)

    @property
    def signature(self) -> str:
        """The command, and its `version` or the content of the files it names."""
        return signature("command", cmd=self._cmd, version=self._version, files=self._files)

    @cached_property
    def _files(self) -> str | None:
        """Looked at once, so that what the program writes as it runs does not make it another system halfway."""
        return None if self._version is not None else fingerprint(self._argv)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One line of output for each text."""
        if not texts:
            return []
        lines = [one_line(text).encode("utf-8") for text in texts]
        try:
            answer = self._ask_batch(lines) if self._mode == "batch" else self._ask_stream(lines)
        except BaseException:
            self._end(grace=0)
            raise
        self._answered = True
        return [self._decoded(line, number) for number, line in enumerate(answer, 1)]

    def close(self) -> None:
        self._end(grace=2)

    def _end(self, grace: float) -> None:
        if self._program is not None:
            self._program.close(grace)
            self._program = None

    def _ask_batch(self, lines: list[bytes]) -> list[bytes]:
        self._program = program = Program(self._argv)
        program.send(lines)
        answer = self._rest(program, [])
        self._check(program, lines, answer)
        self.close()
        return answer

    def _ask_stream(self, lines: list[bytes]) -> list[bytes]:
        if self._program is None or not self._program.running:
            self.close()
            self._program, self._proven = Program(self._argv), False
        program = self._program
        if self._surplus(program, 0):
            raise self._too_many(len(lines))
        program.send(lines)
        answer: list[bytes] = []
        try:
            while len(answer) < len(lines):
                line = program.receive(self._patience)
                if line is None:
                    break
                answer.append(line)
        except TimeoutError:
            if self._mode == "stream":
                raise self._late(len(answer), len(lines)) from None
            answer = self._rest(program, answer)
            self._check(program, lines, answer)
            self._mode = "batch"
            self.close()
            return answer
        if len(answer) == len(lines):
            answer += self._surplus(program, 0 if self._proven else GRACE)
            self._proven = True
        if len(answer) != len(lines) or not program.running:
            self._check(program, lines, answer)
        return answer

    def _rest(self, program: Program, answer: list[bytes]) -> list[bytes]:
        """End the input and read what is left."""
        program.end_input()
        try:
            while (line := program.receive(self._timeout)) is not None:
                answer.append(line)
        except TimeoutError:
            raise self._late(len(answer), None) from None
        return answer

    def _surplus(self, program: Program, wait: float) -> list[bytes]:
        try:
            line = program.receive(wait)
        except TimeoutError:
            return []
        return [] if line is None else [line]

    def _check(self, program: Program, lines: list[bytes], answer: list[bytes]) -> None:
        """Refuse a failed program and an answer of another length."""
        status = None if program.running and len(answer) >= len(lines) else program.status()
        if status:
            raise self._error(f"'{self._cmd}' failed with exit status {status}.{program.complaint()}")
        if len(answer) < len(lines):
            missing = lines[len(answer)].decode("utf-8", "replace")
            raise UserError(
                f"'{self._cmd}' wrote {len(answer)} lines for {len(lines)}: line {len(answer) + 1} is missing, "
                f"the translation of “{missing}”.{program.complaint()}"
            )
        if len(answer) > len(lines):
            raise self._too_many(len(lines))

    def _too_many(self, count: int) -> UserError:
        return UserError(
            f"'{self._cmd}' wrote more than {count} lines for {count}: it should write one line for each line it reads."
        )

    def _late(self, got: int, wanted: int | None) -> ResumableError:
        of = f" of {wanted}" if wanted else ""
        return ResumableError(
            f"'{self._cmd}' did not answer for {self._timeout:g} seconds after {got}{of} lines; "
            "a slower program needs a larger timeout=."
        )

    def _error(self, message: str) -> BabelquakeError:
        return ResumableError(message) if self._answered else UserError(message)

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            return line.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError:
            raise UserError(f"'{self._cmd}': line {number} of its output is not UTF-8.") from None


def one_line(text: str) -> str:
    """The text with its line breaks turned into spaces, and with nothing in it that UTF-8 cannot say."""
    return text.translate(LINE_BREAKS).encode("utf-8", "replace").decode("utf-8")


WHOLE = 1 << 24
"""Bytes up to which a file is read from start to end."""
END = 1 << 20
"""Bytes of head and tail that are read of a larger one."""
FOLDER = 1 << 26
"""Bytes of a folder's files that are read."""
FILES = 10_000
"""Files of a folder that are looked at."""


def fingerprint(argv: Sequence[str]) -> str | None:
    """A hash of everything a command names that exists; None where it names nothing."""
    named = [part.partition("=")[2] if part.startswith("-") else part for part in argv[1:]]
    parts = [_program(argv[0]), *(_content(Path(part)) for part in named if part)]
    found = [part for part in parts if part]
    return digest(found) if found else None


def _program(name: str) -> str | None:
    if "/" in name or os.sep in name:
        return _content(Path(name))
    found = shutil.which(name)
    if found is None:
        return None
    try:
        with Path(found).open("rb") as stream:
            is_script = stream.readline(WHOLE).startswith(b"#!")
            return _hash(stream.read(WHOLE)) if is_script else None
    except OSError:
        return None


def _content(path: Path) -> str | None:
    try:
        if path.is_dir():
            return digest(_folder(path))
        return _file(path) if path.is_file() else None
    except (OSError, ValueError):
        return None


def _file(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as stream:
        if size <= WHOLE:
            return _hash(stream.read())
        head = stream.read(END)
        stream.seek(-END, os.SEEK_END)
        return f"{_outside(path)} {_hash(head + stream.read())}"


def _folder(folder: Path) -> Iterator[str]:
    """Names and contents in the order of names; links are followed to files only, so no folder is met twice."""
    room, seen = FOLDER, 0
    for where, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(where, name)
            if name.startswith(".") or not path.is_file():
                continue
            seen += 1
            if seen > FILES:
                return
            room -= min(path.stat().st_size, WHOLE)
            yield path.relative_to(folder).as_posix()
            yield _file(path) if room >= 0 else _outside(path)


def _outside(path: Path) -> str:
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns}"


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
