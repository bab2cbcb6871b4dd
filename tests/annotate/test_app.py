"""The app by its requests: who gets in, what a page shows, what counts as an answer."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.annotate.conftest import MakeSite, Site, answer, fields, joined, stored

from babelquake.annotate.people import revoke
from babelquake.annotate.prepare import Recipe

PATHS = ["/", "/task", "/assets/annotate.css", "/assets/annotate.js", "/admin", "/admin/export/ratings.tsv"]
PATHS += ["/join/x", "/admin/join/x", "/docs", "/openapi.json", "/redoc", "/project.db", "/assets/../project.py"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_can_be_read_without_a_token(make_site: MakeSite, path: str) -> None:
    site = make_site()
    answer_page = site.client().get(path)
    assert answer_page.status_code in (403, 404)
    for word in ("committee", "ann", "Rating translations", "case1"):
        assert word not in re.sub(r"<[^>]*>", "", answer_page.text)


def test_an_annotator_is_no_admin_and_the_admin_no_annotator(make_site: MakeSite) -> None:
    site = make_site()
    assert site.client("ann").get("/admin").status_code == 403
    assert site.client("ann").get("/admin/export/ratings.tsv").status_code == 403
    assert site.client("admin").get("/task").status_code == 403


def test_every_answer_carries_secure_headers(make_site: MakeSite) -> None:
    site = make_site()
    for client, path in ((site.client(), "/task"), (site.client("ann"), "/task"), (site.client("admin"), "/admin")):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


def test_cookies_cannot_be_read_by_scripts_and_are_secure_behind_https(make_site: MakeSite) -> None:
    from starlette.testclient import TestClient

    from babelquake.annotate.app import make_app

    site = make_site()
    plain = joined(site.client(), f"/join/{site.tokens['ann']}").headers["set-cookie"].lower()
    assert "httponly" in plain and "samesite=lax" in plain and "secure" not in plain
    client = TestClient(
        make_app(site.project, secure_cookies=True), base_url="https://rating.test", follow_redirects=False
    )
    let_in = joined(client, f"/join/{site.tokens['ann']}")
    assert "secure" in let_in.headers["set-cookie"].lower()
    assert "max-age" in let_in.headers["strict-transport-security"]


def test_a_whole_task_and_then_thanks(make_site: MakeSite) -> None:
    site = make_site(tuples=6)
    client = site.client("ann")
    for place in range(11):
        page = client.get("/task").text
        assert ("Training" in page) is (place == 0)
        sent = client.post("/task", data=answer(page, 60 + place, 40 + place))
        assert (sent.status_code, sent.headers["location"]) == (303, "/task")
    assert "Thank you, ann" in client.get("/task").text
    assert len(stored(site.project)) == 11


def test_both_sliders_must_be_touched(make_site: MakeSite) -> None:
    site = make_site()
    client = site.client("ann")
    page = client.get("/task").text
    untouched = answer(page, 70, 50) | {"touched1": "0"}
    refused = client.post("/task", data=untouched)
    assert refused.status_code == 422
    assert "move every slider" in refused.text
    assert stored(site.project) == []


@pytest.mark.parametrize("score", ["-1", "101", "5.5", "", "abc", "1e2", "٣", "99999999999999999999"])
def test_scores_are_whole_numbers_up_to_a_hundred(make_site: MakeSite, score: str) -> None:
    site = make_site()
    client = site.client("ann")
    sent = client.post("/task", data=answer(client.get("/task").text, 70, 50) | {"score0": score})
    assert sent.status_code == 422
    assert stored(site.project) == []


def test_an_old_page_cannot_change_a_rating(make_site: MakeSite) -> None:
    site = make_site()
    client = site.client("ann")
    old = client.get("/task").text
    client.post("/task", data=answer(old, 70, 30))
    again = client.post("/task", data=answer(old, 1, 2))
    assert again.status_code == 303
    kept = stored(site.project)
    assert len(kept) == 1
    assert sorted(kept[0]["answer"]["scores"].values()) == [30.0, 70.0]


def test_scores_go_to_the_side_that_was_shown_there(make_site: MakeSite) -> None:
    site = make_site(tuples=6)
    client = site.client("ann")
    for _ in range(11):
        page = client.get("/task").text
        texts = re.findall(r'<p class="text" dir="auto">(.*?)</p>', page[page.index("panels2") :])
        first_is_perturbed = "purple" in texts[0]
        client.post("/task", data=answer(page, 10 if first_is_perturbed else 90, 90 if first_is_perturbed else 10))
    rows = stored(site.project)
    rated = site.project.database.execute("SELECT id FROM items WHERE type != 'BAD_REF'").fetchall()
    whole = {row["id"] for row in rated}
    assert all(row["answer"]["scores"] == {"original": 90.0, "perturbed": 10.0} for row in rows if row["item"] in whole)


def test_forms_from_elsewhere_are_turned_away(make_site: MakeSite) -> None:
    site = make_site()
    ann, bob = site.client("ann"), site.client("bob")
    good = answer(ann.get("/task").text, 70, 30)
    assert ann.post("/task", data=good | {"signature": "0" * 64}).status_code == 403
    assert ann.post("/task", data={key: good[key] for key in good if key != "signature"}).status_code == 403
    assert ann.post("/task", data=good | {"shown": "1.0"}).status_code == 403
    assert ann.post("/task", data=good | {"item": "2"}).status_code == 403
    assert bob.post("/task", data=good).status_code == 403, "another person's form"
    assert ann.post("/task", data=good, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert site.client().post("/task", data=good).status_code == 403
    assert stored(site.project) == []
    assert ann.post("/task", data=good).status_code == 303


def test_revoked_is_out_at_once(make_site: MakeSite) -> None:
    site = make_site()
    client = site.client("ann")
    page = client.get("/task").text
    revoke(site.project, "ann")
    assert client.get("/task").status_code == 403
    assert client.post("/task", data=answer(page, 70, 30)).status_code == 403
    assert client.get(f"/join/{site.tokens['ann']}").status_code == 403
    assert stored(site.project) == []


def test_guessing_tokens_is_slowed_down(make_site: MakeSite) -> None:
    site = make_site()
    stranger = site.client()
    statuses = [stranger.get(f"/join/guess{number}").status_code for number in range(40)]
    assert statuses[0] == 403
    assert statuses[-1] == 429
    assert stranger.get("/join/one-more").headers["retry-after"] == "10"


def test_text_is_shown_never_run(make_site: MakeSite, tmp_path: Path) -> None:
    nasty = '<script>alert(1)</script> & "quoted" {{ 7 * 7 }} </p><img src=x onerror=alert(2)>'
    file = tmp_path / "nasty.jsonl"
    import json

    rows = [{"id": "1", "reference": nasty, "original": nasty + " a", "perturbed": nasty + " b", "system": "s"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    site = make_site(file, practice=0, title=nasty, instructions=f"# Hi\n\n{nasty}\n\n[x](javascript:alert(3))")
    page = site.client("ann").get("/task").text
    assert "<script>alert" not in page and "<img" not in page and 'href="javascript' not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page and "49" not in fields(page).values()


def test_bodies_and_fields_have_bounds(make_site: MakeSite) -> None:
    client = make_site().client("ann")
    assert client.post("/task", content=b"a=" + b"x" * 200_000).status_code == 413
    assert client.post("/task", content="&".join(f"f{n}=1" for n in range(100))).status_code == 400
    assert client.post("/task", content=b"item=%ff\xff").status_code == 400


def test_the_health_of_the_app_says_nothing_else(make_site: MakeSite) -> None:
    sign = make_site().client().get("/health")
    assert (sign.status_code, sign.content) == (204, b"")


def test_instructions_are_markdown(make_site: MakeSite) -> None:
    page = make_site(instructions="## Please\n\n- *read*\n").client("ann").get("/task").text
    assert "<h2>Please</h2>" in page and "<em>read</em>" in page


def test_single_scores_and_anchors(make_site: MakeSite, tmp_path: Path) -> None:
    file = tmp_path / "d.tsv"
    lines = ["id\tsource\treference\ttranslation\tsystem"]
    lines += [f"{n}\tQuelle Nummer {n}\tref {n}\tthe number {n} is here today\tS" for n in range(6)]
    file.write_text("\n".join(lines) + "\n")
    page = make_site(file, protocol="sqm", basis="source").client("ann").get("/task").text
    assert "Quelle Nummer" in page and "<h2>Reference</h2>" not in page
    assert "Most meaning preserved" in page and page.count('type="range"') == 1
    both = make_site(file, protocol="da", basis="both").client("ann").get("/task").text
    assert "<h2>Source</h2>" in both and "<h2>Reference</h2>" in both and "Most meaning preserved" not in both


def test_context_of_the_document_is_shown(make_site: MakeSite, tmp_path: Path) -> None:
    file = tmp_path / "d.tsv"
    lines = ["id\tsource\treference\ttranslation\tsystem\tdocument"]
    lines += [f"{n}\tsatz{n}\tref{n}\ttext{n}of{s} is here\t{s}\tdoc" for n in range(3) for s in "AB"]
    file.write_text("\n".join(lines) + "\n")
    site = make_site(file, protocol="da", basis="source", context=1, practice=0, recipe=Recipe(6, 0, 0, annotators=1))
    client = site.client("ann")
    seen = 0
    for _ in range(6):
        page = client.get("/task").text
        found = re.search(r"text(\d)of(\w)", page[page.index('class="panels') :])
        assert found is not None
        number, system = int(found[1]), found[2]
        context = page[page.index("<form") : page.index('class="panels')]
        assert (f"text{number - 1}of{system}" in context) is (number > 0)
        assert f"text{number - 2}of{system}" not in context
        seen += number > 0
        client.post("/task", data=answer(page, 50))
    assert seen == 4


def test_error_spans_are_stored_and_checked(make_site: MakeSite, tmp_path: Path) -> None:
    file = tmp_path / "d.tsv"
    file.write_text("id\tsource\ttranslation\tsystem\n1\tQuelle\tشكرا جزيلا لك\tS\n")
    site = make_site(file, protocol="esa", basis="source", practice=0)
    client = site.client("ann")
    page = client.get("/task").text
    assert 'data-start="5" data-end="10"' in page
    sent = answer(page, 40)
    for bad in (
        "{",
        "[1]",
        '[{"start_i":0,"end_i":99,"severity":"minor"}]',
        '[{"start_i":0,"end_i":2,"severity":"x"}]',
    ):
        assert client.post("/task", data=sent | {"spans0": bad}).status_code == 422
    good = '[{"start_i":5,"end_i":10,"severity":"major"},{"start_i":"missing","end_i":"missing","severity":"minor"}]'
    assert client.post("/task", data=sent | {"spans0": good}).status_code == 303
    spans = stored(site.project)[0]["answer"]["spans"]["translation"]
    assert spans[0] == {"start_i": 5, "end_i": 10, "severity": "major"}
    assert spans[1]["start_i"] == "missing"


def test_preferences(make_site: MakeSite) -> None:
    site = make_site(protocol="pairwise")
    client = site.client("ann")
    page = client.get("/task").text
    assert 'type="range"' not in page
    assert client.post("/task", data=fields(page)).status_code == 422
    assert client.post("/task", data=fields(page) | {"preference": "1"}).status_code == 303
    assert client.post("/task", data=fields(client.get("/task").text) | {"preference": "equal"}).status_code == 303
    scores = [row["answer"]["scores"] for row in stored(site.project)]
    assert sorted(scores[0].values()) == [0.0, 100.0]
    assert set(scores[1].values()) == {50.0}


def test_an_answer_that_cannot_be_saved_is_not_confirmed(make_site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3
    from contextlib import contextmanager

    site = make_site()
    client = site.client("ann")
    page = client.get("/task").text

    @contextmanager
    def full(self: object) -> Iterator[sqlite3.Connection]:
        raise sqlite3.OperationalError("database or disk is full")
        yield  # pragma: no cover

    with monkeypatch.context() as patched:
        patched.setattr(type(site.project), "writing", full)
        refused = client.post("/task", data=answer(page, 60, 40))
    assert refused.status_code == 503
    assert "could not be saved" in refused.text
    assert stored(site.project) == []
    assert client.post("/task", data=answer(page, 60, 40)).status_code == 303


def rate_everything(site: Site, who: str, scores: tuple[int, int] | None = None) -> None:
    """An annotator's whole work; honest unless told what to answer."""
    client = site.client(who)
    while "Thank you" not in (page := client.get("/task").text):
        panels = re.findall(r'<p class="text" dir="auto">(.*?)</p>', page[page.index("panels2") :])
        values = scores or tuple(min(100, 4 * len(re.sub("<[^>]*>", "", text).split())) for text in panels)
        assert client.post("/task", data=answer(page, *values)).status_code == 303


