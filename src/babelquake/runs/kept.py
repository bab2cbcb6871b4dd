"""Which files of a folder are the run's own, and whether they are still what it wrote.

run.json lists every file with a checksum. Only what is listed is ever removed, and only what matches is read.
"""

import shutil
from pathlib import Path

from babelquake.files import checksum, draft_of
from babelquake.runs.info import RunInfo
from babelquake.runs.table_parts import FOLDER as PARTS

TABLES = ("segments", "variants", "translations", "scores", "measures")
REPORT, MEASURES = "report.html", "measures.csv"
BEFORE = frozenset({*(f"{table}.parquet" for table in TABLES), REPORT, MEASURES})
"""What runs wrote before run.json listed it."""


class Kept:
    """The files of a run."""

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.info = info
        self._sound: set[str] = set()

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
        for name in self.info.files or BEFORE:
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
