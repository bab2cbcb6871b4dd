"""Pictures of reports for the documentation: one PNG per run, taken in headless Chromium.

    python scripts/screenshots.py RUN… --out docs/images [--theme dark] [--width 390]

Needs Playwright for Python and a Chromium (its path in CHROMIUM, /usr/bin/chromium by default).
"""

import argparse
import os
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from babelquake.report.html import write_html
from babelquake.runs.run import Run

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HEIGHT = 1500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--full", action="store_true", help="the whole page instead of its top")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS
        )
        size = {"width": given.width, "height": HEIGHT}
        page = browser.new_page(viewport=size, color_scheme=given.theme)  # type: ignore[arg-type]
        page.on("console", lambda message: print("console:", message.text))
        page.on("pageerror", lambda error: print("error:", error))
        for path in given.runs:
            run = Run.open(path)
            file = Path(folder) / f"{path.name}.html"
            write_html([run], file)
            page.goto(file.as_uri())
            page.wait_for_selector("section.run[data-ready]")
            target = given.out / f"report-{path.name}.png"
            page.screenshot(path=target, full_page=given.full)
            print(f"{target}: {target.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
