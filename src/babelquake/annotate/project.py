"""The project file: one SQLite database with the tasks, the people and every rating.

Write-ahead logging with full synchronisation: what was answered is on disk before the page says so, and a killed
server loses nothing that it confirmed. A rating's key is its item, so no rating can be there twice.
"""

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babelquake.annotate.material import Tuple
from babelquake.errors import UserError
from babelquake.files import replacing
from babelquake.paths import text_of_room

VERSION = "2"
MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Item:
    """One screen: a tuple, how it is meant, its texts as shown, the order of its sides, and what is suggested."""

    judged: Tuple
    type: str
    texts: Mapping[str, str]
    order: tuple[str, ...]
    suggestions: Mapping[str, Sequence[Mapping[str, Any]]]
    suggested: bool | None
    """Whether its suggestions are shown; None in projects without any."""


def is_project(path: str | Path) -> bool:
    """Whether a file is a database, by its first bytes."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


class Project:
    """A project file, open for reading and writing from any thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not is_project(self.path):
            raise UserError(f"{self.path} is not an annotation project. Make one with `babelquake annotate prepare`.")
        self._threads = threading.local()
        try:
            version = self.setting("version")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
                raise UserError(
                    f"{self.path} cannot be opened for writing: {error}. Is it on a read-only disk?"
                ) from None
            raise UserError(f"{self.path} is a database, but not an annotation project.") from None
        if version != VERSION:
            raise UserError(f"{self.path} was made by another version of babelquake (project format {version}).")

    @classmethod
    def create(cls, path: str | Path, settings: dict[str, Any]) -> "Project":
        """A new project without tasks; an existing file is not touched."""
        target = Path(path)
        if target.exists():
            raise UserError(f"{target} already exists. Use another file: projects are never overwritten.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(target)
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"{target} cannot be created: {error}.") from None
        with database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(text_of_room("annotate", "project.sql"))
            values = {"version": VERSION, "secret": secrets.token_urlsafe(32), **settings}
            database.executemany(
                "INSERT INTO settings VALUES (?, ?)", [(name, json.dumps(value)) for name, value in values.items()]
            )
        database.close()
        target.chmod(0o600)
        return cls(target)

    @property
    def database(self) -> sqlite3.Connection:
        """This thread's connection."""
        found: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if found is None:
            found = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            found.row_factory = sqlite3.Row
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("PRAGMA foreign_keys = ON")
            self._threads.connection = found
        return found

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other writer comes between; on disk when it is over, undone if anything fails."""
        database = self.database
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")

    def backup(self, path: str | Path) -> int:
        """Copy the project as it is at this moment, whoever writes to it meanwhile; the number of ratings in it."""
        target = Path(path)
        if target.exists():
            raise UserError(f"{target} already exists. Use another file.")
        with replacing(target) as draft:
            copy = sqlite3.connect(draft)
            try:
                self.database.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                (ratings,) = copy.execute("SELECT count(*) FROM ratings").fetchone()
            finally:
                copy.close()
            draft.chmod(0o600)
        return int(ratings)

    def close(self) -> None:
        """Close this thread's connection."""
        if (found := getattr(self._threads, "connection", None)) is not None:
            found.close()
            self._threads.connection = None

    def setting(self, name: str) -> Any:
        """One of the project's settings; None where it has none of that name."""
        row = self.database.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row["value"])

    def settings(self) -> dict[str, Any]:
        """All settings at once."""
        return {row["name"]: json.loads(row["value"]) for row in self.database.execute("SELECT * FROM settings")}

    def set(self, name: str, value: Any) -> None:
        """Change a setting."""
        with self.writing() as database:
            database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))

    def add_tuples(self, database: sqlite3.Connection, tuples: Sequence[Tuple]) -> None:
        """Store tuples, those not shown included: they are the context of others."""
        database.executemany(
            "INSERT INTO tuples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    one.id,
                    one.segment,
                    one.source,
                    one.reference,
                    one.language_pair,
                    one.document,
                    one.place,
                    _text(one.systems),
                    _text(one.texts),
                    _text(one.groups),
                )
                for one in tuples
            ],
        )

    def add_task(self, database: sqlite3.Connection, hit: str, copy: int, items: Sequence[Item]) -> None:
        """Store one copy of a task."""
        task = database.execute("INSERT INTO tasks (hit, copy) VALUES (?, ?)", (hit, copy)).lastrowid
        database.executemany(
            "INSERT INTO items (task, place, tuple, type, texts, sides, suggestions, suggested) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    task,
                    place,
                    item.judged.id,
                    item.type,
                    _text(item.texts),
                    json.dumps(item.order),
                    _text(item.suggestions),
                    item.suggested,
                )
                for place, item in enumerate(items)
            ],
        )


def _text(value: Any) -> str:
    return json.dumps(dict(value), ensure_ascii=False)
