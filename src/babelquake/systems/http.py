"""What all systems behind HTTP share: when to try again, when to stop, and what to tell the user.

A provider's module says how a request looks, where the translations are in the answer, and what its error codes mean.
Time-outs, cut connections, 429, 5xx, HTML instead of JSON and answers with too few results are tried again with
exponential back-off and jitter, or after as long as `Retry-After` asks. What stays broken ends in a `ResumableError`; a
spent quota ends in a `QuotaError` at once. Keys come from the environment and are taken out of whatever is quoted.
"""

import os
import random
import ssl
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar
from urllib.parse import urlsplit

from babelquake.errors import ResumableError, UserError
from babelquake.runs.signature import signature
from babelquake.spec import Range
from babelquake.systems.base import Limits, QuotaError, System

if TYPE_CHECKING:
    import httpx

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds of back-off after the first failure, and at most."""
LONGEST_RETRY_AFTER = 300.0
"""A provider that asks for more seconds than this has, for now, said no."""
QUOTED = 300
"""Characters of a provider's message that an error quotes."""


class Verdict(Enum):
    """What an HTTP error means for the call."""

    AGAIN = "try again"
    QUOTA = "stop until the quota is renewed"
    KEY = "the key is wrong"
    REFUSED = "the request is wrong"


@dataclass(frozen=True)
class Request:
    """One POST of JSON."""

    url: str
    json: Any
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)


