"""What the routes share: who is asking, what a form says, and answers to those who may not ask.

Who is asking is found out before anything of a body is read, and before anybody is slowed down for the wrong tokens of
a neighbour at the same address.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.requests import ClientDisconnect

from babelquake.annotate.pages import page
from babelquake.annotate.people import (
    Annotator,
    annotator_in,
    annotator_of,
    is_admin,
    renewed,
    session_of,
    valid_session,
)
from babelquake.annotate.project import Project
from babelquake.annotate.security import LARGEST_BODY, OLDEST_FORM, Limiter, sign, signed

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
