"""Dependencies point down: a room knows nothing of the rooms above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import babelquake

ROOT = Path(babelquake.__file__).parent
FLOORS: tuple[set[str], ...] = (
    {"__main__"},
    {"cli", "__init__"},
    {"report"},
    {"papers"},
    {"annotate"},
    {"train"},
    {"studies"},
    {"attacks"},
    {"engine"},
    {"systems"},
    {"scorers"},
    {"models"},
    {"perturb"},
    {"runs"},
    {"stats"},
    {"data"},
    {
        "callee",
        "languages",
        "http",
        "interrupts",
        "outside",
        "places",
        "text",
        "visible",
        "spec",
        "registry",
        "randomness",
        "errors",
        "version",
        "py.typed",
    },
)
"""From the roof down, as DESIGN draws it. The base modules of the last floor may know each other.

`__init__` is the front door for Python as `cli` is for the terminal.
"""


def floor(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Lines and full names of whatever a file imports of babelquake, at its head or inside functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name.split(".")[0] == "babelquake")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file} line {node.lineno}: a relative import"
            if node.module == "babelquake":
                yield from ((node.lineno, f"babelquake.{name.name}") for name in node.names)
            elif (node.module or "").startswith("babelquake."):
                yield node.lineno, str(node.module)


def test_contributing_draws_the_same_house() -> None:
    drawing = (ROOT.parents[1] / "CONTRIBUTING.md").read_text("utf-8").split("```")[1]
    drawn = [line.split()[0].rstrip("/") for line in drawing.splitlines() if line.startswith("  ") and "/ " in line]
    assert drawn == ["cli", *(room for floor in FLOORS[2:-1] for room in floor)]
    base = next(line for line in drawing.splitlines() if line.strip().startswith("callee,"))
    assert {name.strip() for name in base.split(",")} == FLOORS[-1] - {"py.typed"}


def test_every_room_has_its_floor() -> None:
    rooms = {entry.name.removesuffix(".py") for entry in ROOT.iterdir() if entry.name != "__pycache__"}
    assert rooms <= set().union(*FLOORS)


def test_dependencies_point_down() -> None:
    upwards = []
    for file in sorted(ROOT.rglob("*.py")):
        here = file.relative_to(ROOT).parts[0].removesuffix(".py")
        for line, module in imports(file):
            there = room_of(module)
            allowed = here == there or floor(there) > floor(here) or floor(here) == floor(there) == len(FLOORS) - 1
            if not allowed:
                upwards.append(f"{file.relative_to(ROOT)} line {line}: {module}")
    assert not upwards, upwards


def test_the_scan_sees_imports_inside_functions_and_of_packages(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import babelquake.cli\nfrom babelquake import study\ndef f():\n    from babelquake.data import read\n"
    )
    assert list(imports(file)) == [(1, "babelquake.cli"), (2, "babelquake.study"), (4, "babelquake.data")]
