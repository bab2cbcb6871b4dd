"""Connections: many threads, one event loop."""

import asyncio
import threading
import time

import pytest

from babelquake.http import wire


def test_threads_that_ask_first_share_one_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections stay with the loop that opened them: a second loop would break every other request."""
    make = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.05)
        return make()

    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    wire._started.cache_clear()
    found: set[asyncio.AbstractEventLoop] = set()
    threads = [threading.Thread(target=lambda: found.add(wire._loop())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1
