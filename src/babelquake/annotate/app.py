"""The web app: for annotators an invitation link, then one item after another; for whoever runs a project the rest.

That is below /admin: progress, quality so far, people, instructions, export.
"""

import io
import logging
import math
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from string import ascii_uppercase
from typing import Any
from urllib.parse import quote

import polars as pl
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException as AnyHTTPException

from babelquake.annotate.analyse import COUNTED, LEAST, collected, progress
from babelquake.annotate.people import Annotator, add_annotator, give_out_again, is_number, new_token, revoke, sign
from babelquake.annotate.project import Project
from babelquake.annotate.protocols import ANCHORS, AnswerError, Protocol, differing, pieces, protocol
from babelquake.annotate.web import (
    ADMIN_COOKIE,
    ANNOTATOR_COOKIE,
    ASSETS,
    Desk,
    Form,
    SecureHeaders,
    add_invitation,
    asset,
    markdown,
    page,
)
from babelquake.annotate.work import Screen, asked, current, submit
from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.studies.human.findings import findings, for_attack, segment_scores
from babelquake.studies.human.people import annotator_habits, annotator_quality, hit_quality, share_passed

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
        answer = page("refusal.html", error.status_code, title=title, text=text)
        answer.headers.update(error.headers or {})
        if request.method == "POST":
            answer.headers["Connection"] = "close"  # what is left of the body is not waited for
        return answer

    @app.exception_handler(sqlite3.OperationalError)
    def unsaved(request: Request, error: sqlite3.OperationalError) -> Response:
        LOG.error("the project file cannot be used: %s", error)
        title, text = REFUSALS[503]
        answer = page("refusal.html", 503, title=title, text=text)
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
        if not is_number(number):
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


LONGEST_INSTRUCTIONS = 50_000


def add_admin_routes(app: FastAPI, desk: Desk) -> None:
    """The routes below /admin; each but the first asks for the admin's token."""
    project = desk.project

    add_invitation(app, desk, "/admin/join/{token}", "/admin", ADMIN_COOKIE)

    @app.get("/admin")
    def overview(request: Request) -> Response:
        desk.admin(request)
        return desk.rotated(request, _overview(desk), ADMIN_COOKIE)

    @app.post("/admin/people")
    def people(request: Request, form: Form) -> Response:
        desk.admin(request)
        desk.checked(request, form, "admin")
        name, action = form.get("name", ""), form.get("action", "")
        try:
            if action == "add":
                return _overview(desk, _invited(desk, name, add_annotator(project, name)))
            if action == "link":
                return _overview(desk, _invited(desk, name, new_token(project, name)))
            if action == "revoke":
                revoke(project, name)
                return RedirectResponse("/admin", 303)
        except UserError as error:
            return _overview(desk, {"problem": str(error)}, 422)
        raise HTTPException(400)

    @app.post("/admin/again")
    def again(request: Request, form: Form) -> Response:
        desk.admin(request)
        desk.checked(request, form, "admin")
        _give_failed_out_again(desk)
        return RedirectResponse("/admin", 303)

    @app.post("/admin/instructions")
    def instructions(request: Request, form: Form) -> Response:
        desk.admin(request)
        desk.checked(request, form, "admin")
        text = form.get("instructions", "")
        if len(text) > LONGEST_INSTRUCTIONS:
            return _overview(desk, {"problem": f"Instructions may be at most {LONGEST_INSTRUCTIONS} characters."}, 422)
        project.set("instructions", text)
        return RedirectResponse("/admin", 303)

    @app.get("/admin/export/{name}")
    def export(request: Request, name: str) -> Response:
        desk.admin(request)
        try:
            content = _exported(desk, name)
        except UserError as error:
            return _overview(desk, {"problem": str(error)}, 422)
        if content is None:
            raise HTTPException(404)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return Response(content, media_type="application/octet-stream", headers=headers)


def _invited(desk: Desk, name: str, token: str) -> dict[str, str]:
    return {"invited": name.strip(), "link": f"{desk.public_url.rstrip('/')}/join/{token}"}


def _overview(desk: Desk, news: dict[str, str] | None = None, status: int = 200) -> Response:
    ratings = collected(desk.project).frame
    working = ratings.filter(pl.col("type") != "TUTORIAL")
    hits = hit_quality(working)
    habits = {row["annotator"]: row for row in annotator_habits(working, annotator_quality(working)).to_dicts()}
    found = progress(desk.project)
    for person in found["annotators"]:
        person["habits"] = habits.get(person["name"])
        latest = person["latest"]
        person["latest"] = datetime.fromtimestamp(latest, UTC).strftime("%Y-%m-%d %H:%M") if latest else ""
    return page(
        "admin.html",
        status,
        title=desk.project.setting("title"),
        progress=found,
        hits={
            "tested": int(hits["passed"].count()),
            "failed": hits.filter(passed=False).height,
            "share": share_passed(hits),
        },
        seconds=working["seconds"].median(),
        instructions=desk.project.setting("instructions"),
        preview=markdown(str(desk.project.setting("instructions"))),
        hidden=desk.form_fields("admin"),
        news={"problem": "", "link": "", "invited": "", **(news or {})},
    )


def _give_failed_out_again(desk: Desk) -> None:
    """Every finished task that failed quality control goes out once more, to somebody else."""
    failed = hit_quality(collected(desk.project).frame).filter(passed=False)["hit"].to_list()
    with desk.project.writing() as database:
        for name in failed:
            hit, _, copy = name.rpartition(".")
            row = database.execute(
                "SELECT id FROM tasks WHERE hit = ? AND copy = ? AND finished IS NOT NULL AND withdrawn IS NULL",
                (hit, int(copy)),
            ).fetchone()
            if row is not None:
                give_out_again(database, row["id"])


def _exported(desk: Desk, name: str) -> bytes | None:
    """The content of an export: all ratings, segment means, mt-metrics-eval scores, or the attack study's table."""
    ratings = collected(desk.project)
    if name in ("ratings.tsv", "ratings.parquet"):
        return _table(ratings.frame, name)
    if name not in ("segments.tsv", "segments.parquet", "segments.seg.score", "attack.tsv"):
        return None
    means = findings(ratings, exclude="hits", least=LEAST, counted=COUNTED).segments
    if name == "segments.seg.score":
        return "".join(f"{system}\t{score}\n" for system, score in segment_scores(means)).encode()
    return _table(for_attack(means) if name == "attack.tsv" else means, name)


def _table(frame: pl.DataFrame, name: str) -> bytes:
    out = io.BytesIO()
    if name.endswith(".parquet"):
        frame.write_parquet(out)
    else:
        texts: Any = pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " ")
        frame.with_columns(texts).write_csv(out, separator="\t", quote_style="never")
    return out.getvalue()
