"""Make the pictures of reports in README and docs from runs of the current code: `make_pictures.py [NAME…]`.

Runs are kept in build/pictures and continued; `--restart` makes them again, which takes some minutes on one core. Needs
the models that ship, torch, Playwright for Python and a Chromium (its path in CHROMIUM, /usr/bin/chromium by default).
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WORK = ROOT / "build" / "pictures"
BROWSER = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTH = 1180
BPE, DROPOUT = "-s 'bundled[model=de-en-bpe]'", "-s 'bundled[model=de-en-bpe-dropout]'"
METRICS = "-m chrf -m bleu -m 'bertscore[model=minilm-en]'"
CHANGES = "punct-remove,det-remove,misspell,number,negation-remove,word-drop"


class Picture(NamedTuple):
    """The top of one report, and the commands that make it; the last one writes page.html."""

    commands: tuple[str, ...]
    height: int = 800


PICTURES = {
    "report-mt": Picture(
        (f"mt {BPE} {DROPOUT} -d sample -p everyday -o everyday", "report everyday --html page.html"), 830
    ),
    "report-compare": Picture(
        (
            f"mt {DROPOUT} -d sample -p everyday -o main",
            f"mt {BPE} -d sample -p everyday -o branch",
            "compare main branch --html page.html",
        )
    ),
    "report-metric": Picture(
        (
            f"metric {METRICS} -d sample:rated --side translation -p {CHANGES} --replicates 1 -o metric",
            "report metric --html page.html",
        )
    ),
    "report-correlate": Picture(
        (f"correlate {METRICS} -d sample:rated -o correlate", "report correlate --html page.html")
    ),
    "report-qe": Picture(
        (
            "qe -m embedding-similarity -m chrf -d sample:rated --replicates 3 -o qe",
            "report qe --html page.html",
        )
    ),
    "report-check": Picture(("check -d sample:rated -o check", "report check --html page.html")),
    "report-sweep": Picture(
        (
            f"mt {BPE} {DROPOUT} -d sample -p 'misspell[level=0.05|0.1|0.15|0.2]' -m 'bleu[lowercase=true]' -o sweep",
            "report sweep --html page.html",
        )
    ),
}


def main() -> None:
    """Run what is missing, write every page, take every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="pictures to make; default: all")
    parser.add_argument("--restart", action="store_true", help="make every run again")
    given = parser.parse_args()
    if given.restart:
        shutil.rmtree(WORK, ignore_errors=True)
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER)
        for target in taken(browser, given.names or list(PICTURES), IMAGES):
            print(f"{target.name}: {target.stat().st_size // 1000} kB")
        browser.close()


def taken(browser: Browser, names: list[str], folder: Path) -> Iterator[Path]:
    """Each picture, after its runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        picture = PICTURES[name]
        for command in picture.commands:
            run(command)
        page = browser.new_page(viewport={"width": WIDTH, "height": picture.height}, color_scheme="light")
        page.goto((WORK / "page.html").as_uri())
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1500)  # charts are drawn after loading
        page.screenshot(path=folder / f"{name}.png")
        page.close()
        yield folder / f"{name}.png"


def run(command: str) -> None:
    """One command of babelquake in the folder of the runs."""
    WORK.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "BABELQUAKE_CACHE": str(WORK / "cache.sqlite")}
    words = shlex.split(command) + (
        [] if command.startswith(("report", "compare")) else ["--quiet", "--resamples", "2000"]
    )
    subprocess.run([sys.executable, "-m", "babelquake", *words], cwd=WORK, env=environment, check=True)


if __name__ == "__main__":
    main()
