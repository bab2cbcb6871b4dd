"""Dependencies point down: a room knows nothing of the rooms above it."""

import ast
import subprocess
import sys
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
    {"failures"},
    {"models"},
    {"perturb"},
    {"runs"},
    {"stats"},
    {"data"},
    {
        "compiled",
        "errors",
        "escape",
        "files",
        "generators",
        "http",
        "interrupts",
        "languages",
        "limits",
        "machinery",
        "paths",
        "randomness",
        "registry",
        "resource",
        "spec",
        "text",
        "user_code",
        "version",
        "warnings_log",
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
    base = next(line for line in drawing.splitlines() if line.strip().startswith("compiled,"))
    assert {name.strip() for name in base.split(",")} == FLOORS[-1]


def test_every_room_has_its_floor() -> None:
    code = (entry for entry in ROOT.iterdir() if entry.suffix == ".py" or entry.is_dir())
    rooms = {entry.name.removesuffix(".py") for entry in code if entry.name != "__pycache__"}
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


def test_studies_know_nothing_of_each_other() -> None:
    """What two studies share stands beside their folders."""
    studies = {entry.name for entry in (ROOT / "studies").iterdir() if (entry / "study.py").is_file()}
    assert len(studies) > 5
    siblings = []
    for file in sorted((ROOT / "studies").glob("*/*.py")):
        for line, module in imports(file):
            parts = module.split(".")
            if parts[1] == "studies" and len(parts) > 2 and parts[2] in studies - {file.parent.name}:
                siblings.append(f"{file.relative_to(ROOT)} line {line}: {module}")
    assert not siblings, siblings


def test_the_scan_sees_imports_inside_functions_and_of_packages(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import babelquake.cli\nfrom babelquake import study\ndef f():\n    from babelquake.data import read\n"
    )
    assert list(imports(file)) == [(1, "babelquake.cli"), (2, "babelquake.study"), (4, "babelquake.data")]


def defined(module: str) -> set[str]:
    """The names that a module has, and the modules in it, without running it."""
    place = ROOT.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    inside = {entry.stem for entry in place.iterdir()} if place.is_dir() else set()
    if module == "babelquake":
        return inside | set(babelquake.__all__)
    names = {name for node in ast.parse(file.read_text("utf-8")).body for name in _bound(node)}
    return names | inside


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (name.asname or name.name for name in node.names)
    elif isinstance(node, ast.If | ast.Try):
        yield from (name for inner in node.body for name in _bound(inner))
    else:
        yield from (leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name))


def test_scripts_and_benches_import_what_there_is() -> None:
    missing = []
    for file in [path for folder in ("scripts", "bench") for path in (ROOT.parents[1] / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "babelquake":
                lacking = {name.name for name in node.names} - defined(str(node.module))
                missing += [f"{file.name} line {node.lineno}: {node.module}.{name}" for name in sorted(lacking)]
    assert not missing, missing


PASSAGE = 11
"""So many lines in a row, alike to the letter, are written twice."""


def told(file: Path) -> list[tuple[int, str]]:
    """Line numbers and lines that say something: no blanks, comments, imports or lone brackets."""
    lines = file.read_text("utf-8").splitlines()
    imported = {
        line
        for node in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    numbered = ((number, " ".join(line.split())) for number, line in enumerate(lines, 1) if number not in imported)
    return [(number, line) for number, line in numbered if line.strip("()[]{},:") and not line.startswith("#")]


def passages_told_twice(files: list[Path], length: int = PASSAGE) -> list[str]:
    seen: dict[tuple[str, ...], str] = {}
    twice = []
    for file in files:
        lines = told(file)
        for place in range(len(lines) - length + 1):
            passage = tuple(line for _, line in lines[place : place + length])
            here = f"{file.name} line {lines[place][0]}"
            if passage in seen:
                twice.append(f"{here} is {seen[passage]}: {passage[0]}")
            seen.setdefault(passage, here)
    return twice


def test_no_passage_longer_than_ten_lines_stands_twice() -> None:
    files = [file for room in ("cli", "report", "studies") for file in sorted((ROOT / room).rglob("*.py"))]
    assert len(files) > 60
    assert not (twice := passages_told_twice(files)), twice


def test_the_scan_finds_what_was_copied(tmp_path: Path) -> None:
    lines = [f"x{number} = {number}" for number in range(PASSAGE)]
    for name, text in (("a.py", lines), ("b.py", ["import os", *lines[:5], "", "# aside", *lines[5:]])):
        (tmp_path / name).write_text("\n".join(text))
    assert len(passages_told_twice([tmp_path / "a.py", tmp_path / "b.py"])) == 1


UNIX = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
"""Modules that Windows does not have."""


def test_the_package_can_be_imported_on_windows() -> None:
    """What only Unix has is imported nowhere, not even inside functions."""
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            found += [f"{file.relative_to(ROOT)}: {name}" for name in names if name.split(".")[0] in UNIX]
    assert not found, found


SIMULATED = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys({names}))
import babelquake.http
for room in {rooms}:
    package = importlib.import_module("babelquake." + room)
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)
print("imported", len([name for name in sys.modules if name.startswith("babelquake.")]))
"""


def test_every_study_report_and_command_is_imported_where_those_modules_are_missing() -> None:
    rooms = ["cli", "report", "studies", "engine", "runs", "data", "perturb", "stats"]
    script = SIMULATED.format(names=sorted(UNIX - {"posix"}), rooms=rooms)  # posix is Python's own here
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("imported"), done.stderr


REGISTRIES = {"studies/card.py", "report/pages/__init__.py"}
"""Where studies and pages are listed by name."""


def dispatches(file: Path, names: set[str]) -> Iterator[int]:
    """Lines that ask for a study by its name: comparisons of something called `study`, tables keyed by studies."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = any("study" in (getattr(side, "attr", ""), getattr(side, "id", "")) for side in sides)
            constants = {leaf.value for side in sides for leaf in ast.walk(side) if isinstance(leaf, ast.Constant)}
            if asked and constants & names:
                yield node.lineno
        elif isinstance(node, ast.Dict) and len(node.keys) > 1:
            yield from [node.lineno] * all(isinstance(key, ast.Constant) and key.value in names for key in node.keys)


def test_what_studies_do_differently_stands_on_their_cards() -> None:
    from babelquake.studies.card import STUDIES

    names, found = set(STUDIES.names()), []
    for file in sorted(ROOT.rglob("*.py")):
        if (place := file.relative_to(ROOT).as_posix()) not in REGISTRIES:
            found += [f"{place} line {line}" for line in dispatches(file, names)]
    assert not found, found


def test_the_scan_sees_dispatch_by_name(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('if run.info.study == "mt":\n    pass\nBY = {"mt": 1, "qe": 2}\nif old.study != new.study: pass\n')
    assert list(dispatches(file, {"mt", "qe"})) == [1, 3]
