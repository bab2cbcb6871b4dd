"""The notebook runs from its first cell to its last, and the reference of the Python interface is up to date."""

import ast
import json
import runpy
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import babelquake as bq

ROOT = Path(__file__).resolve().parents[1]


def carried_out(source: str, names: dict[str, Any]) -> Any:
    """What a cell shows: the value of its last line, where that is an expression."""
    body = ast.parse(source)
    last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if isinstance(last, ast.Expr) else None


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = [carried_out(source, names) for source in cells]
    assert sum(isinstance(value, pl.DataFrame) and value.height > 0 for value in shown) >= 3
    assert names["first"].verdict and names["bq"].compare(names["old"], names["new"]).verdict
    assert set(names["new"].measures["perturbation"].drop_nulls()) >= {"no_umlauts", "case"}
    assert set(names["new"].measures["system"].drop_nulls()) == {"restored"}
    assert (tmp_path / "report.html").is_file()


def test_the_reference_of_python_is_what_the_docstrings_say() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make_python_reference.py"))
    page = made["PAGE"].read_text("utf-8")
    assert page == made["page"](), "run scripts/make_python_reference.py"
    undocumented = [name for name in bq.__all__ if f"bq.{name}" not in page and name not in ("Run", "__version__")]
    assert not undocumented
