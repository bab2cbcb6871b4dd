"""Runs as Markdown, LaTeX and model cards."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from babelquake.escape import visible
from babelquake.report.latex import escape as latex_escape
from babelquake.report.latex import table_latex, to_latex
from babelquake.report.markdown import table_markdown, to_markdown, to_model_card
from babelquake.report.table import Table
from babelquake.runs.info import command_line
from babelquake.runs.run import Run

TEXT = st.text(alphabet=st.characters(exclude_categories=[]), max_size=40)


def test_markdown_has_verdict_tables_and_command(runs: dict[str, Run]) -> None:
    text = to_markdown([runs["mt"], runs["qe"]])
    assert re.search(r": old loses \d+ % of its chrF", text)
    assert "| perturbation | system |" in text
    assert "babelquake mt" in text and "--scorer chrf --scorer 'bleu[lowercase=true]'" in text
    assert text.count("How to reproduce") == 2


@given(TEXT, TEXT)
def test_no_cell_breaks_a_markdown_table(one: str, other: str) -> None:
    lines = table_markdown(Table("t", ("a", "b"), ((one, other), ("1", "2")))).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 4
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3 for row in rows)
    assert not any("<" in row for row in rows)


def test_latex_is_booktabs_and_leaves_out_repetition(runs: dict[str, Run]) -> None:
    text = to_latex([runs["mt"]])
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 7
    assert r"bleu[lowercase=true]" in text
    assert re.search(r"^typos \(20 \\% of words\) & old & .*\n *& new &", text, re.M)


@given(TEXT)
def test_latex_escapes_whatever_it_is_given(text: str) -> None:
    bare = re.sub(
        r"\\(?:text[a-z]+|ldots)\{\}"
        r"|\\[{}$&#_%]|\$(?:-|\\[a-zA-Z]+)\$",
        "",
        latex_escape(text),
    )
    assert not set(bare) & set("\\{}$&#_%~^\n")


def test_braces_balance_in_latex() -> None:
    text = table_latex(Table("50 % of {a}_b", ("x", "y"), (("\\end{table}", "1"),)), "a b/c")
    assert text.count(r"\end{table}") == 1
    assert r"\label{tab:a-b-c}" in text


def test_invisible_characters_are_shown() -> None:
    assert visible("a\x00b\x1b\u202e\u2066") == "a␀b␛⟨U+202E⟩⟨U+2066⟩"
    assert visible("two\nlines") == "two↵lines"
    assert visible("می\u200cخواهم 👩\u200d👧") == "می\u200cخواهم 👩\u200d👧"


@given(TEXT)
def test_visible_text_holds_no_controls(text: str) -> None:
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", visible(text))


def test_the_command_quotes_what_a_shell_would_touch(tmp_path: object) -> None:
    run = Run.resume(f"{tmp_path}/r", "metric", {})
    run.note_options({"scorer": ["a b", "$(rm)"], "full_stops": 1000})
    assert command_line(run) == "babelquake metric --scorer 'a b' --scorer '$(rm)' --full-stops 1000 --out r"


HOSTILE_NAME = "a\ntouch owned\n```\ntouch owned\n`touch owned` $(touch owned)\r'.en-de.tsv"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_is_pasted_from_how_to_reproduce_runs_our_command_alone(tmp_path: Path, runs: dict[str, Run]) -> None:
    shutil.copytree(runs["mt"].folder, tmp_path / "r")
    run = Run.open(tmp_path / "r")
    run.info.options["data"] = [HOSTILE_NAME]
    run.info.signatures["system " + HOSTILE_NAME] = HOSTILE_NAME
    fence, block = re.search(r"^(`{3,})sh\n(.*)^\1$", to_markdown([run]), re.M | re.S).groups()  # type: ignore[union-attr]
    assert len(fence) > 3
    pasted = f'babelquake() {{ printf "%s|" "$@"; }}\n{block}'
    said = subprocess.run(["bash"], input=pasted.encode(), cwd=tmp_path, capture_output=True)
    assert said.stderr == b"" and HOSTILE_NAME.encode() in said.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_every_system_has_its_results_and_the_reader_a_section(runs: dict[str, Run]) -> None:
    text = to_model_card([runs["mt"]])
    _, front, body = text.split("---\n", 2)
    index = yaml.safe_load(front)["model-index"]
    assert [entry["name"] for entry in index] == ["old", "new"]
    metrics = {metric["name"]: metric for metric in index[1]["results"][0]["metrics"]}
    assert metrics["overall quality kept (ROBUST) · chrf · de-en"]["value"] > 90
    assert metrics["quality kept (ROBUST) · chrf · odd capitals · de-en"]["type"] == "robust"
    assert "## Robustness: mt" in body and "Best under noise: new" in body


def test_scorers_are_the_models_of_other_studies(runs: dict[str, Run]) -> None:
    front = yaml.safe_load(to_model_card([runs["qe"]]).split("---\n", 2)[1])
    assert [entry["name"] for entry in front["model-index"]] == ["chrf", "bleu", "ter"]
