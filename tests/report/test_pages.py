"""Reports in a real browser: no errors, no requests, everything reachable by pointer, keyboard and screen reader."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.chromium import NEEDED

from babelquake.report.html import write_html
from babelquake.runs.run import Run
from babelquake.studies.compare import compare

from .conftest import mt_run, new, old

pytestmark = NEEDED
KINDS = ["mt", "metric", "agreement", "challenge", "qe", "hostile"]
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def files(runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for kind in KINDS:
        write_html([runs[kind]], folder / f"{kind}.html")
    write_html([runs["mt"], runs["qe"]], folder / "several.html")
    before, after = (mt_run(folder / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    write_html([before, after], folder / "versus.html", compare(before, after))
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.fixture
def page_of(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    """Opens a report and, at the end, insists that nothing went wrong in it."""
    wrong: list[str] = []
    pages = []

    def open_page(kind: str, **options: Any) -> Any:
        page = browser.new_page(**options)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda request: wrong.append(request.url) if request.url != files[kind].as_uri() else None)
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.goto(files[kind].as_uri())
        page.wait_for_selector("section.run:not([hidden])[data-ready]")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_opens_with_its_verdict_charts_and_examples(page_of: Open, kind: str) -> None:
    page = page_of(kind)
    assert page.locator(".headline").inner_text()
    assert page.locator(".lead svg.marks").count() == 1 and page.locator(".worst article").count() > 0
    assert page.locator(".chart svg.marks").count() == page.locator(".chart").count() > 0
    assert page.locator(".example").count() > 0
    assert page.get_by_text("could not be").count() == 0


@pytest.mark.parametrize("kind", [*KINDS, "versus"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_problem(page_of: Open, kind: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python, which carries axe-core")
    page = page_of(kind, color_scheme=theme)
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run()")
    serious = [
        (problem["id"], problem["nodes"][0]["html"])
        for problem in found["violations"]
        if problem["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_nothing_is_wider_than_a_phone(page_of: Open) -> None:
    for kind in (*KINDS, "versus"):
        page = page_of(kind, viewport={"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_two_runs_side_by_side_fit_on_a_phone(page_of: Open) -> None:
    page = page_of("versus", viewport={"width": 360, "height": 740})
    hidden = "table => table.parentElement.scrollWidth - table.parentElement.clientWidth"
    tables = page.locator("table.both").all()
    assert tables and [table.evaluate(hidden) for table in tables] == [0] * len(tables)


def test_names_beside_a_chart_leave_room_for_the_chart_on_a_phone(page_of: Open) -> None:
    page = page_of("metric", viewport={"width": 360, "height": 740})
    furthest = "texts => Math.max(...texts.map((text) => text.getBoundingClientRect().right))"
    for plot in page.locator(".plot").all():
        assert plot.locator("text").evaluate_all(furthest) <= plot.evaluate("it => it.getBoundingClientRect().right")


def says(page: Any, text: str) -> None:
    """Wait until the line above the examples says so."""
    page.locator(".status", has_text=text).wait_for()


def counted(page: Any) -> int:
    """How many examples fit the filters, as the page says."""
    text = page.locator(".status").inner_text()
    found = re.search(r"of ([\d,]+) examples", text)
    return int(found.group(1).replace(",", "")) if found else 0


def test_examples_are_filtered_by_system_perturbation_and_failure(page_of: Open, runs: dict[str, Run]) -> None:
    page, variants = page_of("mt"), runs["mt"].variants
    failures = runs["mt"].table("failures").filter(pl.col("system").str.ends_with("old"), perturbation="case")
    assert counted(page) == 2 * variants.height
    page.get_by_label("System", exact=True).select_option(label="old")
    assert counted(page) == variants.height
    page.get_by_label("Perturbation", exact=True).select_option(label="odd capitals")
    assert counted(page) == variants.filter(perturbation="case").height
    whole = variants.filter(perturbation="case").height - failures.unique(["row", "level", "replicate"]).height
    page.get_by_label("Failure", exact=True).select_option(label="no failure found")
    assert counted(page) == whole > 0
    page.get_by_role("button", name="Clear filters").click()
    assert counted(page) == 2 * variants.height


def test_a_click_on_the_heat_map_shows_its_examples(page_of: Open, runs: dict[str, Run]) -> None:
    page = page_of("mt")
    page.get_by_role("button", name=re.compile("^new under typos \\(40 % of words\\): ROBUST")).click()
    assert counted(page) == runs["mt"].variants.filter(perturbation="misspell", level=0.4).height
    assert page.get_by_label("System", exact=True).evaluate("e => e.selectedOptions[0].text") == "new"
    page.get_by_role("button", name="CONSIS", exact=True).click()
    consis = page.get_by_role("button", name=re.compile("^new under typos \\(40 % of words\\): CONSIS"))
    assert consis.get_attribute("aria-pressed") == "true"


def test_examples_are_sorted_by_damage(page_of: Open) -> None:
    page = page_of("mt")

    def damages() -> list[float]:
        return [float(text.removeprefix("damage ")) for text in page.locator(".damage").all_inner_texts()]

    page.get_by_label("Perturbation", exact=True).select_option(index=1)
    assert damages() == sorted(damages(), reverse=True)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Sort").select_option(label="Most damage first")
    assert damages() == sorted(damages(), reverse=True)
    page.get_by_label("Sort").select_option(label="Least damage first")
    assert damages() == sorted(damages())


def test_kinds_stay_together_and_a_sentence_that_changed_altogether_has_two_lines(page_of: Open) -> None:
    page = page_of("mt")
    kinds = page.locator(".example .tag:nth-of-type(3)").all_inner_texts()
    assert sum(one != other for one, other in pairwise(kinds)) == len(set(kinds)) - 1
    page.get_by_label("Sort").select_option(label="Most damage first")
    assert page.locator(".both-line .side").first.inner_text() == "before"


def test_search_finds_words_and_marks_them(page_of: Open) -> None:
    page = page_of("mt")
    page.get_by_label("Search").fill("twelve dead")
    says(page, "examples")
    assert page.locator(".example mark").first.inner_text() == "twelve dead"
    page.get_by_label("Search").fill("(.*[")
    says(page, "No example")


def test_differences_are_shown_word_by_word(page_of: Open) -> None:
    page = page_of("mt")
    page.get_by_label("Sort").select_option(label="Order of the data")
    page.get_by_label("System", exact=True).select_option(label="old")
    page.get_by_label("Perturbation", exact=True).select_option(label="typos (40 % of words)")
    page.get_by_label("Sort").select_option(label="Most damage first")
    first = page.locator(".example").first
    assert first.locator("dd").nth(0).locator("ins").count() > 0
    assert first.locator("dd").nth(0).locator("del").count() > 0


def test_the_keyboard_walks_through_examples_and_pages(page_of: Open) -> None:
    page = page_of("mt")
    rank = "() => document.activeElement.dataset.rank"
    page.keyboard.press("j")
    assert page.evaluate(rank) == "0"
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(rank) == "2"
    page.keyboard.press("k")
    assert page.evaluate(rank) == "1"
    page.keyboard.press("n")
    assert page.evaluate(rank) == "20"
    page.keyboard.press("p")
    assert page.evaluate(rank) == "19"
    page.keyboard.press("j")
    assert page.evaluate(rank) == "20"
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.get_by_label("Search").input_value() == "jk"
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    assert page.get_by_label("Search").input_value() == ""


def test_keys_can_be_looked_up_and_switched_off(page_of: Open) -> None:
    page = page_of("mt")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.get_by_label("Use these keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.rank") is None


def test_the_theme_changes_and_follows_the_system_otherwise(page_of: Open) -> None:
    page = page_of("mt", color_scheme="dark")
    shade = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(shade)
    button = page.get_by_role("button", name=re.compile("^Theme"))
    button.click()
    assert button.inner_text() == "Theme: light"
    assert page.evaluate(shade) != dark
    button.click()
    assert button.inner_text() == "Theme: dark"
    assert page.evaluate(shade) == dark


def test_several_runs_have_a_selector(page_of: Open) -> None:
    page = page_of("several")
    assert page.get_by_role("heading", level=1).inner_text().startswith("Best under noise: new with ")
    page.get_by_label("Page", exact=True).select_option(label="qe")
    page.wait_for_selector("#run-1[data-ready]")
    assert page.locator("#run-1 .study").inner_text().startswith("Do these quality estimators notice what matters?")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('section.run').id") == "run-1"


def test_another_scorer_is_another_view(page_of: Open) -> None:
    page = page_of("mt")
    page.get_by_label("Judged by").select_option(label="chrF")
    assert page.get_by_role("button", name=re.compile("^old under typos \\(20 % of words\\): ROBUST")).count() == 1


def test_hostile_text_is_shown_as_text(page_of: Open) -> None:
    page = page_of("hostile")
    page.get_by_label("Sort").select_option(label="Order of the data")
    seen = ""
    while True:
        seen += page.locator(".examples").inner_text()
        assert page.evaluate("window.hacked") is None
        assert page.locator(".examples script, .examples img, .examples a, .examples b").count() == 0
        if not page.get_by_role("button", name="Next page").is_enabled():
            break
        page.get_by_role("button", name="Next page").click()
    assert "</script><script>window.hacked=1</script>" in seen
    assert "<img src=x onerror=window.hacked=1>" in seen
    assert "nul␀bell␇esc␛" in seen
    assert "U+202E" in seen and "\u202e" not in seen
    assert "x" * 10_000 in seen
    assert "שלום עולם" in seen


def test_long_texts_are_folded_until_asked_for(page_of: Open) -> None:
    page = page_of("hostile")
    page.get_by_label("Search").fill("xxxxxxxxxx")
    tall = "([of, low, high]) => { const is = document.querySelector(of)?.offsetHeight; return low < is && is < high }"
    page.wait_for_function(tall, arg=["dd.long", 0, 200])
    page.get_by_role("button", name=re.compile("^Show all")).first.click()
    page.wait_for_function(tall, arg=[".example dd", 400, 1e9])


def test_print_is_light_and_without_controls(page_of: Open) -> None:
    page = page_of("mt", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".controls").first.is_visible()
    assert page.locator(".verdict").is_visible()
