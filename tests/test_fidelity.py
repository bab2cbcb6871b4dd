"""The page on fidelity says what fidelity.yaml says, and every test it names is there."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAPERS: dict[str, list[dict[str, Any]]] = yaml.safe_load((ROOT / "docs" / "fidelity.yaml").read_text("utf-8"))
SECTIONS = {
    "Niu": "1 2 3 4 5",
    "Vu": "1 2 3 3.1 3.2 4 4.1 4.2 5",
    "Kanojia": "1 2 3 4 5 5.1 5.2 6 6.1 6.2 6.3 7",
    "Jwalapuram": "1 2 2.1 2.2 3 3.1 4 4.1 4.2 5 6",
    "Huang": "1 2 2.1 2.2 3 3.1 3.2 3.3 4 5 6",
}
"""The sections that the papers have."""
ROWS = [(paper, row) for paper, rows in PAPERS.items() for row in rows]


def test_the_page_is_up_to_date(tmp_path: Path) -> None:
    """`make docs` would change nothing."""
    made = tmp_path / "fidelity.md"
    subprocess.run([sys.executable, ROOT / "scripts" / "make_fidelity.py", made], check=True)
    assert made.read_text("utf-8") == (ROOT / "docs" / "fidelity.md").read_text("utf-8"), "run `make docs`"


def test_all_five_papers_are_there() -> None:
    assert list(PAPERS) == ["Niu 2020", "Vu 2022", "Kanojia 2021", "Jwalapuram 2023", "Huang & Baldwin 2023"]


@pytest.mark.parametrize(("paper", "row"), ROWS, ids=[f"{paper}: {row['element'][:40]}" for paper, row in ROWS])
def test_every_element_has_its_status_its_reason_and_its_test(paper: str, row: dict[str, Any]) -> None:
    assert row.keys() <= {"element", "status", "why", "test"}
    assert row["status"] in ("exact", "differs", "not done")
    if row["status"] != "exact":
        assert row["why"]
    if row["status"] != "not done":
        assert row["test"]
    for named in row.get("test", []):
        file, _, function = named.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert function.startswith("test_") and function in names, f"{named} is not there"


def test_sections_that_are_cited_are_in_the_papers() -> None:
    cited = re.compile(rf"({'|'.join(SECTIONS)})\b[\w .,&(]{{0,24}}20(?:20|21|22|23),? §(\d(?:\.\d)?)")
    found = set()
    for folder, ending in (("src", "py"), ("src", "yaml"), ("docs", "md")):
        for file in (ROOT / folder).rglob(f"*.{ending}"):
            found |= {(paper, section, file.name) for paper, section in cited.findall(file.read_text("utf-8"))}
    assert {paper for paper, *_ in found} == SECTIONS.keys()
    assert [one for one in sorted(found) if one[1] not in SECTIONS[one[0]].split()] == []
