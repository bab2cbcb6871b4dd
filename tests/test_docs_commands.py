"""Every command of README and docs is run, on small files of the names it uses; what cannot run here is parsed."""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from babelquake.cli.app import app

from .stand_ins import lay_out
from .test_docs import PAGES, blocks, commands, named

PARSED = {
    "ridge-qe[model=ridge]": "minutes of several models",
    "universal-suffix[pool=100,words=2]": "minutes of several models",
    "--suite pitfalls --best-of 32": "minutes of several models",
    "[model=gpt-en] --suite pitfalls": "minutes of several models",
    "[model=vectors-multi] --suite pitfalls": "minutes of several models",
    "annotate serve": "serves until it is stopped",
    "comet": "weights from the hub",
    "bleurt": "weights from the hub",
    "metricx": "weights from the hub",
    "transquest": "weights from the hub",
    "sentsim": "weights from the hub",
    "openkiwi": "weights of one's own",
    "--scorer bertscore --data": "roberta-large from the hub",
    "google/byt5-small": "weights from the hub",
    "--victim bertscore --": "roberta-large from the hub",
    "llm-judge": "a language model behind HTTP",
    "base_url=": "a language model behind HTTP",
    "runs/samples": "a run of a language model; tests/data/test_mt_run.py picks among samples",
    "my-qe": "a package of the reader's own",
    "train nmt": "trains for hours",
    "train mlm": "trains for hours",
    "train clm": "trains for hours",
    "train metric": "trains for hours",
    "train vectors": "trains for minutes",
    "train qe --config": "trains for minutes",
    "--architecture predictor-estimator": "trains for minutes",
    "neighbours build": "word vectors of 2 GB",
    "--recipe clare": "searches for minutes; tests/studies/attack runs it",
    "reproduce huang2023": "searches for minutes; tests/studies/attack runs it",
    "ray[": "a cluster",
    "wmt24/": "WMT's published outputs; tests/data/test_wmt_outputs.py and tests/studies/check read them",
    "translations.xliff": "a file of the reader's own; tests/studies/check reads one",
    "cache clear": "needs a yes",
    "challenge build": "a run of the reader's own; tests/studies/challenge builds sets",
    "1-submitted/": "WMT25's challenge sets; tests/studies/challenge reads them",
    "ESA.scores.csv": "ratings by people; tests/studies/correlate reads them",
    "annotate analyse first": "files of two campaigns",
    "annotate analyse project.db": "ratings by people",
    "--for-attack": "ratings by people",
}
"""Part of a command → why it is only parsed."""
SMALL = {"--limit": "6", "--resamples": "100", "--sample": "2", "--replicates": "1"}
"""Options that make a command quick, where it has them and does not say otherwise."""


def parsed(words: list[str]) -> tuple[typer.Context, set[str]]:
    """The command line as the program reads it, without doing anything; and the options of its command."""
    command, rest = typer.main.get_command(app), list(words)
    context = command.make_context("babelquake", rest[:0], resilient_parsing=True)
    while rest and rest[0] in getattr(command, "commands", {}):
        name = rest.pop(0)
        command = command.commands[name]  # type: ignore[attr-defined]
        if not hasattr(command, "commands"):
            context = command.make_context(name, list(rest), parent=context)
    return context, {flag for parameter in command.params for flag in parameter.opts}


def why_not(words: list[str]) -> str | None:
    line = " ".join(words)
    return next((reason for part, reason in PARSED.items() if part in line), None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A reader's working folder."""
    monkeypatch.setenv("BABELQUAKE_CACHE", str(tmp_path / "cache.sqlite"))
    place = tmp_path / "reader"
    place.mkdir()
    monkeypatch.chdir(place)
    lay_out(place)
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        if name.startswith("my_"):
            del sys.modules[name]


def run(words: list[str], **options: str) -> None:
    result = CliRunner().invoke(app, words, **options)
    failed = result.exception is not None and not isinstance(result.exception, SystemExit)
    gate = result.exit_code == 1 and "--fail-on" in words
    told = f"{shlex.join(words)}\n{result.output[-600:]}\n{result.exception!r}"
    assert not failed and (result.exit_code == 0 or gate), told


MADE = {
    **dict.fromkeys(
        ("runs/main", "runs/branch", "runs/new", "runs/sweep"),
        "mt -s command[cmd=cat] -d de-en.tsv -p case --resamples 100 -q -o",
    ),
    "runs/attack": "attack --recipe input-reduction --victim chrf -d tuples.tsv --constraint none --sample 8 -q -o",
    "verify": "mt -s command[cmd=cat] -d de-en.tsv -p case --resamples 100 -q -o",
    "project.db": "annotate prepare --from tuples.tsv --invite ann --out",
}
"""What a command takes for granted → the command that makes it."""
MAKES = ("--out", "-o", "--export")


def prepared(words: list[str], folder: Path) -> None:
    """What another page, or the reader, has made by then."""
    for before, word in pairwise(words):
        if word in MADE and before not in MAKES and not (folder / word).exists():
            run([*MADE[word].split(), word])
        if before == "--import":
            asked = next(path for name in ("sources.txt", "texts.jsonl") if (path := folder / word / name).exists())
            lines = asked.read_text("utf-8").splitlines()
            answers = lines if asked.suffix == ".txt" else ["0.5"] * len(lines)
            (folder / word / "mine.txt").write_text("\n".join(answers) + "\n", "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=named)
def test_every_command_runs(page: Path, folder: Path) -> None:
    _own_files(page, folder)
    for words in commands(page):
        for before, made in pairwise(words):
            if before in ("--out", "-o") and "--import" not in words:
                shutil.rmtree(folder / made, ignore_errors=True)
                (folder / made).unlink(missing_ok=True)
        _, known = parsed(words)
        if why_not(words):
            continue
        prepared(words, folder)
        run([*_smaller(words), *_quick(words, known)], input="Das ist ein Test.\n")


def _quick(words: list[str], known: set[str]) -> list[str]:
    """Options that make it quick, where that changes nothing that another command relies on."""
    as_it_is = words[0] in ("annotate", "perturb") or "--import" in words or "--export" in words
    given = {"--resamples": "100"} if as_it_is else SMALL
    if words[0] == "reproduce" and "huang2023" not in words:  # nothing is drawn where no sentence is attacked
        given = {flag: value for flag, value in given.items() if flag != "--sample"}
    return [word for flag, value in given.items() if flag in known and flag not in words for word in (flag, value)]


def _smaller(words: list[str]) -> list[str]:
    """The same with fewer sentences, where the command says how many."""
    asked = ("--sample", "--limit")
    return [SMALL[before] if before in asked else word for before, word in zip(["", *words], words, strict=False)]


def _own_files(page: Path, folder: Path) -> None:
    """Files of Python and YAML that a page asks its reader to write."""
    for block in blocks(page, "python", "yaml"):
        if found := re.match(r"# (\w+\.(py|yaml))", block):
            (folder / found[1]).write_text(block, "utf-8")


def test_what_is_only_parsed_is_still_in_the_documentation() -> None:
    lines = [" ".join(words) for page in PAGES for words in commands(page)]
    assert [part for part in PARSED if not any(part in line for line in lines)] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=named)
def test_python_examples_run(page: Path, folder: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, page.name, "exec")
        if "import babelquake as bq" in block:
            exec(compile(block, page.name, "exec"), {"__name__": "example"})
