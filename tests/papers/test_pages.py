"""docs/papers: stored results and published cells make a page each; the index names every table that there is."""

import json
import re
from pathlib import Path

import pytest

from babelquake.papers import paper, paper_names, restored
from babelquake.report.papers import reproduction_markdown

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "papers"
RESULTS = sorted(FOLDER.glob("*.json"))
INDEX = (FOLDER / "index.md").read_text("utf-8")
COUNTS = "size"
"""The kind of table whose numbers are counts: they are an n and have no interval."""
TABLES = [(name, table) for name in paper_names() for table in paper(name).tables]


@pytest.mark.parametrize("results", RESULTS, ids=lambda results: results.stem)
def test_stored_results_make_a_page_with_what_was_published(results: Path) -> None:
    name, _, table = results.stem.partition("-")
    stored = json.loads(results.read_text("utf-8"))
    found = restored(name, table, stored)
    card = paper(name).table(table)
    assert any(cell.measured is not None for cell in found.cells), "something was measured"
    assert {(cell["row"], cell["column"]) for cell in stored["cells"]} <= {(one.row, one.column) for one in found.cells}
    for cell in found.cells:
        assert cell.published == card.rows[cell.row].published[list(card.columns).index(cell.column)]
    for cell in found.cells:
        if cell.measured is not None and card.study != COUNTS:
            assert cell.n is not None and cell.low is not None and cell.high is not None, f"{cell.row}, {cell.column}"
            assert cell.low <= cell.measured <= cell.high or cell.too_few, f"{cell.row}, {cell.column}"
    page = reproduction_markdown(found)
    assert page.startswith(f"# {name} {table}: {card.title}\n") and "95 % interval" in page
    assert found.stored() == stored, "storing it again changes nothing"


@pytest.mark.parametrize(("name", "table"), TABLES, ids=lambda text: text)
def test_the_index_has_a_page_or_a_reason(name: str, table: str) -> None:
    if (FOLDER / f"{name}-{table}.json").exists():
        assert f"({name}-{table}.json)" in INDEX
        return
    whose = f"{name[:-4].capitalize()} {name[-4:]}"
    told = " ".join(line for line in INDEX.splitlines() if line.startswith(f"| {whose} |"))
    kind, number_ = re.match(r"([a-z]+)-?(\w+)", table).groups()  # type: ignore[union-attr]
    assert re.search(rf"{kind.capitalize()}s? (?:[\w, ]*\b)?{number_.upper()}\b", told), f"{whose}: {table}"
