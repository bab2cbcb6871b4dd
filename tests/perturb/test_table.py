"""A table of perturbed lines is there as a whole, or not at all."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from babelquake.errors import ResumableError
from babelquake.perturb.suite import suite
from babelquake.perturb.table import write_perturb_table


def test_a_full_disk_leaves_the_old_table_and_promises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    table = tmp_path / "t.parquet"
    table.write_bytes(b"old")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(ResumableError, match=r"t\.parquet was not written") as told:
        write_perturb_table(table, suite("misspell"), [("a line", None)], lang="en", seed=0, vocabulary=None)
    assert "is kept" not in str(told.value)
    assert table.read_bytes() == b"old" and [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
