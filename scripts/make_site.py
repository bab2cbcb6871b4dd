"""Collect the docs, CONTRIBUTING, CHANGELOG and NOTICE into one folder that MkDocs turns into a site.

Pages about papers' tables are made here from the results stored in docs/papers beside what was published.
"""

import json
import re
import shutil
from pathlib import Path

from babelquake.papers import restored
from babelquake.report.papers import reproduction_markdown

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "site-docs"
TEXTS = ("CONTRIBUTING.md", "CHANGELOG.md", "NOTICE")


def main() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(ROOT / "docs", TARGET)
    for results in (TARGET / "papers").glob("*.json"):
        name, _, table = results.stem.partition("-")
        found = restored(name, table, json.loads(results.read_text("utf-8")))
        results.with_suffix(".md").write_text(reproduction_markdown(found), "utf-8")
        results.unlink()
    for page in TARGET.rglob("*.md"):
        page.write_text(_relinked(page.read_text("utf-8"), top=False), "utf-8")
    for name in TEXTS:
        target = TARGET / f"{name.removesuffix('.md').lower()}.md"
        target.write_text(_relinked((ROOT / name).read_text("utf-8"), top=True), "utf-8")
    print(f"{sum(1 for _ in TARGET.rglob('*.md'))} pages in {TARGET.relative_to(ROOT)}")


def _relinked(text: str, top: bool) -> str:
    """Links between files of the repository as links between pages of the site."""
    text = re.sub(r"\]\(((?:papers/)?\w+-[\w-]+)\.json\)", r"](\1.md)", text)
    if top:
        text = re.sub(r"\]\(docs/", "](", text)
    text = re.sub(r"\]\(((?:\.\./)*)README\.md", lambda found: f"]({_depth(found.group(1))}index.md", text)
    text = re.sub(r"\]\(((?:\.\./)*)(CONTRIBUTING|CHANGELOG)\.md", _lowered, text)
    text = re.sub(r"\]\(((?:\.\./)*)NOTICE\)", lambda found: f"]({_depth(found.group(1))}notice.md)", text)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)*(?:bench|src|scripts|packages|tests|LICENSE|action)[^)]*\)", r"\1", text)


def _lowered(found: re.Match[str]) -> str:
    return f"]({_depth(found.group(1))}{found.group(2).lower()}.md"


def _depth(dots: str) -> str:
    """One step less: pages of docs/ stand at the top of the site."""
    return dots[3:] if dots.startswith("../") else dots


if __name__ == "__main__":
    main()
