"""What an installation of babelquake consists of, as a software bill of materials (CycloneDX 1.5): sbom.cdx.json.

Every distribution that the core and the extras ask for, directly or through others, with the version this project was
tested with (constraints.txt) and the licence that the installed one declares.

    python scripts/make_sbom.py
"""

import json
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import vl_convert
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from babelquake.report.images import VEGA_LITE
from babelquake.version import VERSION

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "sbom.cdx.json"
DEVELOPMENT = frozenset({"dev", "docs", "test-models", "all"})


def pinned() -> dict[str, str]:
    """Versions this project was tested with."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {
        canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines) if version
    }


def closure(first: list[str]) -> list[str]:
    """Everything that these requirements need here, and what that needs; what markers leave out is left out."""
    seen: set[tuple[str, str]] = set()
    todo = [(Requirement(line), "") for line in first]
    while todo:
        wanted, asking = todo.pop()
        name = canonicalize_name(wanted.name)
        if name == "babelquake" or (wanted.marker and not wanted.marker.evaluate({"extra": asking})):
            continue
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            with suppress(PackageNotFoundError):
                todo += [(Requirement(line), extra) for line in distribution(name).requires or []]
    return sorted({name for name, _ in seen})


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


def bundled_scripts() -> list[dict[str, Any]]:
    """The scripts in report/assets/vega.js.gz, which make_vega_bundle.py takes from vl-convert."""
    versions = {
        "vega": vl_convert.get_vega_version(),
        "vega-lite": f"{VEGA_LITE}.0" if VEGA_LITE.count(".") == 1 else VEGA_LITE,
        "vega-embed": vl_convert.get_vega_embed_version(),
    }
    return [
        {
            "type": "library",
            "name": name,
            "licenses": [{"license": {"id": "BSD-3-Clause"}}],
            "version": version,
            "purl": f"pkg:npm/{name}@{version}",
        }
        for name, version in versions.items()
    ]


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
            "component": {
                "type": "application",
                "name": "babelquake",
                "version": VERSION,
                "purl": f"pkg:pypi/babelquake@{VERSION}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [*(component(name, versions) for name in closure(lines)), *bundled_scripts()],
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(sbom(), indent=1) + "\n", "utf-8")