def test_progress_quality_and_suspicion_are_seen(make_site: MakeSite) -> None:
    site = make_site(tuples=12, recipe=Recipe(12, 6, 6, seed=1))
    rate_everything(site, "ann")
    rate_everything(site, "bob", (100, 100))
    page = site.client("admin").get("/admin").text
    assert "2 of 3" in page
    assert re.search(r"bob</th>(?s:.)*?failed(?s:.)*?hardly uses the scale", page)
    assert re.search(r"ann</th>(?s:.)*?passed", page)
    assert "50 %" in page and "1 task failed" in page


def test_failed_tasks_go_out_again_to_somebody_else(make_site: MakeSite) -> None:
    site = make_site(tuples=12, people=("ann", "bob", "cleo"), recipe=Recipe(12, 6, 6, annotators=2, seed=1))
    rate_everything(site, "ann")
    rate_everything(site, "bob", (100, 100))
    assert "Thank you" in finish_training(site, "cleo")
    admin = site.client("admin")
    assert admin.post("/admin/again", data=fields(admin.get("/admin").text)).status_code == 303
    assert "Thank you" not in site.client("cleo").get("/task").text
    assert "Thank you" in site.client("bob").get("/task").text, "not to who failed"
    assert admin.post("/admin/again", data=fields(admin.get("/admin").text)).status_code == 303
    rows = site.project.database.execute("SELECT count(*) AS n FROM tasks WHERE hit = '0001'").fetchone()
    assert rows["n"] == 3, "once, not at every press of the button"


