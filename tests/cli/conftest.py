"""The command line in this process, with a cache of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

Command = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Call with the words of a command line, `input=` for standard input; relative paths are below `tmp_path`."""
    from babelquake.cli.app import app

    monkeypatch.setenv("BABELQUAKE_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.chdir(tmp_path)

    def run(*words: str, input: str | bytes | None = None, status: int = 0) -> Result:
        result = CliRunner().invoke(app, list(words), input=input)
        unexpected = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not unexpected, result.exception
        assert result.exit_code == status, result.output
        return result

    return run


def news() -> str:
    """A small test set with a blank segment and an emoji."""
    rows = [
        ("source", "reference"),
        ("Der Zug fährt heute nicht nach Hamburg.", "The train does not go to Hamburg today."),
        ("Kommst du morgen?", "Are you coming tomorrow?"),
        ("", ""),
        ("👩🏽‍💻 arbeitet heute", "She works today"),
    ]
    return "".join("\t".join(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> str:
    """The test set as a file."""
    (tmp_path / "news.de-en.tsv").write_text(news())
    return "news.de-en.tsv"
