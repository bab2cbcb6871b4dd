"""A careful HTTP client for paid services: when to ask again, when to stop, what of an answer can be read, what to say.

Time-outs, refused connections, 429, 5xx and web pages instead of JSON were not charged: they are tried again with
exponential back-off and jitter, or after as long as `Retry-After` asks. An answer with status 200 was paid for,
whatever it holds: it is handed back as far as it can be read, and asking again is the caller's decision. What stays
broken ends in a `ResumableError`; a spent quota ends in a `QuotaError` at once. Keys come from the environment and are
taken out of whatever is quoted.

Requests run in one background event loop, because a task can be ended at any moment – while a server drips its headers
byte by byte, while the user stops the run – and a blocked read cannot. Each has a deadline for the whole of it and a
bound on what comes back.
"""

import asyncio
import json
import math
import os
import random
import re
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from babelquake.errors import QuotaError, ResumableError, StoppedError, UserError, setting
from babelquake.escape import visible
from babelquake.interrupts import IN_FLIGHT, SLICE, pause, stopping
from babelquake.limits import most

if TYPE_CHECKING:
    import httpx

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds of back-off after the first failure, and at most."""
LONGEST_RETRY_AFTER = 300.0
"""A provider that asks for more seconds than this has, for now, said no."""
TOLD = 5.0
"""Waiting at a terminal is reported from so many seconds on."""
QUOTED = 300
"""Characters of a provider's message that an error quotes."""
TOO_MUCH = re.compile(
    r"\btoo (?:long|large|many|big)\b|\bexceed(?:s|ed|ing)?\b.*\b(?:limit|size|length|maximum)|"
    r"\bmaximum\b.*\bexceeded\b",
    re.IGNORECASE,
)
"""How services say, with a 400, that a request is too large."""
MARKS = re.compile(r'"(?:[^"\\]++|\\.)*+("?)|[\[\]{}]', re.DOTALL)
"""What says where JSON could be closed: strings, of which the last may be cut, and brackets outside of them."""
SHORTEST_KEY = 8
"""Characters of a key that is masked in answers; local servers are often given a short word."""
DEEPEST = 64
"""How deeply an answer may be nested."""
STARTING = threading.Lock()
"""Held while the event loop is looked for."""
T = TypeVar("T")


def back_off(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what was asked for, or a random half to whole of 1, 2, 4, … seconds."""
    if retry_after is not None:
        return retry_after
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt - 1, 16)) * random.uniform(0.5, 1)


def retry_after(header: str | None) -> float | None:
    """Seconds of a `Retry-After` header, which gives seconds or a date (RFC 9110 §10.2.3).

    What is not a time to come – not a number, negative, a date that has passed – is ignored: the usual back-off holds.
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError):
            return None
    return seconds if not math.isnan(seconds) and seconds > 0 else None


class Verdict(Enum):
    """What an HTTP error means for the call."""

    AGAIN = "try again"
    QUOTA = "stop until the quota is renewed"
    KEY = "the key is wrong"
    TOO_LARGE = "ask for less at once"
    REFUSED = "the request is wrong"


def usual_verdict(status: int, body: Any) -> Verdict:
    """What an HTTP error means with most services."""
    if status in (408, 425, 429) or status >= 500:
        return Verdict.AGAIN
    if status == 402:
        return Verdict.QUOTA
    if status == 413 or (status == 400 and TOO_MUCH.search(message(body))):
        return Verdict.TOO_LARGE
    return Verdict.KEY if status in (401, 403) else Verdict.REFUSED


def _is_here(host: str) -> bool:
    """Whether an address is this machine's own."""
    return host in ("localhost", "::1") or host.startswith("127.")


