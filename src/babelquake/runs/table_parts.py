"""Unfinished tables: part by part, or line by line, so that a run that is killed loses only what is in flight.

A table too large for memory is made part by part; parts lie in `.parts/TABLE/` until the whole table is joined. A part
appears only when it is whole, so a killed run goes on at the part it was making.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import polars as pl

from babelquake.files import ROWS_TOGETHER, replacing, store_table

FOLDER = ".parts"


class Parts:
    """The parts of one table of a run, each under its own name."""

    def __init__(self, run_folder: Path, table: str) -> None:
        self.table = table
        self.folder = run_folder / FOLDER / table
        self._joined = run_folder / f"{table}.parquet"

    def has(self, name: str) -> bool:
        """Whether a part is finished."""
        return self._file(name).exists()

    def store(self, name: str, part: pl.DataFrame) -> None:
        """Keep a finished part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        store_table(part, self._file(name))

    def read(self, name: str) -> pl.DataFrame:
        """A finished part."""
        return pl.read_parquet(self._file(name), glob=False)

    def once(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """A part, made and kept the first time, read back from then on."""
        if not self.has(name):
            self.store(name, make())
        return self.read(name)

    def join(self, names: Sequence[str]) -> None:
        """Write the whole table, parts in this order."""
        if self._joined.exists():
            return
        with replacing(self._joined) as draft:
            scanned = [pl.scan_parquet(self._file(name), glob=False) for name in names]
            whole = pl.concat(scanned, how="vertical_relaxed")
            whole.sink_parquet(draft, compression="zstd", maintain_order=True, row_group_size=ROWS_TOGETHER)

    def discard(self) -> None:
        """Remove the parts; what is joined stays."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"


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
