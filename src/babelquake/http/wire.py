"""One POST with a deadline for the whole of it and a bound on what comes back.

Requests run in one background event loop, because a task can be ended at any moment – while a server drips its headers
byte by byte, while the user stops the run – and a blocked read cannot.
"""

import asyncio
import os
import ssl
import threading
import time
import zlib
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from babelquake.errors import StoppedError
from babelquake.interrupts import IN_FLIGHT, SLICE, stopping
from babelquake.limits import most

if TYPE_CHECKING:
    import httpx

STARTING = threading.Lock()
"""Held while the event loop is looked for."""
T = TypeVar("T")


@dataclass(frozen=True)
class Response:
    """What came back. `cut` says why there is less of it than the server meant to send."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: str = ""


class Wire:
    """Connections to one service. Every method may be called from any thread."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._client: httpx.AsyncClient | None = None
        self._lock = threading.Lock()

    def post(self, url: str, json: Any, headers: Mapping[str, str], params: Mapping[str, str] | None) -> Response:
        """The answer; TimeoutError or an httpx.RequestError where there is none, StoppedError at the user's wish."""
        return _waited_for(self._post(url, json, {**headers, "Accept-Encoding": "identity"}, params))

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            _waited_for(client.aclose())

    async def _post(
        self, url: str, json: Any, headers: Mapping[str, str], params: Mapping[str, str] | None
    ) -> Response:
        import httpx

        received = bytearray()
        response: httpx.Response | None = None
        try:
            async with asyncio.timeout(self._timeout):
                request = self._connections().build_request(
                    "POST", url, json=json, headers=dict(headers), params=params
                )
                response = await self._connections().send(request, stream=True)
                cut = await _read(response, received)
        except TimeoutError:
            if response is None or not response.is_success:
                raise
            cut = "was not complete in time"
        except httpx.RequestError:
            if response is None or not response.is_success:
                raise
            cut = "was cut off"
        finally:
            if response is not None:
                await response.aclose()
        return Response(response.status_code, response.headers, bytes(received), cut)

    def _connections(self) -> "httpx.AsyncClient":
        import httpx

        with self._lock:
            if self._client is None:
                limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
                self._client = httpx.AsyncClient(
                    timeout=self._timeout, follow_redirects=False, verify=_certificates(), limits=limits
                )
            return self._client


async def _read(response: "httpx.Response", received: bytearray) -> str:
    """Read a body, unpacking as much as an answer may hold and no more; why it was cut, or nothing."""
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        return f"was packed as {packing!r}, which was not asked for"
    unpack = None if packing in ("identity", "") else zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    largest = most("answer")
    async for block in response.aiter_raw():
        room = largest - len(received)
        try:
            received += block[: room + 1] if unpack is None else unpack.decompress(block, room + 1)
        except zlib.error:
            return "was packed wrongly"
        if len(received) > largest:
            received.clear()
            return f"is longer than {largest // 2**20} MB"
    return ""


def _waited_for(work: Coroutine[Any, Any, T]) -> T:
    """Run in the background loop and wait in slices; a request under way has a moment left once the run is stopped."""
    task = asyncio.run_coroutine_threadsafe(work, _loop())
    until: float | None = None
    while True:
        try:
            return task.result(SLICE)
        except NotYet:
            if task.done():
                raise
        except CancelledError:
            raise StoppedError("interrupted while a request was under way.") from None
        except BaseException:
            task.cancel()
            raise
        if until is None and stopping():
            until = time.monotonic() + IN_FLIGHT
        if until is not None and time.monotonic() > until:
            task.cancel()


def _loop() -> asyncio.AbstractEventLoop:
    """The one event loop of this process, however many threads ask first: connections cannot change loops."""
    with STARTING:
        return _started(os.getpid())


@cache
def _started(process: int) -> asyncio.AbstractEventLoop:
    """An event loop in its own thread; a forked child gets another."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=f"babelquake-http-{process}", daemon=True).start()
    return loop


@cache
def _certificates() -> ssl.SSLContext:
    """Read once, because reading them takes longer than many a request."""
    import httpx

    return httpx.create_ssl_context()
