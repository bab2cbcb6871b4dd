"""Why a damaged cache is read page by page: an unfinished run has the translations it paid for nowhere else."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from babelquake.engine import Cache, Engine
from babelquake.runs.run import Run
from babelquake.studies.mt.study import mt

PAGE = 4096
SEGMENTS = 600


def study(out: Path, cache: Path) -> Run:
    texts = [f"Der Zug Nummer {row} nach Hamburg hat heute leider wieder etwas Verspätung." for row in range(SEGMENTS)]
    data = pl.DataFrame({"source": texts, "reference": texts}).with_columns(language_pair=pl.lit("de-en"))
    with closing(Cache(cache)) as store:
        engine = Engine(store, quiet=True)
        return mt(
            systems="faraway", data=data, suite="case[level=1]", scorers="chrf", out=out, resamples=100, engine=engine
        )


def interrupted(tmp_path: Path, faraway: type, monkeypatch: pytest.MonkeyPatch) -> int:
    """A run that is stopped after it has paid for most of its translations; how many those are."""
    translate = faraway.translate

    def until_stopped(self: object, texts: Sequence[str]) -> list[str]:
        if len(faraway.sent) > SEGMENTS:
            raise KeyboardInterrupt
        return translate(self, texts)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(faraway, "translate", until_stopped)
        study(tmp_path / "run", tmp_path / "cache.sqlite")
    assert not Run.open(tmp_path / "run").has("translations")
    return len(faraway.sent)


def break_a_page(cache: Path) -> None:
    """Overwrite one page in the middle of the file."""
    with cache.open("r+b") as file:
        file.seek(cache.stat().st_size // PAGE // 2 * PAGE)
        file.write(b"\xff" * PAGE)


@pytest.mark.slow
def test_what_was_paid_for_is_not_asked_again(tmp_path: Path, faraway: type, monkeypatch: pytest.MonkeyPatch) -> None:
    paid = interrupted(tmp_path, faraway, monkeypatch)
    break_a_page(tmp_path / "cache.sqlite")
    study(tmp_path / "run", tmp_path / "cache.sqlite")
    twice = len(faraway.sent) - len(set(faraway.sent))
    assert paid > SEGMENTS
    assert twice < 100, "at most what stood on the broken page"
