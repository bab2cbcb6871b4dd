"""A lock that processes on one machine share: a file, locked while it is held and removed afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[None]:
    """Hold the lock; where another process does, wait for it or raise BlockingIOError.

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
