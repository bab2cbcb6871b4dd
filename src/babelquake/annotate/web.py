"""What the routes of the web app share: pages, headers, limits, connections, who is asking and what a form says.

Every text on a page is escaped, instructions are Markdown without HTML. Who is asking is found out before anything of a
body is read, and before anybody is slowed down for the wrong tokens of a neighbour at the same address. How many
connections there are at a time has bounds, from one address and together, and a connection that does not say what it
wants is closed: what a stranger can do without a token must not keep annotators out.
"""

import asyncio
import signal
import threading
import time
from asyncio import TimerHandle, Transport
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import parse_qsl

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from babelquake.annotate.people import (
    Annotator,
    annotator_in,
    annotator_of,
    is_admin,
    renewed,
    session_of,
    sign,
    signed,
    valid_session,
)
from babelquake.annotate.project import Project

ASSETS = {"annotate.css": "text/css", "annotate.js": "text/javascript", "spans.js": "text/javascript"}


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("babelquake.annotate", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page of that template."""
    return HTMLResponse(_templates().get_template(template).render(**values), status)


@lru_cache(maxsize=64)
def markdown(text: str) -> Markup:
    """Instructions as HTML: CommonMark, with HTML in it shown as text and only harmless links."""
    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").render(text))  # noqa: S704


@cache
def asset(name: str) -> bytes:
    """A style sheet or script of our own."""
    return files("babelquake.annotate").joinpath("assets", name).read_bytes()


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
}
LARGEST_BODY = 128 * 1024
OLDEST_FORM = 12 * 3600.0
"""Seconds for which a form that was shown can be sent."""
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class SecureHeaders:
    """Adds the headers to every answer, errors included, and turns away bodies that are too large."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def secured(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if scope.get("scheme") == "https":
                    extra.append((b"strict-transport-security", b"max-age=31536000"))
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in given)]
            await send(message)

        await self.app(scope, receive, secured)