def finish_training(site: Site, who: str) -> str:
    client = site.client(who)
    client.post("/task", data=answer(client.get("/task").text, 10, 20))
    return str(client.get("/task").text)


def test_people_are_added_replaced_and_revoked(make_site: MakeSite) -> None:
    site = make_site()
    admin = site.client("admin")
    form = fields(admin.get("/admin").text) | {"name": "Zoë", "action": "add"}
    page = admin.post("/admin/people", data=form).text
    link = re.search(r"/join/([\w-]{40,})", page)
    assert link is not None
    assert joined(site.client(), f"/join/{link[1]}").status_code == 303
    assert link[1] not in admin.get("/admin").text, "a link is shown once"
    newer = admin.post("/admin/people", data=form | {"action": "link"}).text
    assert site.client().get(f"/join/{link[1]}").status_code == 403
    token = re.search(r"/join/([\w-]{40,})", newer)
    assert token is not None
    assert admin.post("/admin/people", data=form | {"action": "revoke"}).status_code == 303
    assert site.client().get(f"/join/{token[1]}").status_code == 403
    assert admin.post("/admin/people", data=form).status_code == 422, "the name is taken"
    assert admin.post("/admin/people", data=form | {"action": "promote"}).status_code == 400
    assert admin.post("/admin/people", data=form | {"name": "nobody", "action": "revoke"}).status_code == 422


