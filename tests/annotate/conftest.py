"""Small projects, and an app with people in it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from babelquake.annotate.people import add_annotator, new_admin_token
from babelquake.annotate.prepare import Recipe, prepare
from babelquake.annotate.project import Project

WORDS = [
    *("the", "committee", "of", "the", "council", "said", "on", "Monday", "that", "a", "new", "rule", "for"),
    *("small", "boats", "will", "come", "into", "force", "next", "year"),
]


def tuple_rows(count: int) -> list[dict[str, Any]]:
    """Tuples whose perturbed side has one word changed; every row is different."""
    rows = []
    for number in range(count):
        original = [*WORDS[number % 7 :], f"case{number}", "."]
        perturbed = [*original]
        perturbed[3] = "purple"
        rows.append(
            {
                "id": f"t{number}",
                "reference": " ".join(["Indeed", *original]),
                "original": " ".join(original),
                "perturbed": " ".join(perturbed),
                "victim": ("bertscore", "bleurt", "comet")[number % 3],
                "recipe": ("clare", "deepwordbug")[number // 3 % 2],
                "system": f"sys{number % 2}",
                "year": str((2012, 2017)[number // 6 % 2]),
            }
        )
    return rows


@pytest.fixture
def tuples(tmp_path: Path) -> Path:
    """A table of 40 tuples."""
    rows = tuple_rows(40)
    file = tmp_path / "tuples.tsv"
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return file


@dataclass
class Site:
    """A project, its app, and the tokens of its people."""

    project: Project
    app: Any
    admin: str
    tokens: dict[str, str] = field(default_factory=dict)

    def client(self, who: str | None = None, **options: Any) -> Any:
        """Somebody's browser, already let in; without a name, a stranger's."""
        from starlette.testclient import TestClient

        client = TestClient(self.app, base_url="http://rating.test", follow_redirects=False, **options)
        if who == "admin":
            assert joined(client, f"/admin/join/{self.admin}").status_code == 303
        elif who:
            assert joined(client, f"/join/{self.tokens[who]}").status_code == 303
        return client


def joined(client: Any, link: str) -> Any:
    """Open an invitation and click; the answer to the click."""
    page = client.get(link)
    return client.post(link, data=fields(page.text)) if page.status_code == 200 else page


MakeSite = Callable[..., Site]


@pytest.fixture
def make_site(tuples: Path, tmp_path: Path) -> MakeSite:
    """A site from a table; options go to `prepare`."""
    if find_spec("fastapi") is None:
        pytest.skip("needs FastAPI (pip install 'babelquake[annotate]')")

    def make(source: Path | None = None, people: tuple[str, ...] = ("ann", "bob"), **options: Any) -> Site:
        from babelquake.annotate.app import make_app

        settings = {"recipe": Recipe(6, 2, 2, seed=3), "practice": 1, **options}
        name = f"project{len(list(tmp_path.glob('*.db')))}.db"
        project = prepare(source or tuples, tmp_path / name, **settings)
        site = Site(project, make_app(project), new_admin_token(project))
        site.tokens = {person: add_annotator(project, person) for person in people}
        return site

    return make


def fields(page: str) -> dict[str, str]:
    """The hidden fields of a page's first form."""
    import html

    form = page[page.index('<form method="post"') :]
    form = form[: form.index("</form>")]
    found = re.findall(r'<input type="hidden" name="([^"]+)"[^>]*value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found}


def answer(page: str, *scores: int) -> dict[str, str]:
    """A valid answer to a page with sliders."""
    filled = fields(page)
    for place, score in enumerate(scores):
        filled |= {f"score{place}": str(score), f"touched{place}": "1"}
    return filled


def stored(project: Project) -> list[dict[str, Any]]:
    """All ratings of a project."""
    rows = project.database.execute("SELECT item, annotator, answer FROM ratings ORDER BY at, item").fetchall()
    return [{**dict(row), "answer": json.loads(row["answer"])} for row in rows]
