"""The cache: answers to costly calls by (signature, question), in one SQLite file that several processes may share.

A write-ahead log and one transaction per batch mean that a process killed at any moment loses at most the batch it was
computing. Keys are hashes of both, so a changed signature never meets an old entry. Every value carries a
checksum; `verify` reads them all. Damage is mended where it is met: the file is set aside and what can be read is kept.
"""

import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from babelquake.errors import ResumableError, UserError, setting
from babelquake.files import is_locked, locked
from babelquake.interrupts import uninterrupted
from babelquake.paths import user_cache

TABLES = """
CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL,
                                    used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS results_used ON results (used);
"""
CLAIMS = "CREATE TABLE IF NOT EXISTS asking (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID"
FILE = "results.sqlite"
FRESH_ENOUGH = 3600
"""Seconds before a read renews an entry's last use: recency by the hour costs few writes."""
LIMIT = 20 * 2**30
"""Bytes that a cache may take."""
QUICKLY_CHECKED = 2**28
"""Bytes up to which a file is checked as it is opened; damage in a larger one shows when it is used."""
Entry = tuple[bytes, bytes, int, int]
"""A row of the cache: key, value, checksum, last use."""
MAGIC = b"SQLite format 3\0"
COLUMNS = ["key", "value", "checksum", "used"]
PART = "SELECT key, value, checksum, used FROM results WHERE key >= ? AND key < ? ORDER BY key "

T = TypeVar("T")


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
    return user_cache() / FILE


def key_of(signature: str, content: bytes) -> bytes:
    """The key of a question – a text's bytes, or several with their lengths – under a signature."""
    state = hashlib.blake2b(digest_size=20)
    name = signature.encode("utf-8", "surrogatepass")
    state.update(len(name).to_bytes(8, "little") + name)
    state.update(content)
    return state.digest()


