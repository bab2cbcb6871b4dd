"""A run: the one folder a study leaves behind – complete, readable by other tools, resumable.

`run.json` says how it was made; each table is a Parquet file. A table appears only when it is whole (written aside,
then renamed), so whatever exists is finished work, and a rerun of the same command reads it back and goes on.
"""

import errno
import json
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, Field

from babelquake.errors import ResumableError, UserError
from babelquake.runs.locking import locked
from babelquake.version import VERSION

TABLES = ("segments", "variants", "translations", "scores", "measures")
LOCK = ".lock"
WRITTEN = frozenset({"run.json", "measures.csv", "report.html", ".parts", LOCK})
"""What else a run folder holds beside its tables."""
BEGUN = frozenset({"run.json.writing", LOCK})
"""All that is there when a run was killed as it began."""
FULL = (errno.ENOSPC, errno.EDQUOT)
PACKAGES = ("numpy", "scipy", "polars", "sacrebleu", "ctranslate2", "sentencepiece", "torch", "transformers", "spacy")


class RunInfo(BaseModel):
    """run.json."""

    study: str
    config: dict[str, Any]
    """Everything the command said that can change a result."""
    versions: dict[str, str] = Field(default_factory=dict)
    signatures: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    timings: dict[str, float] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    """Whatever else a study wants its readers to know: audits, flags, verdicts."""
    created: str = ""
    finished: str | None = None


