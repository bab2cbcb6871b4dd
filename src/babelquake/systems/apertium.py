r"""Apertium, the rule-based system of Debian: `apertium[pair=eng-spa]` (packages `apertium`, `apertium-eng-spa`, …).

One pipeline is kept open in null-flush mode (`apertium -z`): each text ends with a NUL, and so does each translation.
The formatters of the `apertium` script do not pass NULs, so texts are prepared here as its `txt` format does, with `\`
before `[]{}^$/\@<>` and `.[]` as the end of the sentence, both undone afterwards. The translation of a text is the one
that `echo text | apertium eng-spa` prints.
"""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated

from babelquake.errors import ResumableError, UserError, did_you_mean
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.systems.base import System
from babelquake.systems.command import Program, one_line

SPECIAL = re.compile(r"([\[\]{}^$/\\@<>])")
ESCAPED = re.compile(r"\\(.)")
END = ".[]"
PADDING = 12
"""Empty records after a batch: some stages of the pipeline read a few characters ahead before they answer (6 records in
Apertium 3.8)."""


class Apertium(System):
    """Rule-based translation; unknown words are marked with `*` only when `marks=true`."""

    indifferent = frozenset({"timeout"})

    limits = Limits(texts=500)
    """One batch goes through the pipeline as a whole."""

    def __init__(
        self,
        pair: str,
        marks: bool = False,
        data: str | None = None,
        timeout: Annotated[float, Range(0.1, 86400)] = 120.0,
    ) -> None:
        if shutil.which("apertium") is None:
            raise UserError("apertium is not installed: on Debian and Ubuntu, apt install apertium apertium-eng-spa.")
        self._pair = pair
        self._where = ["-d", data] if data else []
        listed = _output(["apertium", *self._where, "-l"]).split()
        if pair not in listed:
            raise UserError(f"Apertium has no pair '{pair}' here. {did_you_mean(pair, listed)}")
        self._marks = marks
        self._data = Path(data or "/usr/share/apertium")
        self._timeout = timeout
        self._program: Program | None = None
        self._owed = 0

    @cached_property
    def signature(self) -> str:
        """The pair, Apertium's version, and a hash of the linguistic data that the pair's mode names."""
        version = _output(["apertium", "-V"]).split()[-1]
        mode = self._data / "modes" / f"{self._pair}.mode"
        content = None
        if mode.is_file():
            state = hashlib.blake2b(digest_size=6)
            for name in re.findall(r"'([^']+)'", mode.read_text(encoding="utf-8")):
                if Path(name).is_file():
                    state.update(Path(name).read_bytes())
            content = state.hexdigest()
        return signature("apertium", pair=self._pair, marks=self._marks, version=version, data=content)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One record through the open pipeline for each text."""
        if not texts:
            return []
        if self._program is None or not self._program.running:
            self.close()
            unmarked = [] if self._marks else ["-u"]
            self._program = Program(["apertium", *self._where, *unmarked, "-z", "-f", "none", self._pair], end=b"\0")
        records = [SPECIAL.sub(r"\\\1", one_line(text).replace("\0", " ")) + END for text in texts]
        self._program.send([*(record.encode("utf-8") for record in records), *[b""] * PADDING])
        try:
            for _ in range(self._owed):
                self._receive(self._program, 0, len(texts))
            answers = [self._receive(self._program, number, len(texts)) for number in range(1, len(texts) + 1)]
        except BaseException:
            self.close()
            raise
        self._owed = PADDING
        return [ESCAPED.sub(r"\1", answer.decode("utf-8", "replace").removesuffix(END)) for answer in answers]

    def close(self) -> None:
        self._owed = 0
        if self._program is not None:
            self._program.close()
            self._program = None

    def _receive(self, program: Program, number: int, count: int) -> bytes:
        try:
            record = program.receive(self._timeout)
        except TimeoutError:
            raise ResumableError(
                f"apertium[pair={self._pair}] did not answer for {self._timeout:g} seconds at text {number} of {count}."
            ) from None
        if record is None:
            raise ResumableError(f"apertium[pair={self._pair}] ended at text {number} of {count}.{program.complaint()}")
        return record


def _output(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60).stdout