class Limiter:
    """A bucket per key that refills steadily: so many at once, so many a second in the long run."""

    def __init__(self, burst: float, per_second: float, keys: int = 10_000) -> None:
        self.burst, self.per_second, self.keys = burst, per_second, keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str, cost: float = 1.0) -> bool:
        """Take from the key's bucket; False where it does not hold enough. Cost 0 only looks."""
        now = time.monotonic()
        level, since = self._buckets.get(key, (self.burst, now))
        level = min(self.burst, level + (now - since) * self.per_second)
        enough = level >= max(cost, 1.0)
        self._buckets[key] = (level - cost if enough else level, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > self.keys:
            self._buckets.popitem(last=False)
        return enough


ANNOTATOR_COOKIE = "annotator"
ADMIN_COOKIE = "admin"
MOST_FIELDS = 200
"""Fields of the largest form: of 26 translations marks, suggestions and score."""
LASTING = {ANNOTATOR_COOKIE: 7 * 24 * 3600.0, ADMIN_COOKIE: 12 * 3600.0}
"""Seconds after which a session is over; while it is used it is renewed."""
BODY_SECONDS = 10.0
"""Seconds for the body of a request to arrive."""


@dataclass
class Desk:
    """One project being served: its file, its secret and its limits."""

    project: Project
    secure_cookies: bool = False
    public_url: str = ""
    """Where annotators reach the app, for invitations: what a request says of itself (Host) is not believed."""
    failures: Limiter = field(default_factory=lambda: Limiter(20, 20 / 60))
    """Wrong tokens: twenty at once, then one every three seconds, by address."""
    pace: Limiter = field(default_factory=lambda: Limiter(60, 15))
    """Requests of one person: sixty at once, then fifteen a second."""
    secret: str = ""

    def __post_init__(self) -> None:
        self.secret = str(self.project.setting("secret"))

    def annotator(self, request: Request) -> Annotator:
        """Who is asking; anybody without a valid session is turned away."""
        session = request.cookies.get(ANNOTATOR_COOKIE, "")
        found = annotator_in(self.project, session, LASTING[ANNOTATOR_COOKIE])
        if found is None:
            raise self.turned_away(request)
        self.keep_pace(session)
        return found

    def admin(self, request: Request) -> None:
        """Turn away anybody but the admin."""
        session = request.cookies.get(ADMIN_COOKIE, "")
        if not self._is_admin(session):
            raise self.turned_away(request)
        self.keep_pace(session)

    def anybody(self, request: Request) -> None:
        """Turn away who is neither an annotator nor the admin."""
        rater, admin = (request.cookies.get(name, "") for name in (ANNOTATOR_COOKIE, ADMIN_COOKIE))
        if not annotator_in(self.project, rater, LASTING[ANNOTATOR_COOKIE]) and not self._is_admin(admin):
            raise self.turned_away(request)

    def invited(self, request: Request, token: str) -> None:
        """Turn away who has no invitation."""
        admin = request.url.path.startswith("/admin/")
        if not (is_admin(self.project, token) if admin else annotator_of(self.project, token)):
            raise self.turned_away(request)
        self.keep_pace(token)

    def let_in(self, answer: Response, cookie: str, session: str) -> Response:
        """Have the browser keep a session."""
        lasting = int(LASTING[cookie])
        answer.set_cookie(cookie, session, max_age=lasting, httponly=True, samesite="lax", secure=self.secure_cookies)
        return answer

    def rotated(self, request: Request, answer: Response, cookie: str) -> Response:
        """The answer, with a new session where the one in use is no longer young."""
        fresh = renewed(self.project, request.cookies.get(cookie, ""), LASTING[cookie])
        return answer if fresh is None else self.let_in(answer, cookie, fresh)

    def keep_pace(self, key: str) -> None:
        """Nobody may ask faster than any person could."""
        if not self.pace.allows(key):
            raise HTTPException(429, headers={"Retry-After": "10"})

    def turned_away(self, request: Request) -> HTTPException:
        """The answer to a wrong token or session; who has sent too many has to wait."""
        if not self.failures.allows(_address(request), 0.0):
            return HTTPException(429, headers={"Retry-After": "10"})
        self.failures.allows(_address(request), 1.0)
        return HTTPException(403)

    def _is_admin(self, session: str) -> bool:
        return session.startswith("admin.") and valid_session(self.project, session, LASTING[ADMIN_COOKIE])

    def form_fields(self, *subject: object) -> dict[str, str]:
        """Hidden fields that make a form this person's and this moment's: when it was shown, and a signature."""
        shown = f"{time.time():.3f}"
        return {"shown": shown, "signature": sign(self.secret, shown, *subject)}

    def checked(self, request: Request, form: Mapping[str, str], *subject: object) -> float:
        """Seconds since the form was shown; a form that we did not make for this person is turned away.

        The signature is what another site cannot know (CSRF); browsers also say where a form comes from.
        """
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise HTTPException(403)
        shown = form.get("shown", "")
        if not signed(self.secret, form.get("signature", ""), shown, *subject):
            raise HTTPException(403)
        age = time.time() - float(shown)
        if not -60 <= age <= OLDEST_FORM:
            raise HTTPException(403)
        return max(age, 0.0)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form of somebody we know; large, slow or broken ones are turned away."""
    desk: Desk = request.app.state.desk
    if (token := request.path_params.get("token")) is not None:
        desk.invited(request, token)
    else:
        desk.anybody(request)
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise HTTPException(413)
    except TimeoutError:
        raise HTTPException(408) from None
    except ClientDisconnect:
        raise HTTPException(400) from None
    try:
        fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400) from None
    return dict(fields)


Form = Annotated[dict[str, str], Depends(form_of)]


def add_invitation(app: FastAPI, desk: Desk, path: str, home: str, cookie: str) -> None:
    """The routes of an invitation: its page, and the button on it that lets somebody in."""

    @app.get(path)
    def invitation(request: Request, token: str) -> Response:
        desk.invited(request, token)
        return page("join.html", title=desk.project.setting("title"), hidden=desk.form_fields("join", token))

    @app.post(path)
    def join(request: Request, token: str, form: Form) -> Response:
        desk.checked(request, form, "join", token)
        if (session := session_of(desk.project, token, admin=cookie == ADMIN_COOKIE)) is None:
            raise desk.turned_away(request)
        return desk.let_in(RedirectResponse(home, 303), cookie, session)


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


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
