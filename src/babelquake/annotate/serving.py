"""Running the app: `babelquake annotate serve`.

Connections to the app, bounded: what a stranger can do without a token must not keep annotators out. How many
connections there are at a time has bounds, from one address and together, and a connection that does not say what it
wants is closed.
"""

import signal
import socket
import threading
from asyncio import TimerHandle, Transport
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from babelquake.annotate.project import Project
from babelquake.errors import UserError
from babelquake.paths import install_line

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


SECONDS_TO_FINISH = 1
"""For requests under way once the server is told to stop; each takes milliseconds."""
BACKLOG = 512


def serve(
    path: str | Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    https: bool = False,
    public_url: str = "",
    tell: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a project until a signal comes; requests under way are finished. `tell` is told the address.

    With `https` (behind a reverse proxy that speaks it) cookies travel over encrypted connections only. `public_url` is
    where annotators reach the app, for the links in invitations.
    """
    try:
        import uvicorn

        from babelquake.annotate.app import make_app
    except ImportError as error:
        raise UserError(f"serving needs FastAPI and uvicorn: {install_line('annotate')}.") from error
    project = Project(path)
    with _listening(host, port) as listener:
        address = f"http://{host}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            make_app(project, secure_cookies=https, public_url=public_url or address),
            http=Bounded,
            log_level="warning",
            access_log=False,
            server_header=False,
            forwarded_allow_ips="127.0.0.1,::1",
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
        tell(address)
        Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """A socket on that address; an address that is taken, or not ours, is the user's to change.

    The protocol is named because only then answers are sent without waiting for more to send with them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        listener.close()
        raise UserError(f"--host {host} --port {port} cannot be listened on: {error.strerror or error}.") from None
