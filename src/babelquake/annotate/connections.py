"""Connections to the app, bounded: what a stranger can do without a token must not keep annotators out.

How many connections there are at a time has bounds, from one address and together, and a connection that does not say
what it wants is closed.
"""

import signal
import threading
from asyncio import TimerHandle, Transport
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK = 10.0
"""For the headers of a connection's first request to arrive."""
CONNECTIONS = 800
"""Connections at a time; systems often allow a process 1,024 open files."""
FROM_ONE_ADDRESS = 250
"""Of them from one address; this machine's own, where a proxy may be, has no such bound."""
_OPEN: Counter[str] = Counter()


class Bounded(H11Protocol):
    """One connection."""

    _address = ""
    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Close it at once where there are too many, and soon where nothing is asked."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        _OPEN[self._address] += 1
        here = self._address in ("127.0.0.1", "::1")
        if _OPEN.total() > CONNECTIONS or (_OPEN[self._address] > FROM_ONE_ADDRESS and not here):
            transport.close()
            return
        self._deadline = self.loop.call_later(SECONDS_TO_ASK, self._close_unasked)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no longer."""
        _OPEN[self._address] -= 1
        if not _OPEN[self._address]:
            del _OPEN[self._address]
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _close_unasked(self) -> None:
        if self.cycle is None:  # no request has begun
            self.transport.close()


class Server(uvicorn.Server):
    """A server that signals end in good order: then the command has done what it was asked to, with status 0."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """While this lasts signals end the server; uvicorn's own would send them again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {}
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
