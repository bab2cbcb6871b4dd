"""A run: the one folder a study leaves behind – complete, readable by other tools, resumable.

`run.json` says how it was made; each table is a Parquet file. A table appears only when it is whole (written aside,
then renamed), so whatever exists is finished work, and a rerun of the same command reads it back and goes on.
"""

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.errors import FLAGS, UserError, did_you_mean, setting
from babelquake.escape import visible
from babelquake.files import checksum, draft_of, is_locked, locked, replacing, store_table, store_text
from babelquake.runs.display import display
from babelquake.runs.findings import Finding, in_order
from babelquake.runs.info import RunInfo, command_line, now, versions
from babelquake.runs.tables import FOLDER as PARTS
from babelquake.runs.tables import Parts

TABLES = ("segments", "variants", "translations", "scores", "measures")
MEASURES = "measures.csv"
LOCK = ".lock"
FORMULA = r"^[=+\-@\t\r]"
"""How a cell begins that a spreadsheet would compute; in measures.csv an apostrophe stands before it."""
BEGUN = frozenset({".run.json.writing", "run.json.writing", "run.json", LOCK})
"""All that is there when a run was killed as it began, or while another process begins it."""
TEXTS = frozenset({"segments", "variants"})
"""Tables that nothing was asked for: a run that failed with these alone has no result yet."""

LOG = logging.getLogger("babelquake")


FOR_USERS = {"folder", "info", "status", "measures", "segments", "variants", "translations", "scores", "table", "scan"}
FOR_USERS |= {"open", "has", "summary", "verdict", "findings", "pivot", "plot", "examples", "report", "to_latex"}
FOR_USERS |= {"to_pandas"}
"""What a run shows whoever completes its name in a notebook."""


