"""What to do about a damaged cache file: tell damage from other trouble, and read what can still be read."""

import sqlite3
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

Entry = tuple[bytes, bytes, int, int]
"""A row of the cache: key, value, checksum, last use."""
MAGIC = b"SQLite format 3\0"
TABLES = {"results", "asking"}
COLUMNS = ["key", "value", "checksum", "used"]
PART = "SELECT key, value, checksum, used FROM results WHERE key >= ? AND key < ? ORDER BY key "


def check(database: sqlite3.Connection) -> None:
    """Read the structure of the whole file; sqlite3.DatabaseError where it is broken."""
    (health,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise sqlite3.DatabaseError(str(health).splitlines()[-1])


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is broken; not so where it is locked, read-only or out of reach."""
    return not isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError) or "malformed" in str(error)


def is_foreign(path: Path) -> bool:
    """Whether a file is something else than a cache, so that it must not be touched: no database, or another one."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError:
        return False
    if head != MAGIC:
        return bool(head)
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        columns = [row[1] for row in database.execute("PRAGMA table_info(results)")]
        return bool(tables) and (not {"results"} <= tables <= TABLES or columns != COLUMNS)
    except sqlite3.DatabaseError:
        return False
    finally:
        database.close()


def readable_entries(path: Path, size: int) -> Iterator[list[Entry]]:
    """Everything that can still be read of a damaged file, in lists of at most `size`."""
    part: list[Entry] = []
    for row in _readable(path):
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _readable(path: Path) -> Iterator[Entry]:
    """The sound entries of a damaged file, its log included.

    Keys are hashes, so their first byte cuts the table into equal parts; each is read from its start and, where that
    meets a broken page, from its end.
    """
    database = sqlite3.connect(path)
    bounds = [bytes([first]) for first in range(256)] + [b"\xff" * 64]
    try:
        for low, high in pairwise(bounds):
            for order in ("ASC", "DESC"):
                try:
                    for key, value, checksum, used in database.execute(PART + order, (low, high)):
                        if isinstance(value, bytes) and zlib.crc32(value) == checksum:
                            yield key, value, checksum, used
                    break
                except sqlite3.DatabaseError:
                    continue
    finally:
        database.close()
