"""Finished work, one line each as soon as it is over: a run that is killed loses only what is in flight."""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any


class Journal:
    """A file of JSON lines. What a kill cut off in the middle of a line is dropped; that piece is done again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._open: IO[bytes] | None = None

    def read(self) -> list[dict[str, Any]]:
        """Every whole line; a torn last one is cut off the file."""
        if not self.file.exists():
            return []
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.file.open("r+b") as stream:
                stream.truncate(len(whole))
        return [json.loads(line) for line in whole.splitlines()]

    def __enter__(self) -> "Journal":
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._open = self.file.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            os.fsync(self._open.fileno())
            self._open.close()
            self._open = None

    def write(self, row: dict[str, Any]) -> None:
        """Keep one row; it outlives this process from here on."""
        if self._open is None:
            raise ValueError("the journal is closed")
        self._open.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._open.flush()
