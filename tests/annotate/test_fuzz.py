"""Requests of every kind on every route: never an error of ours, never data without a token."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.annotate.conftest import MakeSite, Site, fields, stored

SECRETS = ("committee", "purple", "case1", "bertscore", "Indeed")
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
NAMES = ["item", "shown", "signature", "score0", "score1", "touched0", "touched1", "spans0", "preference", "name"]
NAMES += ["action", "instructions", "severity0"]
WORDS = st.text(max_size=40)
VALUES = st.one_of(
    WORDS,
    st.sampled_from(
        ["1", "-1", "0", "50", "nan", "inf", "add", "revoke", "[[[", "[]", "1e999", "'; DROP TABLE ratings;--"]
    ),
)


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    made = make_site(protocol="side-by-side")
    limits = made.app.state.desk
    limits.failures.burst = limits.pace.burst = limits.failures.per_second = limits.pace.per_second = 1e9
    return made


def routes(site: Site) -> list[str]:
    """Every route of the app, as it is registered."""
    return sorted({route.path for route in site.app.routes})


def test_every_route_is_known_to_this_test(site: Site) -> None:
    assert routes(site) == [
        "/",
        "/admin",
        "/admin/again",
        "/admin/export/{name}",
        "/admin/instructions",
        "/admin/join/{token}",
        "/admin/people",
        "/assets/{name}",
        "/health",
        "/join/{token}",
        "/task",
    ]


SHAKEN = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.mark.slow
@SHAKEN
@given(data=st.data())
def test_strangers_get_nothing(site: Site, data: st.DataObject) -> None:
    response = shake(site, site.client(), data)
    assert response.status_code in (204, 400, 403, 404, 405, 413)
    assert not any(secret in response.text for secret in SECRETS)
    assert stored(site.project) == []


@pytest.mark.slow
@SHAKEN
@given(data=st.data(), who=st.sampled_from(["ann", "admin"]))
def test_people_break_nothing(site: Site, data: st.DataObject, who: str) -> None:
    response = shake(site, site.client(who), data, who)
    assert response.status_code < 500
    for row in stored(site.project):
        assert all(0 <= score <= 100 for score in row["answer"]["scores"].values())


def shake(site: Site, client: Any, data: st.DataObject, who: str = "") -> Any:
    """One request with anything in its path, query, form, cookies and headers."""
    path = data.draw(st.sampled_from(routes(site)))
    for name in ("{name}", "{token}"):
        path = path.replace(
            name, quote(data.draw(st.one_of(WORDS, st.sampled_from(["ratings.tsv", "annotate.js"]))), safe="")
        )
    form = data.draw(st.dictionaries(st.one_of(st.sampled_from(NAMES), WORDS), VALUES, max_size=8))
    if who and data.draw(st.booleans()):
        page = client.get("/admin" if who == "admin" else "/task").text
        form = {**form, **(fields(page) if "<form" in page else {})}
    body = data.draw(st.one_of(st.just(form), st.binary(max_size=300), WORDS.map(lambda text: json.dumps([text]))))
    headers = data.draw(
        st.dictionaries(
            st.sampled_from(["sec-fetch-site", "content-type", "x-forwarded-for", "accept", "origin"]),
            st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20),
            max_size=3,
        )
    )
    if not who and data.draw(st.booleans()):
        value = st.text(st.characters(min_codepoint=48, max_codepoint=122, blacklist_characters=";\\"), max_size=50)
        client.cookies.set(data.draw(st.sampled_from(["annotator", "admin"])), data.draw(value))
    method = data.draw(st.sampled_from(METHODS))
    sent = {"data": body} if isinstance(body, dict) else {"content": body}
    return client.request(method, path, headers=headers, **({} if method in ("GET", "HEAD") else sent))


def test_a_strangers_post_to_every_route_changes_nothing(site: Site) -> None:
    before = Path(site.project.path).read_bytes()
    for path in routes(site):
        for method in METHODS:
            response = site.client().request(method, path.replace("{name}", "x").replace("{token}", "y"))
            assert response.status_code in (204, 400, 403, 404, 405), (method, path)
    assert Path(site.project.path).read_bytes() == before
