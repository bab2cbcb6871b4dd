"""What somebody without an invitation can do to those who have one: nothing."""

import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.annotate.conftest import MakeSite, answer, fields, joined, stored
from tests.annotate.serving import Person, Server

from babelquake.annotate import people, web
from babelquake.annotate.project import Project
from babelquake.errors import UserError


def test_an_invitation_wants_one_click_and_never_becomes_the_cookie(make_site: MakeSite) -> None:
    """Programs that look at links for a preview are not let in, and a stolen cookie is not an invitation."""
    site = make_site()
    client = site.client()
    assert "set-cookie" not in client.get(f"/join/{site.tokens['ann']}").headers
    let_in = joined(client, f"/join/{site.tokens['ann']}")
    assert let_in.status_code == 303
    cookie = client.cookies["annotator"]
    assert site.tokens["ann"] not in cookie
    assert site.client().get(f"/join/{cookie}").status_code == 403
    forged = site.client()
    forged.cookies.set("annotator", site.tokens["ann"])
    assert forged.get("/task").status_code == 403


def test_a_click_on_somebody_elses_form_lets_nobody_in(make_site: MakeSite) -> None:
    site = make_site()
    client = site.client()
    form = fields(client.get(f"/join/{site.tokens['ann']}").text)
    assert client.post(f"/join/{site.tokens['bob']}", data=form).status_code == 403
    assert client.post(f"/join/{site.tokens['bob']}").status_code == 403


def test_sessions_rotate_grow_old_and_end_with_their_invitation(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site()
    client = site.client("ann")
    first = client.cookies["annotator"]
    client.get("/task")
    assert client.cookies["annotator"] == first, "young ones stay"
    now = time.time()
    monkeypatch.setattr(people.time, "time", lambda: now + 24 * 3600)
    client.get("/task")
    assert client.cookies["annotator"] != first
    monkeypatch.setattr(people.time, "time", lambda: now + 60 * 24 * 3600)
    assert client.get("/task").status_code == 403
    monkeypatch.undo()
    again = site.client("bob")
    people.new_token(site.project, "bob")
    assert again.get("/task").status_code == 403


@pytest.mark.parametrize("cookie", ["", "1", "1.2", "1..", "admin.1.x", "1.99999999999999999.x", "x.y.z", "-1.1.a"])
def test_a_session_that_we_did_not_make_is_none(cookie: str, make_site: MakeSite) -> None:
    site = make_site()
    assert people.annotator_in(site.project, cookie, 1e9) is None
    assert not people.valid_session(site.project, cookie, 1e9)


def test_wrong_tokens_lock_out_no_colleague_at_the_same_address(make_site: MakeSite) -> None:
    site = make_site()
    ann, stranger = site.client("ann"), site.client()
    assert [stranger.get(f"/join/guess{number}").status_code for number in range(40)][-1] == 429
    assert ann.get("/task").status_code == 200
    assert ann.post("/task", data=answer(ann.get("/task").text, 70, 30)).status_code == 303
    assert joined(site.client(), f"/join/{site.tokens['bob']}").status_code == 303


def test_invitations_lead_where_the_app_is_and_not_where_a_request_says(make_site: MakeSite) -> None:
    site = make_site()
    site.app.state.desk.public_url = "https://rate.example.org"
    admin = site.client("admin")
    form = fields(admin.get("/admin").text) | {"name": "Zoë", "action": "add"}
    page = admin.post("/admin/people", data=form, headers={"Host": "evil.example"}).text
    assert "https://rate.example.org/join/" in page and "evil.example" not in page


def test_a_body_is_not_read_before_it_is_known_whose_it_is(make_site: MakeSite) -> None:
    site = make_site()
    read: list[bytes] = []

    async def receive() -> dict[str, object]:
        read.append(b"x")
        return {"type": "http.request", "body": b"item=1", "more_body": True}

    import asyncio

    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/task", "raw_path": b"/task", "query_string": b""}
    scope |= {"headers": [(b"host", b"rating.test")], "scheme": "http", "http_version": "1.1", "server": ("x", 80)}
    scope |= {"client": ("10.0.0.1", 5), "root_path": "", "asgi": {"version": "3.0"}}
    asyncio.run(site.app(scope, receive, send))
    assert sent[0]["status"] == 403 and not read


@pytest.fixture
def server(make_site: MakeSite) -> Iterator[tuple[Server, dict[str, str]]]:
    site = make_site()
    made = Server(site.project.path)
    made.start()
    yield made, site.tokens
    made.stop()


def test_half_sent_requests_of_strangers_keep_nobody_out(server: tuple[Server, dict[str, str]]) -> None:
    made, tokens = server
    head = b"POST /task HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
    held = []
    for number in range(120):
        connection = socket.create_connection(("127.0.0.1", made.port), timeout=10)
        connection.sendall(head + (b"\r\nitem=" if number % 2 else b""))
        held.append(connection)
    person = Person(made, tokens["ann"], 0)
    assert person.rate().status_code == 303
    held[1].settimeout(5)
    assert b"403" in held[1].recv(100), "told at once, without its body"
    for connection in held:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_with_status_zero(
    number: signal.Signals, server: tuple[Server, dict[str, str]]
) -> None:
    made, tokens = server
    person = Person(made, tokens["ann"], 0)
    assert person.rate().status_code == 303
    assert made.process is not None
    made.process.send_signal(number)
    sent = time.monotonic()
    assert made.process.wait(20) == 0
    assert time.monotonic() - sent < 6, "two seconds, and some for a busy machine"


def test_a_backup_of_a_project_being_served_has_every_rating(
    server: tuple[Server, dict[str, str]], tmp_path: Path
) -> None:
    made, tokens = server
    person = Person(made, tokens["ann"], 0)
    for _ in range(5):
        person.rate()
    assert Project(made.project).backup(tmp_path / "copy.db") == 5
    copy = Project(tmp_path / "copy.db")
    assert len(stored(copy)) == 5
    with pytest.raises(UserError, match="exists"):
        copy.backup(tmp_path / "copy.db")


def test_a_project_that_cannot_be_written_to_says_so(make_site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site()

    def read_only(self: Project, name: str) -> object:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(Project, "setting", read_only)
    with pytest.raises(UserError, match="readonly"):
        Project(site.project.path)


def test_what_serving_needs_is_said_before_anything_is_served(make_site: MakeSite) -> None:
    site = make_site()
    code = "import sys; sys.modules['uvicorn'] = None; sys.argv = ['babelquake', *sys.argv[1:]]\n"
    code += "from babelquake.cli import main; main()"
    command = [sys.executable, "-c", code, "annotate", "serve", str(site.project.path), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "pip install" in done.stderr and "[annotate]" in done.stderr
    assert "Serving" not in done.stderr


def test_a_body_that_does_not_come_is_not_waited_for(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import asyncio

    from fastapi import HTTPException

    site = make_site()
    monkeypatch.setattr(web, "BODY_SECONDS", 0.05)
    cookie = site.client("ann").cookies["annotator"]

    class Slow:
        app, method = site.app, "POST"

        def __init__(self) -> None:
            self.path_params: dict[str, str] = {}
            self.cookies = {"annotator": cookie}

        async def stream(self) -> object:
            yield b"item"
            await asyncio.sleep(60)

    with pytest.raises(HTTPException) as caught:
        asyncio.run(web.form_of(Slow()))  # type: ignore[arg-type]
    assert caught.value.status_code == 408
