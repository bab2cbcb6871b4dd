"""The cache: results of costly calls, keyed by (signature, text), in one SQLite file that several processes may share.

A write-ahead log and one transaction per batch mean that a process killed at any moment loses at most the batch it was
computing. Keys are hashes of signature and text, so a changed signature never meets an old entry. Every value carries a
checksum; `verify` reads them all.
"""

import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from babelquake.errors import ResumableError, UserError

TABLES = """
CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL,
                                    used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS results_used ON results (used);
"""
FRESH_ENOUGH = 3600
"""Seconds before a read renews an entry's last use: recency by the hour costs few writes."""


@dataclass(frozen=True)
class CacheInfo:
    """What `babelquake cache info` prints."""

    path: str
    entries: int
    bytes: int
    limit_bytes: int


def default_path() -> Path:
    """`$BABELQUAKE_CACHE`, or results.sqlite in the user's cache folder."""
    if given := os.environ.get("BABELQUAKE_CACHE"):
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "babelquake" / "results.sqlite"


def key_of(signature: str, text: str) -> bytes:
    """The key of a text under a signature."""
    state = hashlib.blake2b(digest_size=20)
    name = signature.encode("utf-8", "surrogatepass")
    state.update(len(name).to_bytes(8, "little") + name)
    state.update(text.encode("utf-8", "surrogatepass"))
    return state.digest()


class Cache:
    """Byte strings by key. Opening a damaged file sets it aside, saves what can be read, and says so in `warning`."""

    def __init__(self, path: Path | str | None = None, limit_bytes: int = 20 * 2**30) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.limit_bytes = limit_bytes
        self.warning = ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise UserError(f"the cache {self.path} cannot be opened: {error}.") from error
            self._database = self._rebuild(str(error))
        except OSError as error:
            raise UserError(f"the cache {self.path} cannot be created: {error.strerror}.") from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values known among the keys; a value that fails its checksum counts as unknown."""
        now, found, stale = int(time.time()), {}, []
        for part in _chunks(keys, 500):
            marks = ",".join("?" * len(part))
            rows = self._database.execute(
                f"SELECT key, value, checksum, used FROM results WHERE key IN ({marks})",  # noqa: S608 – marks only
                part,
            )
            for key, value, checksum, used in rows:
                if zlib.crc32(value) == checksum:
                    found[key] = value
                    if now - used > FRESH_ENOUGH:
                        stale.append((now, key))
        if stale:
            with self._writing():
                self._database.executemany("UPDATE results SET used = ? WHERE key = ?", stale)
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store values in one transaction; then, if the file grew past its limit, drop the least recently used."""
        now = int(time.time())
        with self._writing():
            self._database.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                [(key, value, zlib.crc32(value), now) for key, value in values.items()],
            )
        if self._bytes_in_use() > self.limit_bytes:
            self._evict()

    def info(self) -> CacheInfo:
        """Where the cache is, how full, and its limit."""
        (entries,) = self._database.execute("SELECT count(*) FROM results").fetchone()
        return CacheInfo(str(self.path), entries, self._bytes_in_use(), self.limit_bytes)

    def clear(self) -> int:
        """Forget everything; the number of entries forgotten."""
        with self._writing():
            removed = self._database.execute("DELETE FROM results").rowcount
        self._database.execute("VACUUM")
        return int(removed)

    def verify(self) -> tuple[int, int]:
        """Read every entry: (sound, damaged). Damaged ones are removed and will be computed again."""
        sound, damaged = 0, []
        for key, value, checksum in self._database.execute("SELECT key, value, checksum FROM results"):
            if zlib.crc32(value) == checksum:
                sound += 1
            else:
                damaged.append((key,))
        with self._writing():
            self._database.executemany("DELETE FROM results WHERE key = ?", damaged)
        return sound, len(damaged)

    def close(self) -> None:
        """Close the file; every finished transaction is already in it."""
        self._database.close()

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=120, isolation_level=None, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(TABLES)
            if (health := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise sqlite3.DatabaseError(str(health).splitlines()[-1])
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _rebuild(self, why: str) -> sqlite3.Connection:
        aside = self.path.with_name(f"{self.path.name}.damaged-{int(time.time())}")
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._database = self._connect()
        saved = 0
        for rows in _chunks_of(_readable_rows(aside), 1000):
            with self._writing():
                self._database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)
            saved += len(rows)
        self.warning = (
            f"the cache {self.path} was damaged ({why}); it was set aside as {aside.name} and rebuilt with the "
            f"{saved} entries that could still be read."
        )
        return self._database

    def _writing(self) -> "_Transaction":
        return _Transaction(self._database)

    def _bytes_in_use(self) -> int:
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        (size,) = self._database.execute("PRAGMA page_size").fetchone()
        return int((pages - free) * size)

    def _evict(self) -> None:
        """Remove the oldest tenth at a time until the file is below nine tenths of its limit."""
        while self._bytes_in_use() > 0.9 * self.limit_bytes:
            (entries,) = self._database.execute("SELECT count(*) FROM results").fetchone()
            if not entries:
                return
            with self._writing():
                self._database.execute(
                    "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used LIMIT ?)",
                    (max(1, entries // 10),),
                )


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT; a full disk becomes an error that says the run can be resumed."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._database.execute("COMMIT")
            return
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
            raise ResumableError("the disk is full: finished work is kept, free some space and run again.") from error


def _chunks(items: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _chunks_of(
    rows: Iterator[tuple[bytes, bytes, int, int]], size: int
) -> Iterator[list[tuple[bytes, bytes, int, int]]]:
    part: list[tuple[bytes, bytes, int, int]] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _readable_rows(path: Path) -> Iterator[tuple[bytes, bytes, int, int]]:
    """The rows of a damaged file up to the first page that cannot be read, from both ends of the key range."""
    for order in ("ASC", "DESC"):
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        try:
            for key, value, checksum, used in database.execute(
                f"SELECT key, value, checksum, used FROM results ORDER BY key {order}"  # noqa: S608 – a constant
            ):
                if isinstance(value, bytes) and zlib.crc32(value) == checksum:
                    yield key, value, checksum, used
        except sqlite3.DatabaseError:
            continue
        finally:
            database.close()
