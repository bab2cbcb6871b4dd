"""Files that are whole or not there: written aside, then renamed; a full disk ends a run cleanly."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from babelquake.errors import ResumableError

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def disk() -> Iterator[None]:
    """A full disk ends a run cleanly, to be continued; polars wraps the system's error in one of its own."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        if getattr(error, "errno", None) in FULL or any(f"(os error {number})" in str(error) for number in FULL):
            raise ResumableError("the disk is full: finished work is kept, free some space and run again.") from error
        raise


def store_table(table: pl.DataFrame, path: Path) -> None:
    """A table as Parquet."""
    aside = path.with_suffix(".writing")
    with disk():
        table.write_parquet(aside, compression="zstd")
        aside.replace(path)


def store_text(text: str, path: Path) -> None:
    """A text file in UTF-8."""
    aside = path.with_name(path.name + ".writing")
    with disk():
        aside.write_text(text, "utf-8")
        aside.replace(path)
