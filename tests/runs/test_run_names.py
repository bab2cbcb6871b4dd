"""Runs whose folders have the same name can be told apart."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from babelquake.runs.run import run_names


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["runs/main", "runs/branch"], ["main", "branch"]),
        (["main/run", "branch/run"], ["main/run", "branch/run"]),
        (["a/x/run", "b/x/run", "b/y/run"], ["a/x/run", "b/x/run", "b/y/run"]),
        (["runs/main", "runs/main"], ["main", "main"]),
        ([], []),
    ],
)
def test_as_many_folders_as_it_takes(folders: list[str], names: list[str]) -> None:
    assert run_names([SimpleNamespace(folder=Path(folder)) for folder in folders]) == names  # type: ignore[list-item]


def test_the_folder_one_stands_in_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_names([SimpleNamespace(folder=Path())]) == [tmp_path.name]  # type: ignore[list-item]