class Run:
    """A run folder, open for reading or for continuing."""

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.info = info

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """A finished or unfinished run, for reading."""
        folder = Path(folder)
        file = folder / "run.json"
        if not file.is_file():
            raise UserError(f"{folder} is no run folder: it has no run.json.")
        try:
            return cls(folder, RunInfo.model_validate_json(file.read_text("utf-8")))
        except ValueError as error:
            raise UserError(f"{file} is not a run description: {str(error).splitlines()[0]}.") from error

    @classmethod
    def resume(cls, folder: Path | str, study: str, config: Mapping[str, Any], restart: bool = False) -> "Run":
        """Begin a run, or continue the one of the same configuration; another configuration is refused."""
        folder = Path(folder)
        file = folder / "run.json"
        config = json.loads(json.dumps(config, default=str))
        if file.exists() and not restart:
            run = cls.open(folder)
            run._same_or_refuse(study, config)
            return run
        info = RunInfo(study=study, config=dict(config), versions=versions(), created=_now())
        run = cls(folder, info)
        if file.exists():
            run._discard()
        elif folder.exists() and (not folder.is_dir() or any(entry.name not in BEGUN for entry in folder.iterdir())):
            raise UserError(f"{folder} exists and is no run folder. Use another --out.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--out {folder} cannot be created: {error.strerror}.") from error
        run.save()
        return run

    def _discard(self) -> None:
        """Remove what runs write – tables, reports, parts – and nothing else that may lie in the folder.

        run.json goes last: until then the folder is a run, whatever happens.
        """
        with self.alone():
            ours = [entry for entry in self.folder.iterdir() if _ours(entry) and entry.name not in (LOCK, "run.json")]
            for entry in [*ours, self.folder / "run.json"]:
                if entry.is_dir():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()

    def _same_or_refuse(self, study: str, config: Mapping[str, Any]) -> None:
        if self.info.study != study:
            raise UserError(f"{self.folder} holds a {self.info.study} run. Use another --out for this {study} run.")
        for key in dict.fromkeys([*config, *self.info.config]):
            old, new = self.info.config.get(key), config.get(key)
            if old != new:
                flag = "--" + key.replace("_", "-")
                raise UserError(
                    f"{self.folder} was made with {flag} {_short(old)}; this command says {flag} {_short(new)}. "
                    "Use another --out, or --restart to begin again."
                )

    def same_signatures(self, signatures: Mapping[str, str]) -> None:
        """Note how results are made; refuse to go on when something of the same name makes them otherwise now."""
        for name, new in signatures.items():
            if (old := self.info.signatures.setdefault(name, new)) != new:
                raise UserError(
                    f"{self.folder} was made with {name} as {old}; it is {new} now. "
                    "Use another --out, or --restart to begin again."
                )
        self.save()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder for this process while it writes."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.folder / LOCK, wait=False))
            except BlockingIOError:
                message = f"another process is writing to {self.folder}. Wait for it, or use another --out."
                raise UserError(message) from None
            except OSError as error:
                raise UserError(f"--out {self.folder} cannot be written to: {error.strerror}.") from error
            yield

    def path(self, table: str) -> Path:
        """Where a table is."""
        return self.folder / f"{table}.parquet"

    def has(self, table: str) -> bool:
        """Whether a table is finished."""
        return self.path(table).exists()

    def once(self, table: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """A table, computed and stored the first time, read back from then on."""
        if not self.has(table):
            started = time.monotonic()
            self._store(make(), self.path(table))
            self.info.timings[table] = round(time.monotonic() - started, 3)
            self.save()
        return pl.read_parquet(self.path(table))

    def in_blocks(
        self, tables: Sequence[str], blocks: int, make: Callable[[int], Mapping[str, pl.DataFrame]]
    ) -> dict[str, pl.LazyFrame]:
        """Tables too large for memory: made block by block, each stored as it is finished, joined at the end."""
        if not all(self.has(table) for table in tables):
            started = time.monotonic()
            parts = self.folder / ".parts"
            for block in range(blocks):
                files = {table: parts / table / f"{block:06d}.parquet" for table in tables}
                if not all(file.exists() for file in files.values()):
                    made = make(block)
                    for table, file in files.items():
                        file.parent.mkdir(parents=True, exist_ok=True)
                        self._store(made[table], file)
            for table in tables:
                self._join_parts(table, [parts / table / f"{block:06d}.parquet" for block in range(blocks)])
            shutil.rmtree(parts)
            self.info.timings[" ".join(tables)] = round(time.monotonic() - started, 3)
            self.save()
        return {table: pl.scan_parquet(self.path(table)) for table in tables}

    def _join_parts(self, table: str, files: list[Path]) -> None:
        if self.has(table):
            return
        aside = self.path(table).with_suffix(".writing")
        with _disk():
            pl.scan_parquet(files).sink_parquet(aside, compression="zstd", maintain_order=True)
            aside.replace(self.path(table))

    def finish(self, measures: pl.DataFrame) -> "Run":
        """Store the measures (Parquet and CSV) and mark the run as finished."""
        self._store(measures, self.path("measures"))
        aside = self.folder / "measures.csv.writing"
        with _disk():
            measures.write_csv(aside, float_precision=6)
            aside.replace(self.folder / "measures.csv")
        if (parts := self.folder / ".parts").exists():
            shutil.rmtree(parts)
        self.info.finished = self.info.finished or _now()
        self.save()
        return self

    def save(self) -> None:
        """Write run.json."""
        aside = self.folder / "run.json.writing"
        with _disk():
            aside.write_text(self.info.model_dump_json(indent=2) + "\n", "utf-8")
            aside.replace(self.folder / "run.json")

    def _store(self, table: pl.DataFrame, path: Path) -> None:
        aside = path.with_suffix(".writing")
        with _disk():
            table.write_parquet(aside, compression="zstd")
            aside.replace(path)

    def table(self, name: str) -> pl.DataFrame:
        """A finished table."""
        return self.scan(name).collect()

    def scan(self, name: str) -> pl.LazyFrame:
        """A finished table, read lazily."""
        if not self.has(name):
            raise UserError(f"{self.folder} has no {name} yet: run the command that made it again to finish it.")
        return pl.scan_parquet(self.path(name))

    @property
    def segments(self) -> pl.DataFrame:
        """The data."""
        return self.table("segments")

    @property
    def variants(self) -> pl.DataFrame:
        """The perturbed texts."""
        return self.table("variants")

    @property
    def translations(self) -> pl.DataFrame:
        """What the systems made of clean and perturbed sources."""
        return self.table("translations")

    @property
    def scores(self) -> pl.DataFrame:
        """One row per judged text and scorer."""
        return self.table("scores")

    @property
    def measures(self) -> pl.DataFrame:
        """The results, tidy: one number a row."""
        return self.table("measures")


def versions() -> dict[str, str]:
    """The versions of Python and of what results depend on."""
    found = {"python": platform.python_version(), "babelquake": VERSION}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@contextmanager
def _disk() -> Iterator[None]:
    """A full disk ends a run cleanly, to be continued; polars wraps the system's error in one of its own."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        if getattr(error, "errno", None) in FULL or any(f"(os error {number})" in str(error) for number in FULL):
            raise ResumableError("the disk is full: finished work is kept, free some space and run again.") from error
        raise


def _ours(entry: Path) -> bool:
    """Whether a run wrote this file or folder."""
    return entry.name in WRITTEN or entry.suffix in (".parquet", ".writing")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