class Remote(System):
    """A system behind HTTP. `rate` is calls per second, `concurrent` calls at the same time, `url` another endpoint."""

    remote = True
    label: ClassVar[str]
    """The provider as errors name it."""
    endpoint: ClassVar[str]
    """Where requests go unless `url` says otherwise."""
    variable: ClassVar[str]
    """The environment variable that holds the key."""
    key_optional: ClassVar[bool] = False
    """Whether the provider may be asked without a key."""
    batch: ClassVar[Limits]
    """The provider's documented limits for one request."""

    def __init__(
        self,
        source: str,
        target: str,
        url: str | None = None,
        rate: Annotated[float | None, Range(0.001, 10_000)] = None,
        concurrent: Annotated[int | None, Range(1, 256)] = None,
        retries: Annotated[int, Range(0, 20)] = 6,
        timeout: Annotated[float, Range(0.01, 3600)] = 60.0,
    ) -> None:
        self.source = source
        self.target = target
        self.url = self._checked(url or self.endpoint).rstrip("/")
        self._concurrent = concurrent or self.batch.concurrent
        self._retries = retries
        self._timeout = timeout
        self._pause = 1 / rate if rate else 0.0
        self._next_turn = 0.0
        self._lock = threading.Lock()

    @staticmethod
    def sleep(seconds: float) -> None:
        """Wait; a method of its own so that tests need not."""
        time.sleep(seconds)

    @abstractmethod
    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The provider's request for these texts."""

    @abstractmethod
    def answers(self, body: Any) -> list[str]:
        """The translations in the provider's answer; KeyError, IndexError or TypeError when they are not there."""

    def verdict(self, status: int, body: Any) -> Verdict:
        """What an HTTP error means; providers add their own codes."""
        if status in (408, 425, 429) or status >= 500:
            return Verdict.AGAIN
        if status == 402:
            return Verdict.QUOTA
        return Verdict.KEY if status in (401, 403) else Verdict.REFUSED

    @property
    def limits(self) -> Limits:
        """The provider's limits, with the user's concurrency."""
        return replace(self.batch, concurrent=self._concurrent)

    @property
    def signature(self) -> str:
        """Provider, languages and, where it is not the usual one, the endpoint."""
        elsewhere = self.url if self.url != self.endpoint.rstrip("/") else None
        return signature(type(self).__name__.lower(), source=self.source, target=self.target, url=elsewhere)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One translation per text; a text twice is sent once, blank ones not at all."""
        done = {text: text for text in texts if not text.strip()}
        for batch in self._batches([text for text in dict.fromkeys(texts) if text not in done]):
            done.update(zip(batch, self._call(batch), strict=True))
        return [done[text] for text in texts]

    def close(self) -> None:
        """Close the connections."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    @property
    def key(self) -> str | None:
        """The key from the environment; a missing one is an error where the provider needs one."""
        key = os.environ.get(self.variable, "").strip() or None
        if key is None and not self.key_optional:
            raise UserError(f"{self.label} needs a key: set the environment variable {self.variable}.")
        return key

    @cached_property
    def _client(self) -> "httpx.Client":
        import httpx

        return httpx.Client(timeout=self._timeout, follow_redirects=False, verify=_certificates())

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Cut texts so that every call is within the limits."""
        most = self.batch.characters or float("inf")
        batch: list[str] = []
        size = 0
        for text in texts:
            if len(text) > most:
                raise UserError(
                    f"{self.label} takes {most:,} characters at once, but “{text[:40]}…” has {len(text):,}."
                )
            if batch and (len(batch) == self.batch.texts or size + len(text) > most):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _call(self, texts: list[str]) -> list[str]:
        """One request, again and again until it is answered or hopeless."""
        key = self.key
        request = self.request(texts, key)
        trouble = _TroubleError("")
        for attempt in range(self._retries + 1):
            if attempt:
                self.sleep(_wait(attempt, trouble.retry_after))
            self._take_turn()
            try:
                return self._once(request, len(texts), key)
            except _TroubleError as again:
                trouble = again
        raise self._gave_up(trouble)

    def _once(self, request: Request, count: int, key: str | None) -> list[str]:
        import httpx

        try:
            response = self._client.post(
                request.url, json=request.json, headers=request.headers, params=request.params or None
            )
        except httpx.TimeoutException:
            raise _TroubleError(f"did not answer within {self._timeout:g} seconds") from None
        except httpx.UnsupportedProtocol:
            raise UserError(f"'{self.url}' is no address of {self.label}: expected https://…") from None
        except httpx.RequestError as error:
            raise _TroubleError(f"cut or refused the connection ({type(error).__name__})") from None
        except httpx.InvalidURL:
            raise UserError(f"'{self.url}' is no address of {self.label}: expected https://…") from None
        body = _json(response)
        if not response.is_success:
            raise self._failure(response, body, key)
        if body is None:
            raise _TroubleError(f"answered with {_kind(response)} instead of JSON")
        try:
            answers = self.answers(body)
        except (KeyError, IndexError, TypeError, AttributeError):
            raise _TroubleError("answered with JSON that holds no translations") from None
        if len(answers) != count or not all(isinstance(answer, str) for answer in answers):
            raise _TroubleError(f"answered with {len(answers)} translations for {count} texts")
        return answers

    def _failure(self, response: "httpx.Response", body: Any, key: str | None) -> Exception:
        said = _message(body)
        if key:
            said = said.replace(key, "[key]")
        quoted = f": {said[:QUOTED]}" if said else ""
        status = response.status_code
        match self.verdict(status, body):
            case Verdict.AGAIN:
                retry_after = _retry_after(response.headers.get("Retry-After"))
                if retry_after and retry_after > LONGEST_RETRY_AFTER:
                    return QuotaError(f"{self.label} asks to wait {retry_after:.0f} seconds (HTTP {status}){quoted}")
                return _TroubleError(f"answered HTTP {status}{quoted}", retry_after, throttled=status in (403, 429))
            case Verdict.QUOTA:
                return QuotaError(f"the quota at {self.label} is spent (HTTP {status}){quoted}")
            case Verdict.KEY if key is None:
                return UserError(f"{self.label} wants a key (HTTP {status}){quoted}. Set {self.variable}.")
            case Verdict.KEY:
                return UserError(f"{self.label} does not accept the key in {self.variable} (HTTP {status}){quoted}")
        return UserError(f"{self.label} refused the request (HTTP {status}){quoted}")

    def _gave_up(self, trouble: "_TroubleError") -> ResumableError:
        times = f"{self._retries + 1} times" if self._retries else "once"
        if trouble.throttled:
            return QuotaError(f"{self.label} {trouble}, tried {times}. A lower rate= may help, or waiting.")
        return ResumableError(f"{self.label} {trouble}, tried {times}. The same command continues from here.")

    def _take_turn(self) -> None:
        """Keep calls `1 / rate` seconds apart, over all threads."""
        if self._pause:
            with self._lock:
                now = time.monotonic()
                wait = self._next_turn - now
                self._next_turn = max(now, self._next_turn) + self._pause
            if wait > 0:
                self.sleep(wait)

    def _checked(self, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"'{url}' is no address of {self.label}: expected https://…")
        if parts.username or parts.password or parts.query:
            raise UserError(f"the address of {self.label} may hold no key or password: set {self.variable} instead.")
        return url


class _TroubleError(Exception):
    """A failure that may pass."""

    def __init__(self, message: str, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled


@cache
def _certificates() -> ssl.SSLContext:
    """Read once, because reading them takes longer than many a request."""
    import httpx

    return httpx.create_ssl_context()


def _wait(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what was asked for, or a random half to whole of 1, 2, 4, … seconds."""
    if retry_after is not None:
        return retry_after
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1)


def _retry_after(header: str | None) -> float | None:
    """Seconds of a `Retry-After` header, which gives seconds or a date (RFC 9110 §10.2.3)."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _json(response: "httpx.Response") -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _kind(response: "httpx.Response") -> str:
    return "a web page" if response.text.lstrip()[:1] == "<" else "something"


def _message(body: Any) -> str:
    """What the provider says went wrong, in any of the shapes in use."""
    said = body
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return said if isinstance(said, str) else ""
