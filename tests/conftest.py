"""Fixtures every room's tests share."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real public data, from BABELQUAKE_DATA or beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BABELQUAKE_DATA", beside))
    if not folder.is_dir():
        pytest.skip("needs the public test data: set BABELQUAKE_DATA to its folder")
    return folder


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither fill nor read the user's cache."""
    os.environ["BABELQUAKE_CACHE"] = str(tmp_path_factory.mktemp("cache") / "results.sqlite")
