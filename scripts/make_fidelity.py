"""Writes docs/fidelity.md from docs/fidelity.yaml: how every element of the five protocols is done here.

python scripts/make_fidelity.py [FILE]
"""

import sys
from pathlib import Path
from typing import Any

import yaml

DOCS = Path(__file__).resolve().parents[1] / "docs"
STATUS = {"exact": "exact", "differs": "differs, because", "not done": "not done, because"}
HEAD = """# The five protocols, element by element

What each paper did, how it is done here, and the test that holds it. Made from `fidelity.yaml` by `make docs`; a test
checks that every test named here exists.
"""


def page(papers: dict[str, list[dict[str, Any]]]) -> str:
    """The whole page: what is done exactly, differently and not, then a table per paper."""
    rows = [row for elements in papers.values() for row in elements]
    counts = {status: sum(row["status"] == status for row in rows) for status in STATUS}
    said = ", ".join(f"{counts[status]} {status}" for status in STATUS)
    lines = [HEAD, f"{len(rows)} elements: {said}.", ""]
    for paper, elements in papers.items():
        lines += [f"## {paper}", "", "| element | how | held by |", "| --- | --- | --- |"]
        lines += [f"| {row['element']} | {_how(row)} | {_tests(row)} |" for row in elements]
        lines.append("")
    return "\n".join(lines)


def _how(row: dict[str, Any]) -> str:
    why = row.get("why", "")
    if row["status"] == "exact":
        return f"exact; {why}" if why else "exact"
    return f"{STATUS[row['status']]} {why}"


def _tests(row: dict[str, Any]) -> str:
    return "<br>".join(f"`{name}`" for name in row.get("test", []))


def main() -> None:
    """Write the page where it belongs, or to the file named."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "fidelity.md"
    target.write_text(page(yaml.safe_load((DOCS / "fidelity.yaml").read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
