"""Remarks: logged, and counted by whoever collects."""

import logging
from threading import Thread

import pytest

from babelquake.warnings_log import collecting, count_warning, with_count


def test_a_text_counts_once_and_nameless_things_add_up() -> None:
    with collecting() as outer, collecting() as inner:
        count_warning("cut by a", ["x", "y"])
        count_warning("cut by a", ["y", "z"])
        count_warning("refused", 2)
        count_warning("refused", 1)
        count_warning("never", 0)
    expected = {"cut by a": 3, "refused": 3}
    assert inner.take() == outer.take() == expected and inner.take() == {}
    count_warning("refused", 1)
    assert outer.take() == {}, "what comes after the context is not its own"


def test_remarks_of_threads_are_not_lost() -> None:
    with collecting() as remarks:
        threads = [Thread(target=lambda: [count_warning("x", 1) for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert remarks.take() == {"x": 400}


def test_it_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "babelquake"):
        count_warning("texts of which m read the first 512 tokens only", ["a"] * 1500)
    assert caplog.messages == [with_count("texts of which m read the first 512 tokens only", 1500)]
    assert with_count("x", 1500) == "x: 1,500."


def test_a_run_says_it_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "babelquake"), collecting():
        for _ in range(5):
            count_warning("refused", 1)
    assert caplog.messages == ["refused: 1."]
