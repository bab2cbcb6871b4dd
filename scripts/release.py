"""Build both distributions, look into them, and try them in fresh environments: `make release`.

    python scripts/release.py [--quick] [PYTHON...]

Wheels and source distributions of babelquake and babelquake-models go to dist/. They are checked (metadata, licences,
`py.typed`, data files, size), installed into empty environments of every Python named (default: the one that runs this
and whatever newer ones are on the PATH), first without extras – torch must not come along – and the quick tests run
against the installed package, in a folder without the sources. `--quick` runs a handful of tests only.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST, BUILD = ROOT / "dist", ROOT / "build" / "release"
PACKAGES = {"babelquake": ROOT, "babelquake_models": ROOT / "packages" / "models"}
LARGEST = {"babelquake": 20 * 2**20, "babelquake_models": 180 * 2**20}
"""Bytes of a wheel. PyPI takes 100 MB unless it is asked for more, which babelquake-models has to be."""
INSIDE = {
    "babelquake": (
        "py.typed",
        "report/assets/vega.js.gz",
        "perturb/suites/everyday.yaml",
        "annotate/templates/task.html",
    ),
    "babelquake_models": ("minilm-en/", "de-en-bpe/"),
}
TESTS = ("tests/stats", "tests/perturb", "tests/data", "tests/runs", "tests/http", "tests/cli", "tests/test_limits.py")
FEW = ("tests/http", "tests/test_limits.py", "tests/test_spec.py")
NEWER = ("python3.12", "python3.13", "python3.14")


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    """Run a command that must succeed; what it wrote."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def build() -> None:
    """Wheels and source distributions, and what twine says of them."""
    shutil.rmtree(DIST, ignore_errors=True)
    tools = environment(Path(sys.executable), "tools")
    run(tools, "-m", "pip", "install", "-q", "build", "twine", "packaging")
    for folder in PACKAGES.values():
        run(tools, "-m", "build", "--outdir", DIST, folder)
    run(tools, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))


def look_inside() -> None:
    """What must be in the files, and what must not."""
    for name in PACKAGES:
        (wheel,), (source,) = DIST.glob(f"{name}-*.whl"), DIST.glob(f"{name}-*.tar.gz")
        if wheel.stat().st_size > LARGEST[name]:
            sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {LARGEST[name]:,}.")
        names = zipfile.ZipFile(wheel).namelist()
        missing = [part for part in INSIDE[name] if not any(f"{name}/{part}" in entry for entry in names)]
        licences = [entry for entry in names if "/licenses/" in entry]
        foreign = [
            entry for entry in names if entry.split("/")[0] not in (name, f"{wheel.name.rsplit('-', 3)[0]}.dist-info")
        ]
        if missing or foreign or (name == "babelquake" and not licences):
            sys.exit(f"{wheel.name}: missing {missing}, not ours {foreign[:3]}, licences {licences}.")
        with tarfile.open(source) as archive:
            if not any(entry.endswith("/pyproject.toml") for entry in archive.getnames()):
                sys.exit(f"{source.name} cannot be built from.")
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MB, {len(names)} files")


def environment(python: Path | str, name: str) -> Path:
    """An empty environment; its Python."""
    where = BUILD / name
    shutil.rmtree(where, ignore_errors=True)
    run(python, "-m", "venv", where)
    return where / ("Scripts" if os.name == "nt" else "bin") / "python"


def try_out(python: str, tests: tuple[str, ...]) -> None:
    """Install the wheels where nothing else is, and run the core and the quick tests."""
    here = environment(python, f"try-{Path(python).name}")
    run(here, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *DIST.glob("*.whl"))
    elsewhere = BUILD / "tree"
    shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.copytree(ROOT / "tests", elsewhere / "tests")
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / file, elsewhere / file)
    for folder in ("docs", "scripts"):
        shutil.copytree(ROOT / folder, elsewhere / folder)
    place = run(here, "-c", "import babelquake; print(babelquake.__file__)", cwd=elsewhere).strip()
    if not Path(place).is_relative_to(BUILD):
        sys.exit(f"the package that is tried is {place}, not the wheel's.")
    if "torch" in run(here, "-m", "pip", "list"):
        sys.exit("the core brings torch.")
    words = ["mt", "--system", "bundled[model=de-en-bpe]", "--data", "sample", "--suite", "case", "--limit", "20"]
    run(here, "-m", "babelquake", *words, "--cache", "none", "-q", "--out", "run", cwd=elsewhere)
    run(here, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", "pytest", "hypothesis", "pytest-xdist")
    said = run(here, "-m", "pytest", "-q", "-m", "not slow and not browser", *tests, cwd=elsewhere)
    print(f"{python}: {said.strip().splitlines()[-1]}")


def newer() -> list[str]:
    """Newer Pythons on the PATH that run; some of those found only say how they could be switched on."""
    found = [path for name in NEWER if (path := shutil.which(name))]
    return [path for path in found if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0]


if __name__ == "__main__":
    words = sys.argv[1:]
    quick = "--quick" in words
    pythons = [word for word in words if word != "--quick"]
    build()
    look_inside()
    for python in pythons or [sys.executable, *newer()]:
        try_out(python, FEW if quick else TESTS)
