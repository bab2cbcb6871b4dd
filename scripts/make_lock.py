"""Hashes of every file of every version in constraints.txt, so that nothing else can be installed: requirements.lock.

    python scripts/make_lock.py [WHEEL...]     asks the package index, once for each distribution
    pip install --require-hashes --no-deps -r requirements.lock

`make locked` sets up an environment from it. A version that the index does not have (a build of one's own, say) is
named and left out. torch has a lock of its own, requirements-torch.lock: the index's build for Linux wants CUDA's
libraries, others do not, and which is right depends on the machine; wheels that are named (such as the CPU build of
download.pytorch.org) are added to its hashes. requirements-core.lock is the part that an installation without extras
needs, found out in the environment that runs this.
"""

import hashlib
import re
import sys
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "requirements.lock"
TORCH, CORE = ROOT / "requirements-torch.lock", ROOT / "requirements-core.lock"
INDEX = "https://pypi.org/simple"
BY_MACHINE = frozenset({"torch"})
"""Distributions whose build is the machine's choice."""
HEAD = (
    "# Made by scripts/make_lock.py from constraints.txt. pip install --require-hashes --no-deps -r requirements.lock\n"
)


def pins() -> list[tuple[str, str]]:
    """Name and version of every distribution in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [(name, version) for name, _, version in (line.partition("==") for line in lines) if version]


def hashes(pin: tuple[str, str]) -> list[str]:
    """The SHA-256 of every file of a version that the index has; files that were withdrawn are left out."""
    name, version = canonicalize_name(pin[0]), Version(pin[1])
    with urllib.request.urlopen(f"{INDEX}/{name}/", timeout=60) as answer:  # noqa: S310
        page = answer.read().decode("utf-8")
    found = set()
    for attributes, file in re.findall(r"<a ([^>]*)>\s*([^<]+?)\s*</a>", page):
        digest = re.search(r"#sha256=([0-9a-f]{64})", attributes)
        if digest and "data-yanked" not in attributes and version_of(file) == version:
            found.add(digest.group(1))
    return sorted(found)


def version_of(file: str) -> Version | None:
    """The version that a file's name tells; None for eggs, installers and the like."""
    try:
        return (parse_wheel_filename(file) if file.endswith(".whl") else parse_sdist_filename(file))[1]
    except ValueError:
        return None


def lock() -> str:
    """The file's text."""
    wanted = [pin for pin in pins() if pin[0] not in BY_MACHINE]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(hashes, wanted))
    parts = [HEAD]
    for (name, version), digests in zip(wanted, found, strict=True):
        if not digests:
            print(f"{name}=={version}: the index has no such version", file=sys.stderr)
            continue
        parts.append(entry(name, version, digests))
    return "".join(parts)


def entry(name: str, version: str, digests: list[str]) -> str:
    """One distribution, as pip reads it."""
    return " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{digest}" for digest in digests)]) + "\n"


def lock_of_builds(wheels: list[Path]) -> str:
    """The lock of what is the machine's choice: every build that the index has, and the wheels that are named."""
    parts = [HEAD]
    for name, version in pins():
        if name in BY_MACHINE:
            named = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels if wheel.name.startswith(name)]
            parts.append(entry(name, version, sorted({*hashes((name, version)), *named})))
    return "".join(parts)


def lock_of_core(whole: str) -> str:
    """The part of a lock that the core needs."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from make_sbom import closure

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = set(closure(project["dependencies"]))
    known = {canonicalize_name(name): (name, *found) for name, found in locked(whole).items()}
    return HEAD + "".join(entry(*known[name]) for name in sorted(needed & known.keys()))


def locked(text: str) -> dict[str, tuple[str, list[str]]]:
    """By name: the version and its hashes, as a lock says them."""
    entries = re.findall(r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.M)
    return {name: (version, re.findall(r"[0-9a-f]{64}", rest)) for name, version, rest in entries}


if __name__ == "__main__":
    TARGET.write_text(lock(), "utf-8")
    CORE.write_text(lock_of_core(TARGET.read_text("utf-8")), "utf-8")
    TORCH.write_text(lock_of_builds([Path(name) for name in sys.argv[1:]]), "utf-8")