class Run:
    """A run folder, open for reading or for continuing.

    run.json lists every file with a checksum: only what is listed is ever removed, and only what matches is read.
    """

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.info = info
        self._sound: set[str] = set()
        self._warned = False

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """A finished or unfinished run, for reading."""
        folder = Path(folder)
        file = folder / "run.json"
        if not file.is_file():
            raise UserError(f"{folder} is not a run folder: it has no run.json.")
        try:
            return cls(folder, RunInfo.model_validate_json(file.read_text("utf-8")))
        except (ValueError, RecursionError) as error:
            raise UserError(f"{file} is not a run description: {_first_fault(error)}.") from error

    @classmethod
    def resume(cls, folder: Path | str, study: str, config: Mapping[str, Any], restart: bool = False) -> "Run":
        """Begin a run, or continue the one of the same configuration; another configuration is refused."""
        folder = Path(folder)
        file = folder / "run.json"
        config = json.loads(json.dumps(config, default=str))
        info = RunInfo(study=study, config=dict(config), versions=versions(), created=now())
        run = cls(folder, info)
        ours = file.exists() or not folder.exists()
        if not ours and (not folder.is_dir() or any(entry.name not in BEGUN for entry in folder.iterdir())):
            raise UserError(f"{folder} exists and is not a run folder. Use another {setting('out')}.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{setting('out', folder)} cannot be created: {error.strerror}.") from error
        with run._held():
            if file.exists():
                old = cls.open(folder)
                if not restart and old._has_results():
                    old._same_or_refuse(study, config)
                    old._same_versions(info.versions)
                    return old
                old.discard_files()
            run.save()
        return run

    def _has_results(self) -> bool:
        """Whether there is anything that a corrected command would lose; where an error ended it, texts are not."""
        parts = self.folder / PARTS
        made = {Path(name).stem for name in self.info.files} | {table for table in TABLES if self.has(table)}
        made |= {part.name for part in parts.iterdir()} if parts.is_dir() else set()
        return bool(made - TEXTS if self.info.status == "failed" else made)

    def _same_or_refuse(self, study: str, config: Mapping[str, Any]) -> None:
        if self.info.study != study:
            raise UserError(f"{self.folder} contains a {self.info.study} run. Use another {setting('out')}.")
        if differs := differing(self.info.config, config):
            raise UserError(f"{self.folder} {differs}. {_begin_again()}")

    def _same_versions(self, present: Mapping[str, str]) -> None:
        """Refuse to finish what another version of ours began; note other versions of what it stands on."""
        begun = self.info.versions
        other = {name: new for name, new in present.items() if name in begun and begun[name] != new}
        if self.info.finished is not None or not other:
            return
        if "babelquake" in other:
            raise UserError(
                f"{self.folder} was begun with babelquake {begun['babelquake']}; this is {other['babelquake']}. "
                f"{_begin_again()}"
            )
        self.info.continued |= other
        told = ", ".join(f"{name} {new} (begun with {begun[name]})" for name, new in sorted(other.items()))
        self.info.notes = list(dict.fromkeys([*self.info.notes, f"The run was continued with {told}."]))
        self.save()

    def mend(self) -> None:
        """Drop tables that are damaged, so that they are made again, and restore measures.csv."""
        if damaged := self.drop_damaged():
            self.info.finished = None
            self.info.notes.append(f"{', '.join(damaged)} had been damaged and was made again.")
            self.save()
        elif self.info.finished is not None and self.has("measures") and not self.is_kept(MEASURES):
            if (self.folder / MEASURES).is_file():
                self.info.notes.append(f"{MEASURES} had been changed by somebody else and was written again.")
            self._write_csv(self.table("measures"))
            self.save()

    def note_options(self, options: Mapping[str, Any]) -> None:
        """Keep what was asked for, for the command that makes the run again."""
        if any(self.info.options.get(name) != value for name, value in options.items()):
            self.info.options |= json.loads(json.dumps(dict(options), default=str))
            self.save()

    def same_signatures(self, signatures: Mapping[str, str]) -> None:
        """Note how results are made; refuse to go on when something of the same name makes them otherwise now."""
        for name, new in signatures.items():
            if (old := self.info.signatures.setdefault(name, new)) != new:
                raise UserError(f"{self.folder} was made with {name} as {old}; it is {new} now. {_begin_again()}")
        self.save()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder for this process while it writes, and go on from what others have finished in it since."""
        with self._held():
            if (self.folder / "run.json").is_file():
                present = Run.open(self.folder)
                present._same_or_refuse(self.info.study, self.info.config)
                self.info = present.info
            yield

    @contextmanager
    def _held(self) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.folder / LOCK, wait=False))
            except BlockingIOError:
                message = f"another process is writing to {self.folder}. Wait for it, or use another {setting('out')}."
                raise UserError(message) from None
            except OSError as error:
                said = setting("out", self.folder)
                raise UserError(f"{said} cannot be written to: {error.strerror or error}.") from error
            yield

    @property
    def status(self) -> str:
        """begun, interrupted, failed or finished; a run that was begun and that nobody holds was interrupted."""
        if self.info.finished is not None:
            return "finished"
        return "interrupted" if self.info.status == "begun" and not is_locked(self.folder / LOCK) else self.info.status

    def path(self, table: str) -> Path:
        """Where a table is."""
        return self.folder / f"{table}.parquet"

    def has(self, table: str) -> bool:
        """Whether a table is finished."""
        return self.path(table).exists()

    def once(self, table: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """A table, computed and stored the first time, read back from then on."""
        if self.has(table):
            return self.table(table)
        started = time.monotonic()
        made = make()
        store_table(made, self.path(table))
        self.keep(self.path(table).name)
        self.info.timings[table] = round(time.monotonic() - started, 3)
        self.save()
        return made

    def parts(self, table: str) -> Parts:
        """The parts of a table that is too large for memory."""
        return Parts(self.folder, table)

    def join(self, **names: Sequence[str]) -> dict[str, pl.LazyFrame]:
        """Whole tables of finished parts: `join(variants=[...], scores=[...])` names each one's parts in order.

        Parts go when all of these tables are whole, so that a kill in between costs nothing.
        """
        for table, order in names.items():
            self.parts(table).join(order)
            self.keep(self.path(table).name)
        self.save()
        for table in names:
            self.parts(table).discard()
        return {table: self.scan(table) for table in names}

    def finish(self, measures: pl.DataFrame, findings: "Callable[[Run], list[Finding]] | None" = None) -> "Run":
        """Store the measures (Parquet and CSV) and what they say, and mark the run as finished."""
        store_table(measures, self.path("measures"))
        self.keep("measures.parquet")
        self.info.findings = in_order(findings(self)) if findings else None
        self._write_csv(measures)
        self.discard_parts()
        self.info.finished = self.info.finished or now()
        self.info.status = "finished"
        self.save()
        return self

    def _write_csv(self, measures: pl.DataFrame) -> None:
        inert = pl.col(pl.String).str.replace(FORMULA, "'$0")
        with replacing(self.folder / MEASURES) as draft:
            _shown(measures).with_columns(inert).write_csv(draft, float_precision=6)
        self.keep(MEASURES)

    def save(self) -> None:
        """Write run.json."""
        store_text(self.info.model_dump_json(indent=2) + "\n", self.folder / "run.json")

    def table(self, name: str) -> pl.DataFrame:
        """A finished table."""
        return self.scan(name).collect()

    def scan(self, name: str) -> pl.LazyFrame:
        """A finished table, read lazily."""
        if not self.has(name):
            if self.info.status == "finished" and self.path(name).name not in self.info.files:
                hint = did_you_mean(name, (file.stem for file in self.folder.glob("*.parquet")))
                raise UserError(f"{self.folder}, a run of {self.info.study}, has no table {name}. {hint}")
            raise UserError(f"{self.folder} has no {name} yet: run the command that made it again to finish it.")
        edited = name == "measures" and (self.folder / MEASURES).is_file() and not self.is_kept(MEASURES)
        if edited and not self._warned:
            self._warned = True
            LOG.warning("%s is not what the run wrote; numbers come from measures.parquet.", self.folder / MEASURES)
        file = self.path(name).name
        if file in self.info.files and not self.is_kept(file):
            raise self._damaged(name, "it is not what the run wrote")
        try:
            found = pl.scan_parquet(self.path(name), glob=False)
            found.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._damaged(name, str(error).partition("\n")[0]) from error
        return found

    def height(self, name: str) -> int:
        """How many rows a table has; none where it is not there."""
        return int(self.scan(name).select(pl.len()).collect().item()) if self.has(name) else 0

    def columns(self, name: str) -> list[str]:
        """The columns of a table; none where it is not there."""
        return self.scan(name).collect_schema().names() if self.has(name) else []

    def _damaged(self, name: str, why: str) -> UserError:
        return UserError(f"{self.path(name)} is damaged: {why}. This makes it again: {command_line(self)}")

    def keep(self, name: str) -> None:
        """List a file of the folder as the run's own."""
        self.info.files[name] = checksum(self.folder / name)
        self._sound.add(name)

    def is_kept(self, name: str) -> bool:
        """Whether a file is there just as the run wrote it; read once."""
        if name not in self.info.files:
            return False
        if name not in self._sound:
            path = self.folder / name
            if not path.is_file() or checksum(path) != self.info.files[name]:
                return False
            self._sound.add(name)
        return True

    def drop_damaged(self) -> list[str]:
        """Remove the listed tables that are not what the run wrote; their names."""
        damaged = [name for name in self.info.files if name.endswith(".parquet") and not self.is_kept(name)]
        for name in damaged:
            (self.folder / name).unlink(missing_ok=True)
            del self.info.files[name]
        return damaged

    def discard_files(self) -> None:
        """Remove what the run lists as its own, and nothing else that may lie in the folder.

        run.json goes last: until then the folder is a run, whatever happens.
        """
        for name in self.info.files:
            path = self.folder / name
            if path.parent == self.folder and (path.is_file() or path.is_symlink()):
                path.unlink()
                draft_of(path).unlink(missing_ok=True)
        self.discard_parts()
        (self.folder / "run.json").unlink()

    def discard_parts(self) -> None:
        """Remove finished parts; a link in their place is removed and not followed."""
        parts = self.folder / PARTS
        if parts.is_symlink():
            parts.unlink()
        elif parts.is_dir():
            shutil.rmtree(parts)

    def summary(self) -> str:
        """What the run found, in a few lines."""
        return display().text(self)

    @property
    def verdict(self) -> list[str]:
        """What the run found, in sentences, the most important first."""
        return display().verdict(self)

    @property
    def findings(self) -> list[Finding]:
        """What the run found, as data: the verdict is these in words."""
        return display().findings(self)

    def pivot(self, measure: str) -> pl.DataFrame:
        """One measure as a table: a row for each perturbation, a column for each system, or for each scorer.

        Whatever else differs between the numbers – language pair, scorer, level – has a column before them.
        """
        known = self.measures["measure"].unique(maintain_order=True).to_list()
        if measure not in known:
            raise UserError(f"{self.folder} has no measure {measure}. {did_you_mean(measure, known)}")
        rows = self.measures.filter(pl.col("measure") == measure)
        across = "system" if rows["system"].n_unique() > 1 or rows["scorer"].null_count() == rows.height else "scorer"
        names = ("language_pair", "group", "system", "scorer", "perturbation", "level")
        here = [name for name in names if name in rows.columns and name != across]
        index = [name for name in here if rows[name].n_unique() > 1] or ["measure"]
        whole = rows.with_columns(pl.col(across).fill_null("all"))
        return whole.pivot(across, index=index, values="value", aggregate_function="first")

    def plot(self, kind: str | None = None) -> Any:
        """A chart of the report, as an Altair chart: the first one, or the one of that name."""
        return display().plot(self, kind)

    def examples(self, worst: int = 20) -> pl.DataFrame:
        """The texts behind the numbers, those with the largest damage first."""
        return display().examples(self, worst)

    def report(self, path: Path | str) -> Path:
        """Write the report: one HTML file that needs nothing else."""
        return display().report(self, Path(path))

    def to_latex(self) -> str:
        """The tables for a paper, with booktabs."""
        return display().latex(self)

    def to_pandas(self) -> Any:
        """The measures as a DataFrame of pandas."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise UserError("pandas is not installed: pip install pandas, or use run.measures.") from None
        return pandas.DataFrame(self.measures.to_dict(as_series=False))

    def __dir__(self) -> list[str]:
        """What users of a run need; what studies write it with is not shown."""
        return sorted({name for name in super().__dir__() if name.startswith("__")} | FOR_USERS)

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
        """The results, tidy: one number a row."""
        return self.table("measures")


def runs_below(folder: Path | str) -> list[Run]:
    """The runs in a folder, up to two folders deep, the newest first; what cannot be opened is passed over."""
    top, found = Path(folder), []
    if not top.is_dir():
        raise UserError(f"{top} is not a folder.")
    for file in [*top.glob("run.json"), *top.glob("*/run.json"), *top.glob("*/*/run.json")]:
        with suppress(UserError):
            found.append(Run.open(file.parent))
    return sorted(found, key=lambda run: run.info.created, reverse=True)


def _first_fault(error: Exception) -> str:
    """What is wrong first, and at which field where pydantic says so."""
    found: list[Any] = getattr(error, "errors", list)()
    if not found:
        return str(error).split("\n", 1)[0]
    where = ".".join(map(str, found[0]["loc"]))
    return f"{where}: {found[0]['msg']}" if where else str(found[0]["msg"])


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The first option that a run was made with and that is another now; nothing where there is none."""
    for key in sorted(dict.fromkeys([*new, *old]), key=lambda key: key == "data"):
        before, now = old.get(key), new.get(key)
        if before != now:
            if key == "data" and (named := _unhashed(before)) == _unhashed(now):
                choosing = ", ".join(map(setting, ("limit", "columns", "reference")))
                return (
                    f"was made with other segments of {', '.join(named)}: the data have changed, or the options that "
                    f"choose from them ({choosing})"
                )
            name = next((name for name, flag in FLAGS.items() if flag == key), key)
            was, says = (_said(name, value) for value in (before, now))
            return f"was made with {was}; this command says {says}"
    return ""


