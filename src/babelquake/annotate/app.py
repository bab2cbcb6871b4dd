"""The web app for annotators: an invitation link, then one item after another."""

import logging
import math
import sqlite3
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException as AnyHTTPException

from babelquake.annotate.admin import add_admin_routes
from babelquake.annotate.highlight import differing, pieces
from babelquake.annotate.pages import ASSETS, asset, markdown, page, refusal
from babelquake.annotate.people import Annotator
from babelquake.annotate.project import Project
from babelquake.annotate.protocols import ANCHORS, AnswerError, Protocol, protocol
from babelquake.annotate.requests import ANNOTATOR_COOKIE, Desk, Form, add_invitation
from babelquake.annotate.security import SecureHeaders, sign
from babelquake.annotate.work import Screen, asked, current, submit
from babelquake.languages import LanguagePair

LOG = logging.getLogger("babelquake.annotate")
LONGEST_PAUSE = 1800.0
"""Seconds after which an answer says nothing about how long it took."""
REFUSALS = {
    403: ("No access", "This page needs a valid link. Ask whoever invited you for a new one."),
    404: ("Nothing here", "Page not found."),
    405: ("Nothing here", "Page not found."),
    408: ("Too slow", "Your answer took too long to arrive. Go back and send it again."),
    413: ("Too large", "Your answer is too large."),
    503: ("Not saved", "Your answer could not be saved. Go back, wait a moment and send it again."),
    429: ("Too fast", "Too many requests. Wait a little and try again."),
}


def make_app(project: Project, secure_cookies: bool = False, public_url: str = "") -> FastAPI:
    """The app for one project; nothing but an empty sign of life can be read without a token."""
    desk = Desk(project, secure_cookies, public_url)
    app = FastAPI(title="babelquake annotate", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.desk = desk
    app.add_middleware(SecureHeaders)

    @app.exception_handler(AnyHTTPException)
    def refused(request: Request, error: AnyHTTPException) -> Response:
        title, text = REFUSALS.get(error.status_code, ("Not possible", "Invalid request."))
        answer = refusal(error.status_code, title, text)
        answer.headers.update(error.headers or {})
        if request.method == "POST":
            answer.headers["Connection"] = "close"  # what is left of the body is not waited for
        return answer

    @app.exception_handler(sqlite3.OperationalError)
    def unsaved(request: Request, error: sqlite3.OperationalError) -> Response:
        LOG.error("the project file cannot be used: %s", error)
        answer = refusal(503, *REFUSALS[503])
        answer.headers["Retry-After"] = "10"
        return answer

    @app.get("/health")
    def health() -> Response:
        return Response(status_code=204)

    add_invitation(app, desk, "/join/{token}", "/task", ANNOTATOR_COOKIE)

    @app.get("/assets/{name}")
    def assets(request: Request, name: str) -> Response:
        desk.anybody(request)
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name], headers={"Cache-Control": "private, max-age=600"})

    @app.get("/")
    def home(request: Request) -> Response:
        desk.annotator(request)
        return RedirectResponse("/task", 303)

    @app.get("/task")
    def task(request: Request) -> Response:
        return desk.rotated(request, _screen(desk, desk.annotator(request)), ANNOTATOR_COOKIE)

    @app.post("/task")
    def rate(request: Request, form: Form) -> Response:
        annotator = desk.annotator(request)
        number = form.get("item", "")
        if not (number.isascii() and number.isdecimal() and len(number) < 16):
            raise HTTPException(400)
        age = desk.checked(request, form, annotator.id, number)
        item = asked(project, int(number))
        if item is None:
            raise HTTPException(400)
        try:
            rules = protocol(str(project.setting("protocol")))
            lengths = {side: len(text) for side, text in item.texts.items()}
            answer = rules.answer(form, together(rules, item.sides, item.texts), lengths, item.suggestions)
        except AnswerError as error:
            return _screen(desk, annotator, str(error), 422)
        seconds = age if math.isfinite(age) and age <= LONGEST_PAUSE else None
        submit(project, annotator, int(number), answer, seconds)
        return RedirectResponse("/task", 303)

    add_admin_routes(app, desk)
    return app


def _screen(desk: Desk, annotator: Annotator, problem: str = "", status: int = 200) -> Response:
    settings = desk.project.settings()
    rules = protocol(settings["protocol"])
    shared: dict[str, Any] = {
        "title": settings["title"],
        "name": annotator.name,
        "instructions": markdown(settings["instructions"]),
    }
    screen = current(desk.project, annotator, settings["context"])
    if screen is None:
        return page("done.html", **shared)
    languages = LanguagePair.known(screen.language_pair)
    return page(
        "task.html",
        status,
        **shared,
        screen=screen,
        protocol=rules,
        basis=settings["basis"],
        panels=_panels(rules, screen),
        anchors=ANCHORS,
        problem=problem,
        hidden=desk.form_fields(annotator.id, screen.item),
        draft=sign(desk.secret, "draft", annotator.id, screen.item),
        source_language=languages.source if languages else "",
        target_language=languages.target if languages else "",
    )


def together(rules: Protocol, sides: Sequence[str], texts: Mapping[str, str]) -> list[list[str]]:
    """The sides behind each translation on the screen, in the order shown: what several systems say is shown once."""
    if rules.gather != "all":
        return [[side] for side in sides]
    found: dict[str, list[str]] = {}
    for side in sides:
        found.setdefault(texts[side], []).append(side)
    return list(found.values())


def _panels(rules: Protocol, screen: Screen) -> list[dict[str, Any]]:
    """The translations in the order they are shown, with what stands out or can be marked in each."""
    sides = [some[0] for some in together(rules, screen.sides, screen.texts)]
    texts = [screen.texts[side] for side in sides]
    shown = differing(*texts) if rules.highlight and len(texts) == 2 else tuple([(text, False)] for text in texts)
    return [
        {
            "place": place,
            "letter": ascii_uppercase[place],
            "pieces": shown[place],
            "words": pieces(text) if rules.spans else [],
            "text": text,
            "suggestions": screen.suggestions.get(sides[place], []),
        }
        for place, text in enumerate(texts)
    ]