@dataclass(frozen=True)
class Request:
    """One POST of JSON."""

    url: str
    json: Any
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Response:
    """What came back. `cut` says why there is less of it than the server meant to send."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: str = ""


@dataclass(frozen=True)
class Answer:
    """The JSON of an answer. `cut` says why it is only the beginning of one: what was received whole."""

    json: Any
    cut: str = ""


@dataclass(frozen=True)
class Service:
    """Who is asked: the name that errors use, where the key is, and what its error codes mean."""

    label: str
    variable: str
    """The environment variable that holds the key."""
    key_optional: bool = False
    """Whether the service may be asked without a key."""
    verdict: Callable[[int, Any], Verdict] = usual_verdict


class UnusableError(Exception):
    """The service answered, and may have charged for it, but not with what was asked for."""


class TooLargeError(Exception):
    """The service does not accept a request of this size."""


class Client:
    """Asks one service. `rate` is calls per second over all threads; `timeout` bounds each request as a whole."""

    def __init__(self, service: Service, rate: float | None = None, retries: int = 6, timeout: float = 60.0) -> None:
        self._service = service
        self._retries = retries
        self._timeout = timeout
        self._wire = Wire(timeout)
        self._pause = 1 / rate if rate else 0.0
        self._next_turn = 0.0
        self._lock = threading.Lock()

    @staticmethod
    def sleep(seconds: float) -> None:
        """Wait; a separate method so that tests need not."""
        pause(seconds)

    @property
    def key(self) -> str | None:
        """The key from the environment; a missing one is an error where the service needs one."""
        key = os.environ.get(self._service.variable, "").strip() or None
        if key is None and not self._service.key_optional:
            raise UserError(
                f"{self._service.label} needs a key: set the environment variable {self._service.variable}."
            )
        if key and not (key.isascii() and key.isprintable()):
            raise UserError(f"the key in {self._service.variable} contains characters that a key cannot have.")
        return key

    def address(self, url: str) -> str:
        """The address without a final slash; refused when it is none, or holds what belongs into the environment."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._no_address(url)
        if parts.username or parts.password or parts.query:
            raise UserError(
                f"the address of {self._service.label} must not contain a key or password: "
                f"set {self._service.variable} instead."
            )
        return url.rstrip("/")

    def post(self, request: Request, offline: bool = False) -> Answer:
        """The JSON of the answer, or as much of it as came whole where it was cut off.

        UnusableError where there is no JSON, TooLargeError where the service wants smaller requests. `offline` refuses
        to ask anybody but this machine.
        """
        if offline and not _is_here(host := urlsplit(request.url).hostname or ""):
            off = setting("offline", True)
            raise UserError(f"{off} forbids the network, and {self._service.label} is at {host}. Leave it out.")
        trouble = _TroubleError("")
        for attempt in range(self._retries + 1):
            if attempt:
                self._wait(back_off(attempt, trouble.retry_after))
            self._take_turn()
            if stopping():
                raise StoppedError("interrupted.")
            try:
                return self._once(request)
            except _TroubleError as again:
                trouble = again
        raise self._gave_up(trouble)

    def back_off(self, attempt: int) -> None:
        """Wait as before a further attempt, for callers that ask again because of what an answer held."""
        self._wait(back_off(attempt, None))

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _once(self, request: Request) -> Answer:
        import httpx

        try:
            response = self._wire.post(request.url, request.json, request.headers, request.params or None)
        except (TimeoutError, httpx.TimeoutException):
            raise _TroubleError(f"did not answer within {self._timeout:g} seconds") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise self._no_address(request.url) from None
        except httpx.RequestError as error:
            host = urlsplit(request.url).netloc
            raise _TroubleError(f"cut or refused the connection to {host} ({type(error).__name__})") from None
        body = masked(parsed(response.content), self.key)
        if not 200 <= response.status < 300:
            raise self._failure(response, body)
        if body is None and is_web_page(response.content):
            raise _TroubleError("answered with a web page instead of JSON")
        if body is not None:
            return Answer(body)
        if (part := masked(salvaged(response.content), self.key)) is None:
            raise UnusableError(f"the answer {response.cut or 'is not JSON'}")
        return Answer(part, response.cut or "was cut off")

    def _failure(self, response: Response, body: Any) -> Exception:
        service, key = self._service, self.key
        said = visible(without_secret(message(body), key))[:QUOTED]
        quoted = f": {said}" if said else ""
        status = response.status
        match service.verdict(status, body):
            case Verdict.AGAIN:
                wish = retry_after(response.headers.get("Retry-After"))
                if wish and wish > LONGEST_RETRY_AFTER:
                    return QuotaError(f"{service.label} asks to wait {duration(wish)} (HTTP {status}){quoted}")
                return _TroubleError(f"answered HTTP {status}{quoted}", wish, throttled=status in (403, 429))
            case Verdict.QUOTA:
                return QuotaError(f"the quota at {service.label} is used up (HTTP {status}){quoted}")
            case Verdict.TOO_LARGE:
                return TooLargeError(f"{service.label} does not accept a request of this size (HTTP {status}){quoted}")
            case Verdict.KEY if key is None:
                return UserError(f"{service.label} requires a key (HTTP {status}){quoted}. Set {service.variable}.")
            case Verdict.KEY:
                return UserError(
                    f"{service.label} does not accept the key in {service.variable} (HTTP {status}){quoted}"
                )
        return UserError(f"{service.label} refused the request (HTTP {status}){quoted}")

    def _gave_up(self, trouble: "_TroubleError") -> ResumableError:
        times = f"{self._retries + 1} times" if self._retries else "once"
        if trouble.throttled:
            return QuotaError(f"{self._service.label} {trouble}, tried {times}. Wait, or use a lower rate=.")
        return ResumableError(f"{self._service.label} {trouble}, tried {times}. The same command continues from here.")

    def _wait(self, seconds: float) -> None:
        if seconds >= TOLD and sys.stderr.isatty():
            print(f"babelquake: {self._service.label} rate limited, retrying in {seconds:.0f} s", file=sys.stderr)
        self.sleep(seconds)

    def _take_turn(self) -> None:
        """Keep calls `1 / rate` seconds apart, over all threads."""
        if self._pause:
            with self._lock:
                now = time.monotonic()
                wait = self._next_turn - now
                self._next_turn = max(now, self._next_turn) + self._pause
            if wait > 0:
                self.sleep(wait)

    def _no_address(self, url: str) -> UserError:
        return UserError(f"'{url}' is not an address of {self._service.label}: expected https://…")


