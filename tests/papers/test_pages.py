"""docs/papers: every stored page holds the published cells, and its index names every table that there is."""

import re
from pathlib import Path

import pytest

from babelquake.papers import paper, paper_names
from babelquake.papers.reproducing import FEWEST
from babelquake.report.table import number

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "papers"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "index.md")
INDEX = (FOLDER / "index.md").read_text("utf-8")
TABLES = [(name, table) for name in paper_names() for table in paper(name).tables]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_holds_what_was_published(page: Path) -> None:
    name, _, table = page.stem.partition("-")
    card = paper(name).table(table)
    lines = page.read_text("utf-8").splitlines()
    assert lines[0] == f"# {name} {table}: {card.title}"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    rows = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
    assert "n" in cells[0] and "95 % interval" in cells[0]
    assert any(row["measured"] for row in rows), "something was measured"
    for row in rows:
        place = list(card.columns).index(row.get("column", next(iter(card.columns))))
        published = number(card.rows[row["row"]].published[place], card.digits)
        assert row["published"].partition(" ±")[0] == published, row
        small = row["n"] and int(row["n"].replace(",", "")) < FEWEST
        assert not (small and row["measured"]), "a number on fewer than twenty segments is not shown"


@pytest.mark.parametrize(("name", "table"), TABLES, ids=lambda text: text)
def test_the_index_has_a_page_or_a_reason(name: str, table: str) -> None:
    if (FOLDER / f"{name}-{table}.md").exists():
        assert f"({name}-{table}.md)" in INDEX
        return
    whose = f"{name[:-4].capitalize()} {name[-4:]}"
    told = " ".join(line for line in INDEX.splitlines() if line.startswith(f"| {whose} |"))
    kind, number_ = re.match(r"([a-z]+)-?(\w+)", table).groups()  # type: ignore[union-attr]
    assert re.search(rf"{kind.capitalize()}s? (?:[\w, ]*\b)?{number_.upper()}\b", told), f"{whose}: {table}"