def test_admin_forms_need_their_signature(make_site: MakeSite) -> None:
    site = make_site()
    admin = site.client("admin")
    for path in ("/admin/people", "/admin/again", "/admin/instructions"):
        assert admin.post(path, data={"name": "x", "action": "add"}).status_code == 403
        annotator_form = fields(site.client("ann").get("/task").text)
        assert admin.post(path, data=annotator_form).status_code == 403
        assert site.client("ann").post(path, data=fields(admin.get("/admin").text)).status_code == 403


def test_instructions_can_be_edited(make_site: MakeSite) -> None:
    site = make_site()
    admin = site.client("admin")
    form = fields(admin.get("/admin").text)
    assert admin.post("/admin/instructions", data=form | {"instructions": "**New** rules"}).status_code == 303
    assert "<strong>New</strong> rules" in site.client("ann").get("/task").text
    assert admin.post("/admin/instructions", data=form | {"instructions": "x" * 60_000}).status_code == 422


@pytest.mark.slow
def test_exports(make_site: MakeSite) -> None:
    site = make_site(tuples=12, people=("ann", "bob", "cleo"), recipe=Recipe(12, 6, 6, seed=1))
    admin = site.client("admin")
    assert admin.get("/admin/export/segments.tsv").status_code == 422, "nothing has three ratings yet"
    for who in ("ann", "bob", "cleo"):
        rate_everything(site, who)
    ratings = pl.read_parquet(io.BytesIO(admin.get("/admin/export/ratings.parquet").content))
    assert ratings.height == 2 * len(stored(site.project)) == 2 * 3 * 25
    assert {"group_victim", "group_recipe", "group_year"} <= set(ratings.columns)
    tuples = pl.read_csv(io.BytesIO(admin.get("/admin/export/attack.tsv").content), separator="\t")
    assert tuples.columns == ["tuple", "side", "z", "mean_raw", "n"]
    assert tuples.height == 24 and set(tuples["n"]) == {3} and set(tuples["side"]) == {"original", "perturbed"}
    assert admin.get("/admin/export/segments.seg.score").text.count("\n") == 24
    assert admin.get("/admin/export/ratings.tsv").text.startswith("language_pair\thit\tannotator")
    assert admin.get("/admin/export/project.db").status_code == 404
    assert admin.get("/admin/export/..%2fproject.db").status_code == 404


@pytest.mark.parametrize("protocol", ["side-by-side", "pairwise"])
def test_the_page_works_before_anybody_rated(make_site: MakeSite, protocol: str) -> None:
    assert "0 of" in make_site(protocol=protocol).client("admin").get("/admin").text
