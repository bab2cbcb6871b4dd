"""The documentation is true: links lead somewhere, commands and options exist, examples run."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import typer
import yaml

from babelquake.cli.app import app
from babelquake.perturb import PERTURBATIONS
from babelquake.perturb.suite import suite
from babelquake.scorers import SCORERS
from babelquake.spec import bind, expand, parameters, parse
from babelquake.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FOREIGN = {"my-qe"}
"""Scorers of the reader's own, in examples."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(page.read_text("utf-8")) if language in languages]


def commands(page: Path) -> list[list[str]]:
    """The babelquake commands in a page's shell blocks, as words, without redirections and comments."""
    found = []
    for block in blocks(page, "", "sh", "bash", "console"):
        for line in block.replace("\\\n", " ").splitlines():
            start = line.find("babelquake ")
            if start >= 0 and line[:start].strip().rpartition("|")[2].strip() in ("", "$"):
                found.append(words_of(line[start:]))
    return found


def mentioned(page: Path) -> list[list[str]]:
    """The commands in a page's sentences, workflows and units of systemd, with what stands for anything left out."""
    text = page.read_text("utf-8")
    lines = re.findall(r"`(babelquake [a-z][^`]*)`", BLOCK.sub("", text))
    for block in blocks(page, "yaml", "ini"):
        lines += re.findall(r"(?:^ *|[:/] ?)(babelquake [a-z].*)", block.replace("\\\n", " "), re.MULTILINE)
    return [words_of(line) for line in lines]


def words_of(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word[0] in "<>|;&":
            break
        words.append(word)
    return words[1:]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(BLOCK.sub("", page.read_text("utf-8"))):
        if "://" not in target and not target.startswith("#"):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_and_their_options_exist(page: Path) -> None:
    for words in [*commands(page), *mentioned(page)]:
        command, rest = typer.main.get_command(app), list(words)
        assert rest[0] in command.commands, shlex.join(words)  # type: ignore[attr-defined]
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.commands[rest.pop(0)]  # type: ignore[attr-defined]
        options = {flag for parameter in command.params for flag in [*parameter.opts, *parameter.secondary_opts]}
        for word in rest:
            if word.startswith("-") and word not in ("-", "--help"):
                assert word in options, f"{word} of {shlex.join(words)}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_names_with_options_exist(page: Path) -> None:
    for words in commands(page):
        for flag, value in pairwise(words):
            if flag in ("-p", "--suite") and not value.endswith(".yaml") and ":" not in value:
                suite(value)
            for flags, registry in ((("-s", "--system"), SYSTEMS), (("-m", "--scorer"), SCORERS)):
                spec = expand(value)[0] if flag in flags else None
                if spec and spec.name not in FOREIGN and ":" not in spec.name:
                    accepted = parameters(registry.get(spec.name))
                    assert dict(spec.options).keys() <= accepted.keys() | {"name"}, value


def test_named_systems_of_the_systems_page_exist() -> None:
    page = (ROOT / "docs" / "systems.md").read_text("utf-8")
    for example in re.findall(r"`-s ([^`]+)`", page):
        spec = parse(shlex.split(example)[0])
        kind = SYSTEMS.get(spec.name)
        given = spec if {"source", "target"} - parameters(kind).keys() else spec.with_options(source="de", target="en")
        bind(given, parameters(kind), "system")


def test_yaml_examples_are_valid() -> None:
    found = [yaml.safe_load(block) for page in PAGES for block in blocks(page, "yaml")]
    workflow = next(content for content in found if "jobs" in content)
    steps = workflow["jobs"]["robustness"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert any("--fail-on regression" in step.get("run", "") for step in steps)


def test_commands_are_found_wherever_they_stand() -> None:
    ci, service = (mentioned(ROOT / "docs" / f"{name}.md") for name in ("ci", "annotate"))
    assert ["report", "runs/new", "--model-card", "CARD.md"] in ci
    assert ["compare", "runs/main", "runs/branch", "--fail-on", "regression", "--min-drop", "1"] in ci
    served = ["annotate", "serve", "project.db", "--port", "8000", "--https"]
    assert any(words[: len(served)] == served for words in service)


def test_every_family_of_perturbations_has_a_page_of_remedies() -> None:
    for family in {PERTURBATIONS.get(name).family for name in PERTURBATIONS.names()}:
        page = ROOT / "docs" / "weaknesses" / f"{family.replace(' ', '-')}.md"
        assert page.exists() and "**What helps" in page.read_text("utf-8"), family


def test_every_page_has_a_place_in_the_navigation_and_every_picture_a_page() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    placed = set(re.findall(r"[\w/-]+\.md", str(site["nav"])))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - placed if not re.fullmatch(r"papers/.+-.+\.md", page)} == set()
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert [image.name for image in (ROOT / "docs" / "images").iterdir() if image.name not in text] == []
