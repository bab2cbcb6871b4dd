"""The admin's page: progress, people, quality so far, export."""

import io
import re

import polars as pl
import pytest
from tests.annotate.conftest import MakeSite, Site, answer, fields, joined, stored

from babelquake.annotate.hits import Recipe


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