class _TroubleError(Exception):
    """A failure that may pass and was not charged."""

    def __init__(self, message: str, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled


def duration(seconds: float) -> str:
    """A time as people say it; what a server says may be longer than the universe is old."""
    if seconds > 48 * 3600:
        return f"{seconds / 86400:.0f} days" if seconds < 1000 * 86400 else "years"
    return f"{seconds / 3600:.0f} hours" if seconds > 2 * 3600 else f"{seconds:.0f} seconds"


def parsed(content: bytes) -> Any:
    """The JSON, or None where there is none; nesting too deep to read counts as none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def salvaged(content: bytes) -> Any:
    """The JSON up to the last list entry that was received whole, where an answer was cut off; None if there is none.

    A service answers in the order it was asked, so that the entries before the cut belong to the first texts. One pass
    over the marks that count; what is nested deeper than any service's answer is none.
    """
    text = content.decode("utf-8", "ignore")
    stack: list[str] = []
    whole: tuple[int, str] | None = None
    for mark in MARKS.finditer(text):
        char = mark[0][0]
        if char == '"' and not mark[1]:
            break
        if char in "[{":
            if len(stack) == DEEPEST:
                return None
            stack.append("]" if char == "[" else "}")
            continue
        if char in "]}" and (not stack or stack.pop() != char):
            return None
        if stack and stack[-1] == "]":
            whole = mark.end(), "".join(reversed(stack))
    return parsed((text[: whole[0]] + whole[1]).encode()) if whole else None


def message(body: Any) -> str:
    """What the service says went wrong, in any of the shapes in use."""
    said = body
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return said if isinstance(said, str) else ""


def is_web_page(content: bytes) -> bool:
    """Whether this is mark-up for people, such as a hotel's log-in page."""
    return content.lstrip()[:1] == b"<"


def without_secret(text: str, secret: str | None) -> str:
    """The text with a key taken out, also where each of its characters may be URL-encoded."""
    return _as_it_may_be_written(secret).sub("[key]", text) if secret else text


def masked(body: Any, secret: str | None) -> Any:
    """An answer without the key that a server may have put into it: answers go to caches, tables and reports.

    What is short or a plain word is not a key worth hiding, and may well occur in a translation.
    """
    if not secret or len(secret) < SHORTEST_KEY or secret.isalpha():
        return body
    if isinstance(body, str):
        return without_secret(body, secret)
    if isinstance(body, list):
        return [masked(one, secret) for one in body]
    if isinstance(body, dict):
        return {without_secret(name, secret): masked(one, secret) for name, one in body.items()}
    return body


@cache
def _as_it_may_be_written(secret: str) -> re.Pattern[str]:
    characters = [
        f"(?:{re.escape(char)}|(?i:{''.join(f'%{byte:02x}' for byte in char.encode('utf-8', 'replace'))}))"
        for char in secret
    ]
    return re.compile("".join(characters))


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
