"""A run: the one folder a study leaves behind – complete, readable by other tools, resumable.

`run.json` says how it was made; each table is a Parquet file. A table appears only when it is whole (written aside,
then renamed), so whatever exists is finished work, and a rerun of the same command reads it back and goes on.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.errors import UserError
from babelquake.runs.display import display
from babelquake.runs.files import disk, store_table, store_text
from babelquake.runs.former import upgraded
from babelquake.runs.info import RunInfo, now, versions
from babelquake.runs.locking import locked
from babelquake.runs.parts import FOLDER as PARTS
from babelquake.runs.parts import Parts

TABLES = ("segments", "variants", "translations", "scores", "measures")
LOCK = ".lock"
WRITTEN = frozenset({"run.json", "measures.csv", "report.html", "augmentation.jsonl", PARTS, LOCK})
"""What else a run folder holds beside its tables."""
BEGUN = frozenset({"run.json.writing", LOCK})
"""All that is there when a run was killed as it began."""


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
        info = RunInfo(study=study, config=dict(config), versions=versions(), created=now())
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
            store_table(make(), self.path(table))
            self.info.timings[table] = round(time.monotonic() - started, 3)
            self.save()
        return pl.read_parquet(self.path(table), glob=False)

    def parts(self, table: str) -> Parts:
        """The parts of a table that is too large for memory."""
        return Parts(self.folder, table)

    def join(self, **names: Sequence[str]) -> dict[str, pl.LazyFrame]:
        """Whole tables of finished parts: `join(variants=[...], scores=[...])` names each one's parts in order.

        Parts go when all of these tables are whole, so that a kill in between costs nothing.
        """
        for table, order in names.items():
            self.parts(table).join(order)
        for table in names:
            self.parts(table).discard()
        return {table: self.scan(table) for table in names}

    def finish(self, measures: pl.DataFrame) -> "Run":
        """Store the measures (Parquet and CSV) and mark the run as finished."""
        store_table(measures, self.path("measures"))
        aside = self.folder / "measures.csv.writing"
        with disk():
            measures.write_csv(aside, float_precision=6)
            aside.replace(self.folder / "measures.csv")
        if (parts := self.folder / PARTS).exists():
            shutil.rmtree(parts)
        self.info.finished = self.info.finished or now()
        self.save()
        return self

    def save(self) -> None:
        """Write run.json."""
        store_text(self.info.model_dump_json(indent=2) + "\n", self.folder / "run.json")

    def table(self, name: str) -> pl.DataFrame:
        """A finished table."""
        return self.scan(name).collect()

    def scan(self, name: str) -> pl.LazyFrame:
        """A finished table, read lazily."""
        if not self.has(name):
            raise UserError(f"{self.folder} has no {name} yet: run the command that made it again to finish it.")
        return pl.scan_parquet(self.path(name), glob=False)

    def summary(self) -> str:
        """What the run found, in a few lines."""
        return display().text(self)

    def __repr__(self) -> str:
        return f"<babelquake {self.info.study} run in {self.folder}{'' if self.info.finished else ', unfinished'}>"

    def _repr_html_(self) -> str:
        return display().html(self)

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
        """The results, tidy: one number a row. Runs of the first version get today's columns."""
        return upgraded(self.table("measures"))


def _ours(entry: Path) -> bool:
    """Whether a run wrote this file or folder."""
    return entry.name in WRITTEN or entry.suffix in (".parquet", ".writing")


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
