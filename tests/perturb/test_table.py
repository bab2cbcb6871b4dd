"""A table of perturbed lines is there as a whole, or not at all."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from babelquake.errors import ResumableError, UserError
from babelquake.perturb.suite import suite
from babelquake.perturb.table import perturb_table, write_perturb_table


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


def test_a_suite_does_without_a_model_and_a_single_probe_asks_for_one() -> None:
    made = perturb_table("kanojia2021", ["The cat did not sit on the mat."], lang="en", replicates=1)
    assert made["perturbation"].n_unique() == 13 and "mask-replace" not in set(made["perturbation"])
    with pytest.raises(UserError, match=r"mask-replace\[model="):
        perturb_table("mask-replace", ["The cat did not sit on the mat."], lang="en")