def _begin_again() -> str:
    return f"Use another {setting('out')}, or {setting('restart', True)} to begin again."


def _unhashed(data: Any) -> list[str]:
    """Names of data without the hash of their content."""
    return [str(name).rsplit("#", 1)[0] for name in (data if isinstance(data, list) else [data])]


def _said(name: str, value: Any) -> str:
    """An option and its value, cut where it is long."""
    if value in (None, [], ""):
        return f"no {setting(name)}"
    if isinstance(value, int | float):
        return setting(name, value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return setting(name, text if len(text) <= 60 else text[:59] + "…")


AnyRun = Run | Path | str
"""A run, or the folder of one."""


def opened(runs: AnyRun | Sequence[AnyRun]) -> list[Run]:
    """The runs that were named."""
    given = [runs] if isinstance(runs, Run | Path | str) else runs
    return [run if isinstance(run, Run) else Run.open(run) for run in given]


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    """The table with control characters made visible: names come from users and files, a CSV file goes to terminals."""
    changes = {}
    for column in table.select(pl.col(pl.String)).get_columns():
        hidden = {text: visible(text) for text in column.drop_nulls().unique() if visible(text) != text}
        if hidden:
            changes[column.name] = column.replace(hidden)
    return table.with_columns(**changes)


def run_names(runs: Sequence[Run]) -> list[str]:
    """The names of their folders, with as many folders above as tell them apart: `main/run` and `branch/run`."""
    folders = [run.folder.absolute() for run in runs]
    for depth in range(1, max((len(folder.parts) for folder in folders), default=0)):
        names = [str(Path(*folder.parts[-depth:])) for folder in folders]
        if len(set(names)) == len(set(folders)):
            return names
    return [str(folder) for folder in folders]
