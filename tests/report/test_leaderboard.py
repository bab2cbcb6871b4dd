"""Scorers side by side, from runs of several studies."""

import shutil
import subprocess
from pathlib import Path

import pytest

from babelquake.errors import UserError
from babelquake.report.latex import table_latex, to_latex
from babelquake.report.leaderboard import leaderboard, leaderboard_chart, write_leaderboard
from babelquake.report.table import Table, leading_number
from babelquake.runs.run import Run


def test_every_scorer_has_a_line_with_intervals(runs: dict[str, Run]) -> None:
    table = leaderboard(runs["metric"])
    assert len(table.rows) == len(runs["metric"].info.listed("scorer"))
    assert any("harmless" in name for name in table.columns)
    assert all("[" in cell for row in table.rows for cell in row[1:] if cell)


def test_the_users_own_scorer_is_marked(runs: dict[str, Run]) -> None:
    mine = runs["metric"].info.listed("scorer")[0]
    marked = [row[0] for row in leaderboard(runs["metric"], [mine]).rows if row[0].startswith("★")]
    assert len(marked) == 1
    assert "★" in str(leaderboard_chart(runs["metric"], [mine]).spec())


@pytest.mark.parametrize("ending", ["tex", "md", "png", "svg"])
def test_a_leaderboard_is_a_table_or_a_picture(runs: dict[str, Run], tmp_path: Path, ending: str) -> None:
    assert write_leaderboard(runs["metric"], tmp_path / f"board.{ending}").stat().st_size > 200


def test_what_has_no_scorers_has_no_leaderboard(runs: dict[str, Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.tex"):
        write_leaderboard(runs["metric"], tmp_path / "board.docx")


def test_the_best_is_bold_within_its_group() -> None:
    rows = (("typos", "a", "80.1 ±0.2"), ("typos", "b", "79.0 ±0.2"), ("caps", "a", "−3.0*"), ("caps", "b", "−1.0"))
    text = table_latex(Table("t", ("noise", "system", "ROBUST"), rows, better=(("ROBUST", "up"),)), "t")
    assert r"\textbf{80.1 $\pm$0.2}" in text and r"\textbf{$-$1.0}" in text and text.count(r"\textbf") == 2


@pytest.mark.parametrize(("cell", "value"), [("−1.2**", -1.2), ("1,024", 1024.0), ("21 [8, 48]", 21.0), ("a", None)])
def test_cells_begin_with_their_numbers(cell: str, value: float | None) -> None:
    assert leading_number(cell) == value


def test_intervals_are_optional_in_a_paper(runs: dict[str, Run]) -> None:
    assert "interval" not in to_latex(runs["mt"]) and "95 \\% interval" in to_latex(runs["mt"], intervals=True)


LATEX = next(filter(None, map(shutil.which, ("pdflatex", "tectonic"))), None)


@pytest.mark.skipif(LATEX is None, reason="needs pdflatex or tectonic")
@pytest.mark.parametrize("study", ["mt", "metric", "qe", "agreement"])
def test_tables_compile(runs: dict[str, Run], tmp_path: Path, study: str) -> None:
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs,graphicx}"
    body = to_latex(runs[study], intervals=True) + table_latex(leaderboard(runs["metric"]), "board")
    (tmp_path / "paper.tex").write_text(head + "\\begin{document}" + body + "\\end{document}", "utf-8")
    command = [str(LATEX), *(["-halt-on-error"] if "pdflatex" in str(LATEX) else []), "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
