"""Files that are whole or not there: written aside, flushed to the disk, then renamed; a full disk ends a run cleanly.

A kill or a power cut at any moment leaves the old file or the new one, never half of either. Locks that processes share
are files too.
"""

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from filelock import FileLock, Timeout

from babelquake.errors import ResumableError, UserError, setting

ROWS_TOGETHER = 2**16
"""Rows that lie together in large tables: readers that take a piece at a time take as many."""
ROOM = 2**16
"""Bytes; a disk with fewer is full."""
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def disk(folder: Path, kept: str = "finished work is kept") -> Iterator[None]:
    """A full disk ends a run cleanly, to be continued; polars wraps the system's error in its own, or hides it."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        told = getattr(error, "errno", None) in FULL or any(f"(os error {number})" in str(error) for number in FULL)
        if told or (isinstance(error, pl.exceptions.PolarsError) and _is_full(folder)):
            raise ResumableError(f"the disk is full: {kept}, free some space and run again.") from error
        raise


def draft_of(path: Path) -> Path:
    """Where a file lies while it is written."""
    return path.with_name(f".{path.name}.writing")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place to write to; what lies there at the end takes the file's name.

    On an error, which names the file that was meant, nothing is left behind.
    """
    if not path.name:
        raise UserError(f"'{path}' is a folder: give a file to write to.")
    if path.exists() and not path.is_file() and not path.is_dir():  # a file in its name's place would end the device
        raise UserError(f"{path} is a device or a pipe. Give a file to write to.")
    draft = draft_of(path)
    draft.unlink(missing_ok=True)
    try:
        with disk(path.parent):
            yield draft
            _flush(draft)
            draft.replace(path)
            if os.name != "nt":  # Windows opens no folders, and keeps names without being asked
                _flush(path.parent)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and str(error.filename) == str(draft):
            error.filename = str(path)
        raise


def _is_full(folder: Path) -> bool:
    """Whether a disk has no room left, now that a file on it could not be written to its end."""
    try:
        return shutil.disk_usage(folder).free < ROOM
    except OSError:
        return False


def store_table(table: pl.DataFrame, path: Path) -> None:
    """A table as Parquet."""
    with replacing(path) as draft:
        table.write_parquet(draft, compression="zstd")


def store_text(text: str, path: Path) -> None:
    """A text file in UTF-8."""
    with replacing(path) as draft:
        draft.write_text(text, "utf-8")


def store_bytes(content: bytes, path: Path) -> None:
    """Any other file."""
    with replacing(path) as draft:
        draft.write_bytes(content)


def deliver(content: str | bytes, path: Path) -> None:
    """A file where a user wants it: its folder is made, and what is in the way is said."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        store_bytes(content.encode("utf-8") if isinstance(content, str) else content, path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error


def require_ending(path: Path, known: Sequence[str], option: str) -> None:
    """Refuse a file that an option names whose ending says nothing that could be written."""
    if path.suffix not in known:
        endings = f"{', '.join(known[:-1])} or {known[-1]}"
        raise UserError(f"{setting(option, path)}: expected a name that ends in {endings}.")


def checksum(path: Path) -> str:
    """What run.json keeps of a file, so that one flipped bit is found."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _flush(path: Path) -> None:
    """Have the disk keep a file's content, or a folder's names."""
    number = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows flushes what it may write to
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(number)


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[None]:
    """Hold a lock that processes on one machine share; where another one does, wait or raise BlockingIOError.

    A process that dies gives its lock back. The holder removes the file, so who gets the lock of a file that is no
    longer there tries again with the new one. A symbolic link in its place is not followed (OSError): whatever it
    points to is not ours to empty.
    """
    if path.is_symlink():
        raise OSError(f"{path} is a symbolic link where a lock should be")
    lock = FileLock(path, timeout=-1 if wait else 0, thread_local=False)
    try:
        lock.acquire(poll_interval=0.02)
    except Timeout:
        raise BlockingIOError(f"{path} is held by another process") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock."""
    if path.is_symlink() or not path.is_file():
        return False
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return True
    lock.release()
    return False
