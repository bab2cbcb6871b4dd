"""When to ask a paid service again, when to stop, and what to tell the user.

Time-outs, refused connections, 429, 5xx and web pages instead of JSON were not charged: they are tried again with
exponential back-off and jitter, or after as long as `Retry-After` asks. An answer with status 200 was paid for,
whatever it holds: it is handed back as far as it can be read, and asking again is the caller's decision. What stays
broken ends in a `ResumableError`; a spent quota ends in a `QuotaError` at once. Keys come from the environment and are
taken out of whatever is quoted.
"""

import math
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

from babelquake.errors import QuotaError, ResumableError, StoppedError, UserError, setting
from babelquake.escape import visible
from babelquake.http.body import is_web_page, masked, message, parsed, salvaged, without_secret
from babelquake.http.wire import Response, Wire
from babelquake.interrupts import pause, stopping

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds of back-off after the first failure, and at most."""


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
