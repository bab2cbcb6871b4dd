"""Fault tests kill, wait and run again."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are slow."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
