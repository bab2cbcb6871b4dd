"""What the routes share: who is asking, what a form says, and answers to those who may not ask."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request

from babelquake.annotate.people import Annotator, annotator_of, is_admin
from babelquake.annotate.project import Project
from babelquake.annotate.security import LARGEST_BODY, OLDEST_FORM, Limiter, sign, signed

ANNOTATOR_COOKIE = "annotator"
ADMIN_COOKIE = "admin"
MOST_FIELDS = 40


@dataclass
class Desk:
    """One project being served: its file, its secret and its limits."""

    project: Project
    secure_cookies: bool = False
    failures: Limiter = field(default_factory=lambda: Limiter(20, 20 / 60))
    """Wrong tokens: twenty at once, then one every three seconds, by address."""
    pace: Limiter = field(default_factory=lambda: Limiter(60, 15))
    """Requests of one person: sixty at once, then fifteen a second."""
    secret: str = ""

    def __post_init__(self) -> None:
        self.secret = str(self.project.setting("secret"))

    def annotator(self, request: Request) -> Annotator:
        """Who is asking; anybody without a valid token is turned away."""
        token = request.cookies.get(ANNOTATOR_COOKIE, "")
        self.slow_down(request, token)
        found = annotator_of(self.project, token) if token else None
        if found is None:
            self.failed(request)
            raise HTTPException(403)
        return found

    def admin(self, request: Request) -> None:
        """Turn away anybody but the admin."""
        token = request.cookies.get(ADMIN_COOKIE, "")
        self.slow_down(request, token)
        if not token or not is_admin(self.project, token):
            self.failed(request)
            raise HTTPException(403)

    def anybody(self, request: Request) -> None:
        """Turn away who is neither an annotator nor the admin."""
        rater, admin = (request.cookies.get(name, "") for name in (ANNOTATOR_COOKIE, ADMIN_COOKIE))
        self.slow_down(request, rater or admin)
        known = (rater and annotator_of(self.project, rater)) or (admin and is_admin(self.project, admin))
        if not known:
            self.failed(request)
            raise HTTPException(403)

    def slow_down(self, request: Request, token: str) -> None:
        """Nobody may try tokens, or ask, faster than any person could."""
        if not self.failures.allows(_address(request), 0.0) or (token and not self.pace.allows(token)):
            raise HTTPException(429, headers={"Retry-After": "10"})

    def failed(self, request: Request) -> None:
        """Remember a wrong token."""
        self.failures.allows(_address(request), 1.0)

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
    """The fields of a form; large or broken ones are turned away."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise HTTPException(413)
    try:
        fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400) from None
    return dict(fields)


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
