"""The cache as the command line shows it."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from babelquake.engine import Cache


def test_info_verify_and_clear(cli: Callable[..., Result], tmp_path: Path) -> None:
    store = Cache(tmp_path / "cache.sqlite")
    store.put({b"key": b"value"})
    store.close()
    assert json.loads(cli("cache", "info", "--json").stdout)["entries"] == 1
    assert cli("cache", "verify").stdout == "1 entries sound, 0 damaged and removed\n"
    assert cli("cache", "clear").stdout == "1 entries removed\n"
    assert "entries: 0" in cli("cache", "info").stdout


def test_a_file_that_is_no_cache_is_left_alone(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_bytes(b"nonsense" * 1000)
    assert "not a babelquake cache" in cli("cache", "info", status=2).stderr
    assert "not a babelquake cache" in cli("cache", "clear", status=2).stderr
    assert (tmp_path / "cache.sqlite").read_bytes() == b"nonsense" * 1000


def test_looking_at_a_cache_that_is_not_there_makes_none(cli: Callable[..., Result], tmp_path: Path) -> None:
    assert "entries: 0" in cli("cache", "info").stdout
    assert "there is no cache" in cli("cache", "clear", status=2).stderr
    assert not (tmp_path / "cache.sqlite").exists()
