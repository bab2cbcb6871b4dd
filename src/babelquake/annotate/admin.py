"""The web app for whoever runs a project: progress, quality so far, people, instructions, export."""

import io
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import polars as pl
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from babelquake.annotate.collected import COUNTED, LEAST, collected, progress
from babelquake.annotate.pages import markdown, page
from babelquake.annotate.people import add_annotator, give_out_again, new_token, revoke
from babelquake.annotate.requests import ADMIN_COOKIE, Desk, Form, add_invitation
from babelquake.errors import UserError
from babelquake.studies.human.findings import findings, for_attack, segment_scores
from babelquake.studies.human.people import annotator_habits, annotator_quality, hit_quality, share_passed

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
