"""Look at the built site as people do: `check_site.py [PAGE …]`, after `make site`.

On a desktop and on a phone, in light and dark: no page scrolls sideways, axe finds no violation, and the search finds
pages. Needs Playwright for Python, axe_playwright_python and a Chromium (its path in CHROMIUM, /usr/bin/chromium by
default).
"""

import functools
import http.server
import os
import sys
import threading
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
PAGES = ("", "start/ship/", "studies/mt/", "papers/", "weaknesses/case/", "results/defences/", "python/")
SIZES = ((1280, 900), (390, 844))
WORD = "look-alike"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site without a line per request."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> int:
    """Print what is wrong, one line each; 1 where something is."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    pages = sys.argv[1:] or PAGES
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        wrong = [*faults(browser, address, pages), *search_faults(browser, address)]
        browser.close()
    print(*wrong or [f"Checked {len(pages)} of the pages: all fine, and the search finds '{WORD}'."], sep="\n")
    return 1 if wrong else 0


def faults(browser: Browser, address: str, pages: tuple[str, ...] | list[str]) -> list[str]:
    """Sideways scrolling and violations of accessibility rules."""
    found = []
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
            page = context.new_page()
            for name in pages:
                page.goto(address + name)
                page.wait_for_timeout(500)
                where = f"/{name} at {width} px, {scheme}"
                if beyond := page.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                ):
                    found.append(f"{where}: scrolls sideways by {beyond} px")
                violations = Axe().run(page).response["violations"]
                found += [f"{where}: {one['id']} {one['nodes'][0]['target']}" for one in violations]
            context.close()
    return found


def search_faults(browser: Browser, address: str) -> list[str]:
    """A word that many pages have must be found."""
    page = browser.new_page(viewport={"width": SIZES[0][0], "height": SIZES[0][1]})
    page.goto(address)
    page.wait_for_timeout(1000)
    page.click("input.md-search__input")
    page.keyboard.type(WORD, delay=30)
    page.wait_for_timeout(2500)
    hits = page.locator(".md-search-result__item").count()
    return [] if hits else [f"the search finds nothing for '{WORD}'"]


if __name__ == "__main__":
    sys.exit(main())
