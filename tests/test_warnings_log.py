"""Remarks: logged, and counted by whoever collects."""

import logging
from threading import Thread

import pytest

from babelquake.warnings_log import collecting, noted, remark


def test_a_text_counts_once_and_nameless_things_add_up() -> None:
    with collecting() as outer, collecting() as inner:
        remark("cut by a", ["x", "y"])
        remark("cut by a", ["y", "z"])
        remark("refused", 2)
        remark("refused", 1)
        remark("never", 0)
    expected = {"cut by a": 3, "refused": 3}
    assert inner.take() == outer.take() == expected and inner.take() == {}
    remark("refused", 1)
    assert outer.take() == {}, "what comes after the context is not its own"


def test_remarks_of_threads_are_not_lost() -> None:
    with collecting() as remarks:
        threads = [Thread(target=lambda: [remark("x", 1) for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert remarks.take() == {"x": 400}


def test_it_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "babelquake"):
        remark("texts of which m read the first 512 tokens only", ["a"] * 1500)
    assert caplog.messages == [noted("texts of which m read the first 512 tokens only", 1500)]
    assert noted("x", 1500) == "x: 1,500."


def test_a_run_says_it_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "babelquake"), collecting():
        for _ in range(5):
            remark("refused", 1)
    assert caplog.messages == ["refused: 1."]
