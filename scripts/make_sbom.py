"""What an installation of babelquake consists of, as a software bill of materials (CycloneDX 1.5): sbom.cdx.json.

Every distribution that the core and the extras ask for, directly or through others, with the version this project was
tested with (constraints.txt) and the licence that the installed one declares.

    python scripts/make_sbom.py
"""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "sbom.cdx.json"
NAME = re.compile(r"[A-Za-z0-9._-]+")
DEVELOPMENT = frozenset({"dev", "test-models", "all"})


def plain(name: str) -> str:
    """A distribution's name as the index normalises it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked_for(lines: list[str]) -> list[str]:
    """The distributions that requirement lines name, optional ones of others left out."""
    return [plain(found.group()) for line in lines if "extra ==" not in line and (found := NAME.match(line))]


def pinned() -> dict[str, str]:
    """Versions this project was tested with."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {plain(name): version for name, _, version in (line.partition("==") for line in lines) if version}


def closure(first: list[str]) -> list[str]:
    """Everything that these need, and what that needs."""
    seen: dict[str, None] = {}
    todo = list(first)
    while todo:
        name = todo.pop()
        if name in seen or name == "babelquake":
            continue
        seen[name] = None
        try:
            todo += asked_for(distribution(name).requires or [])
        except PackageNotFoundError:
            continue
    return sorted(seen)


def component(name: str, versions: dict[str, str]) -> dict[str, Any]:
    """One entry."""
    version = versions.get(name)
    entry: dict[str, Any] = {"type": "library", "name": name}
    try:
        metadata = distribution(name).metadata
        version = version or metadata["Version"]
        licence = metadata.get("License-Expression") or (metadata.get("License") or "").partition("\n")[0][:80]
        if licence:
            entry["licenses"] = [{"license": {"name": licence}}]
    except PackageNotFoundError:
        pass
    if version:
        entry |= {"version": version, "purl": f"pkg:pypi/{name}@{version}"}
    return entry


def sbom() -> dict[str, Any]:
    """The bill of materials."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in set(extras) - DEVELOPMENT for line in extras[extra])]
    versions = pinned()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "babelquake", "licenses": [{"license": {"id": "Apache-2.0"}}]}
        },
        "components": [component(name, versions) for name in closure(asked_for(lines))],
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(sbom(), indent=1) + "\n", "utf-8")
