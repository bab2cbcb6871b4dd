"""Progress where there is no terminal: CI logs and notebooks."""

import pytest

from babelquake.engine import progress
from babelquake.engine.progress import Progress, duration


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that is moved by hand."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_thirty_seconds_says_share_and_time_left(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress("scoring with comet", 1000) as bar:
        for _ in range(40):
            clock[0] += 2
            bar.advance(10)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0] == "scoring with comet: 15 % (150 of 1,000 segments), about 3 min left"


def test_quick_work_and_quiet_work_say_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("quick", 10) as bar:
        bar.advance(10)
    with Progress("quiet", 10, quiet=True) as bar:
        clock[0] += 100
        bar.advance(5)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "words"), [(40, "40 s"), (360, "6 min"), (5400, "1.5 h")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