class Cache:
    """Byte strings by key. A damaged file is set aside, what can be read is kept, and `tell` and `warning` say so."""

    def __init__(
        self,
        path: Path | str | None = None,
        limit_bytes: int = LIMIT,
        tell: Callable[[str], None] = lambda warning: None,
    ) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.limit_bytes = limit_bytes
        self.warning = ""
        self._tell = tell
        if self.path != user_cache() / FILE and is_foreign(self.path):
            raise UserError(
                f"{self.path} is not a babelquake cache and was left alone. Use another file with {setting('cache')}."
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = self._connect()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise UserError(
                    f"the cache {self.path} cannot be opened: {error}. "
                    f"Use another file with {setting('cache')}, or {setting('cache', 'none')}."
                ) from error
            self._rebuild(str(error))
        except OSError as error:
            raise UserError(
                f"the cache {self.path} cannot be created: {error.strerror}. "
                f"Use another file with {setting('cache')}, or {setting('cache', 'none')}."
            ) from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values known among the keys; a value that fails its checksum counts as unknown."""
        return self._mending(lambda: self._get(keys))

    def put(self, values: Mapping[bytes, bytes], durable: bool = False) -> None:
        """Store values in one transaction; then, if the file grew past its limit, drop the least recently used.

        What is `durable` is on the disk when this returns, so that not even a power cut makes it be paid for again.
        """
        with uninterrupted():
            self._mending(lambda: self._put(values, durable))

    @contextmanager
    def asking(self, keys: Sequence[bytes]) -> Iterator[set[bytes]]:
        """Claim what is about to be asked of a paid service: yields the keys that no other living process asks for.

        A process that dies gives its claims back with its lock.
        """
        owner = f"{os.getpid()}-{time.time_ns()}"
        with locked(self._owners_lock(owner), wait=True):
            taken = self._mending(lambda: self._claim(keys, owner))
            try:
                yield set(keys) - taken
            finally:
                with uninterrupted():
                    self._mending(lambda: self._database.execute("DELETE FROM asking WHERE owner = ?", (owner,)))

    def unasked(self, keys: Sequence[bytes]) -> set[bytes]:
        """The keys among these that no living process asks for."""
        rows = self._mending(lambda: self._database.execute("SELECT key, owner FROM asking").fetchall())
        living = {owner for owner in {owner for _, owner in rows} if is_locked(self._owners_lock(owner))}
        return set(keys) - {key for key, owner in rows if owner in living}

    def info(self) -> CacheInfo:
        """Where the cache is, how full, and its limit."""
        (entries,) = self._mending(lambda: self._database.execute("SELECT count(*) FROM results").fetchone())
        return CacheInfo(str(self.path), entries, self._bytes_in_use(), self.limit_bytes)

    @classmethod
    def look(cls, path: Path | str | None = None) -> CacheInfo:
        """`info` of a cache that may not exist; nothing is created."""
        where = Path(path) if path is not None else default_path()
        if not where.exists():
            return CacheInfo(str(where), 0, 0, LIMIT)
        cache = cls(where)
        try:
            return cache.info()
        finally:
            cache.close()

    def clear(self) -> int:
        """Forget everything; the number of entries forgotten."""
        return self._mending(self._clear)

    def verify(self) -> tuple[int, int]:
        """Read every entry: (sound, damaged). Damaged ones are removed and will be computed again."""
        return self._mending(self._verify)

    def close(self) -> None:
        """Close the file; every finished transaction is already in it."""
        self._database.close()

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
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
            with transaction(self._database):
                self._database.executemany("UPDATE results SET used = ? WHERE key = ?", stale)
        return found

    def _claim(self, keys: Sequence[bytes], owner: str) -> set[bytes]:
        """The keys that others hold; the rest are the owner's from now on."""
        with transaction(self._database):
            self._database.execute(CLAIMS)
            for (other,) in self._database.execute("SELECT DISTINCT owner FROM asking").fetchall():
                if not is_locked(self._owners_lock(other)):
                    self._database.execute("DELETE FROM asking WHERE owner = ?", (other,))
            taken = {
                key
                for part in _chunks(keys, 500)
                for (key,) in self._database.execute(
                    f"SELECT key FROM asking WHERE key IN ({','.join('?' * len(part))})",  # noqa: S608 – marks only
                    part,
                )
            }
            self._database.executemany(
                "INSERT INTO asking VALUES (?, ?)", [(key, owner) for key in dict.fromkeys(keys) if key not in taken]
            )
        return taken

    def _owners_lock(self, owner: str) -> Path:
        return _beside(self.path, f".asking-{owner}")

    def _put(self, values: Mapping[bytes, bytes], durable: bool) -> None:
        now = int(time.time())
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        with transaction(self._database):
            self._database.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                [(key, value, zlib.crc32(value), now) for key, value in values.items()],
            )
        if self._bytes_in_use() > self.limit_bytes:
            self._evict()

    def _clear(self) -> int:
        with transaction(self._database):
            removed = self._database.execute("DELETE FROM results").rowcount
        self._database.execute("VACUUM")
        return int(removed)

    def _verify(self) -> tuple[int, int]:
        check(self._database)
        sound, damaged = 0, []
        for key, value, checksum in self._database.execute("SELECT key, value, checksum FROM results"):
            if zlib.crc32(value) == checksum:
                sound += 1
            else:
                damaged.append((key,))
        with transaction(self._database):
            self._database.executemany("DELETE FROM results WHERE key = ?", damaged)
        return sound, len(damaged)

    def _mending(self, work: Callable[[], T]) -> T:
        """Do something with the file; where it turns out damaged, rebuild it and do it again."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise ResumableError(
                    f"the cache {self.path} cannot be used: {error}. Finished work is kept: run again."
                ) from error
            self._database.close()
            self._rebuild(str(error))
            return work()

    def _connect(self, checked: bool = False) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=120, isolation_level=None, check_same_thread=False)
        try:
            if database.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                with locked(_beside(self.path, ".opening"), wait=True):  # SQLite itself does not wait here
                    database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(TABLES)
            if checked or self.path.stat().st_size <= QUICKLY_CHECKED:
                check(database)
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _rebuild(self, why: str) -> None:
        """Set the damaged file and its log aside and begin anew with every entry that can still be read."""
        with locked(_beside(self.path, ".mending"), wait=True):
            try:
                self._database = self._connect(checked=True)
                return
            except sqlite3.DatabaseError:
                pass
            saved = self._salvaged(fresh := _beside(self.path, ".rebuilt"))
            aside = _beside(self.path, f".damaged-{time.time_ns()}")
            for suffix in ("-shm", "-wal", ""):
                if (part := _beside(self.path, suffix)).exists():
                    part.replace(_beside(aside, suffix))
            fresh.replace(self.path)
            self._database = self._connect()
        self.warning = (
            f"the cache {self.path} was damaged ({why}); it was set aside as {aside.name} and rebuilt with the "
            f"{saved} entries that could still be read."
        )
        self._tell(self.warning)

    def _salvaged(self, fresh: Path) -> int:
        """Write the readable entries to a new file; it takes the damaged one's place only when it is whole."""
        fresh.unlink(missing_ok=True)
        database = sqlite3.connect(fresh, isolation_level=None)
        try:
            database.executescript(TABLES)
            with transaction(database):
                database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", _readable(self.path))
            (saved,) = database.execute("SELECT count(*) FROM results").fetchone()
            return int(saved)
        finally:
            database.close()

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
            with transaction(self._database):
                self._database.execute(
                    "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used LIMIT ?)",
                    (max(1, entries // 10),),
                )


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE … COMMIT; a full disk becomes an error that says the run can be resumed."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException as error:
        if database.in_transaction:
            database.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
            raise ResumableError("the disk is full: finished work is kept, free some space and run again.") from error
        raise


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _chunks(items: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


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
        return bool(tables) and (not {"results"} <= tables <= {"results", "asking"} or columns != COLUMNS)
    except sqlite3.DatabaseError:
        return False
    finally:
        database.close()


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
