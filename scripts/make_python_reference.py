"""Write docs/python.md: the Python interface, made from docstrings and from the options of the studies."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import babelquake as bq
from babelquake.runs.run import FOR_USERS
from babelquake.studies.card import STUDIES, function_of
from babelquake.studies.options import RunOptions, StudyOptions, entries
from babelquake.studies.plan import Plan

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
PARTS = {
    "Pieces": (
        "perturb",
        "perturb_table",
        "write_perturb_table",
        "augment",
        "augment_file",
        "suite",
        "scorer",
        "system",
        "defence",
        "read",
        "dataset",
    ),
    "Before and elsewhere": ("imported_systems", "imported_scorers"),
    "Runs and reports": (
        "runs_below",
        "compare",
        "require",
        "examples",
        "example_table",
        "write_html",
        "to_markdown",
        "to_latex",
        "to_model_card",
        "write_images",
        "write_slide",
        "write_leaderboard",
        "write_junit",
        "rerun",
        "build_challenge",
    ),
    "Papers and the engine": (
        "reproduce",
        "similarities",
        "configure",
        "Engine",
        "Cache",
        "workers",
        "UserError",
        "GateError",
    ),
    "Your own": ("System", "Scorer", "MeanScorer", "Questions", "Perturbation", "perturbation", "Suite", "Dataset"),
}
PLANNED = ("forecast", "run", "export", "submit")
"""What a plan can be asked for."""
JUDGING = ("mt", "metric", "qe")
"""Studies whose common options are listed once."""
HEAD = """# Python

<!-- Made by scripts/make_python_reference.py; a test compares them. -->

`import babelquake as bq`. What the command line does with data and runs, Python does with the same words:
`--max-queries 5` is `max_queries=5`, repeated options take a list; a flag is listed where it is not simply the name.
Rating projects and training are in `babelquake.annotate` and `babelquake.train`; `babelquake list` shows what there is.
Data come first by name and may be a path, a table of polars, pandas, pyarrow or Hugging Face `datasets`, a series, or
lists. Systems, scorers and perturbations are names, functions, lambdas or objects. Without `out` a run goes when the
program ends. A [notebook](notebook.ipynb) shows it all.

```python
run = bq.mt(data=df, systems=[my_function], suite=[my_perturbation, "misspell"], language_pair="de-en", quiet=True)
run.verdict, run.pivot("robust"), run.plot(), run.examples(worst=20), run.report("r.html"), run.to_latex()
print(bq.plan.mt(data=df, systems=["deepl"]).forecast())      # what it would send and cost; nothing is sent
```
"""


def page() -> str:
    """The page as text."""
    lines = [HEAD, "## Studies", ""]
    options = {name: STUDIES.get(name).options for name in STUDIES.names()}
    common = _rows(StudyOptions)
    judging = [row for row in _rows(options["mt"]) if all(row in _rows(options[name]) for name in JUDGING)]
    judging = [row for row in judging if row not in common]
    for name, given in options.items():
        told = (inspect.getdoc(function_of(name)) or "").split("\n\nParameters:")[0]
        left = [*(common if issubclass(given, StudyOptions) else []), *(judging if name in JUDGING else [])]
        lines += [f"### bq.{name}", "", told, "", *_table(row for row in _rows(given) if row not in left), ""]
    lines += ["### What mt, metric and qe take", "", *_table(judging), ""]
    lines += ["### What all studies but human take", "", *_table(common), ""]
    lines += ["## Run", "", _first(bq.Run), "", "| | |", "| --- | --- |"]
    lines += [
        f"| `{name}` | {_first(getattr(bq.Run, name, None)) or _OWN.get(name, '')} |" for name in sorted(FOR_USERS)
    ]
    lines += ["", "## Plan", "", f"`bq.plan.mt(…)` and so on. {_first(Plan)}", "", "| | |", "| --- | --- |"]
    lines += [f"| `{name}` | {_first(getattr(Plan, name))} |" for name in PLANNED]
    for title, names in PARTS.items():
        lines += ["", f"## {title}", "", "| | |", "| --- | --- |"]
        lines += [f"| `bq.{name}{_signature(name)}` | {_first(_thing(name))} |" for name in names]
    return "\n".join(lines).rstrip() + "\n"


_OWN = {"folder": "Where it is.", "info": "run.json, typed."}


def _table(rows: Iterable[str]) -> list[str]:
    return ["| argument | default | |", "| --- | --- | --- |", *rows]


def _rows(options: type[RunOptions]) -> list[str]:
    """A row per option; what it is called at the terminal, where that is not simply its name."""
    rows = []
    for entry in entries(options):
        flags = [flag for flag in entry.flags if flag != f"--{entry.name.replace('_', '-')}"] if entry.kind else []
        called = " ".join(f"`{flag}`" for flag in (entry.name, *flags))
        default = "" if entry.required or entry.default in (None, ()) else f"`{entry.default!r}`"
        rows.append(f"| {called} | {default} | {entry.in_python} |".replace("a|b", "a\\|b"))
    return rows


def _thing(name: str) -> Any:
    thing = getattr(bq, name)
    return getattr(thing, name, thing) if isinstance(thing, ModuleType) else thing


def _signature(name: str) -> str:
    thing = _thing(name)
    if inspect.isclass(thing):
        return ""
    given = inspect.signature(thing).parameters.values()
    named = (str(one.replace(annotation=one.empty)) if one.default is one.empty else f"{one.name}=…" for one in given)
    return f"({', '.join(named)})"


def _first(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(thing) if thing is not None else ""
    return " ".join((text or "").split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"{PAGE.name}: {len(page().splitlines())} lines")
