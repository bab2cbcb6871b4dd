"""The app in a real browser: whole tasks, sliders, the back button, right-to-left spans, keyboard, phone, axe."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.annotate.conftest import MakeSite, Site, stored
from tests.annotate.serving import free_port
from tests.chromium import NEEDED

from babelquake.annotate.people import revoke
from babelquake.annotate.prepare import Recipe

pytestmark = NEEDED
PHONE = {"width": 390, "height": 844}
ARABIC = "أعلنت اللجنة يوم الاثنين عن قواعد جديدة للقوارب الصغيرة في الموانئ"
Open = Callable[..., Any]


@pytest.fixture
def served() -> Iterator[Callable[[Site], str]]:
    """Serves a site on loopback; gives its address."""
    import uvicorn

    servers = []

    def serve(site: Site) -> str:
        port = free_port()
        server = uvicorn.Server(uvicorn.Config(site.app, host="127.0.0.1", port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        servers.append((server, thread))
        return f"http://127.0.0.1:{port}"

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Opens a page in a browser of its own and insists, at the end, that nothing went wrong in it."""
    wrong: list[str] = []
    contexts = []

    def open_page(url: str, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.goto(url)
        if "/join/" in url:
            page.get_by_role("button", name="Begin").click()
            page.wait_for_url(lambda now: "/join/" not in now)  # a click does not wait for the next page's scripts
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [line for line in wrong if "403" not in line] == []


def slide(page: Any, place: int, value: int) -> None:
    """Move a slider with the keyboard."""
    slider = page.locator(f"#score{place}")
    slider.focus()
    slider.press("Home")
    for _ in range(value // 10):
        slider.press("PageUp")
    for _ in range(value % 10):
        slider.press("ArrowRight")


def rate(page: Any, *values: int) -> None:
    """Answer the item on the screen."""
    item = page.locator("input[name=item]").input_value()
    for place, value in enumerate(values):
        slide(page, place, value)
    page.locator("#next").click()
    page.wait_for_function("before => document.querySelector('input[name=item]')?.value !== before", arg=item)
    page.wait_for_load_state()


@pytest.mark.slow
def test_two_annotators_do_a_whole_task_at_once_and_the_admin_sees_it(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open
) -> None:
    site = make_site(tuples=6)
    url = served(site)
    pages = {who: opened(f"{url}/join/{site.tokens[who]}") for who in ("ann", "bob")}
    for place in range(11):
        for who, page in pages.items():
            assert page.locator(".badge").count() == (place == 0)
            rate(page, 70 + place, 30 if who == "ann" else 60)
    for who, page in pages.items():
        assert page.get_by_role("heading", level=1).inner_text() == f"Thank you, {who}"
    rows = stored(site.project)
    assert len(rows) == 22
    admin = opened(f"{url}/admin/join/{site.admin}")
    assert "2 of 3" in admin.locator(".figures").inner_text()
    assert admin.locator("tbody tr").count() == 2


def test_the_slider_starts_in_the_middle_and_must_be_moved(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open
) -> None:
    site = make_site()
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    assert [page.locator(f"#score{place}").input_value() for place in (0, 1)] == ["50", "50"]
    assert page.locator("#next").is_disabled()
    slide(page, 0, 80)
    assert page.locator("#next").is_disabled(), "the other one too"
    page.locator("#form").evaluate("form => form.requestSubmit()")
    page.wait_for_timeout(200)
    assert stored(site.project) == []
    page.locator("#score1").click(position={"x": 20, "y": 10})
    assert page.locator("#next").is_enabled()
    assert int(page.locator("#shown1").inner_text()) < 50
    assert page.locator("mark").all_inner_texts().count("purple") == 1


def test_back_and_reload_change_nothing(make_site: MakeSite, served: Callable[[Site], str], opened: Open) -> None:
    site = make_site()
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    first = page.locator("input[name=item]").input_value()
    rate(page, 80, 20)
    second = page.locator("input[name=item]").input_value()
    page.go_back()
    page.wait_for_load_state()
    assert page.locator("input[name=item]").input_value() == second, "there is no way back to a finished item"
    page.reload()
    assert page.locator("input[name=item]").input_value() == second
    assert page.locator("#score0").input_value() == "50"
    rows = stored(site.project)
    assert [str(row["item"]) for row in rows] == [first]
    assert sorted(rows[0]["answer"]["scores"].values()) == [20.0, 80.0]


def test_a_new_browser_resumes_and_a_revoked_link_is_out(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open
) -> None:
    site = make_site()
    url = served(site)
    page = opened(f"{url}/join/{site.tokens['ann']}")
    rate(page, 80, 20)
    item = page.locator("input[name=item]").input_value()
    again = opened(f"{url}/join/{site.tokens['ann']}")
    assert again.locator("input[name=item]").input_value() == item
    page.goto(f"{url}/join/{site.tokens['ann']}")
    revoke(site.project, "ann")
    again.reload()
    assert "No access" in again.content()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="No access").wait_for()
    assert "committee" not in page.content()
    page.goto(f"{url}/join/{site.tokens['ann']}")
    assert "No access" in page.content() and "committee" not in page.content()
    assert page.get_by_role("button").count() == 0, "there is nothing to click"


def test_the_keyboard_is_enough(make_site: MakeSite, served: Callable[[Site], str], opened: Open) -> None:
    site = make_site()
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    page.wait_for_function("() => document.activeElement.id === 'score0'")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "next"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#score0')?.value === '50'")
    page.wait_for_function("() => document.querySelector('.badge') === null")
    assert sorted(stored(site.project)[0]["answer"]["scores"].values()) == [51.0, 100.0]


@pytest.fixture
def arabic(tmp_path: Path) -> Path:
    file = tmp_path / "arabic.en-ar.tsv"
    rows = [f"{n}\tThe committee said so on Monday, {n}.\t{ARABIC} {n}\tS" for n in range(3)]
    file.write_text("\n".join(["id\tsource\ttranslation\tsystem", *rows]) + "\n")
    return file


def test_error_spans_on_right_to_left_text(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, arabic: Path
) -> None:
    site = make_site(arabic, protocol="esa", basis="source", practice=0, recipe=Recipe(3, 0, 0, annotators=1))
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    words = page.locator(".words .word")
    assert page.locator(".words").evaluate("node => getComputedStyle(node).direction") == "rtl"
    boxes = [words.nth(place).bounding_box() for place in (1, 3)]
    assert boxes[0]["x"] > boxes[1]["x"], "the text runs from right to left"
    page.mouse.move(boxes[0]["x"] + 5, boxes[0]["y"] + 8)
    page.mouse.down()
    page.mouse.move(boxes[1]["x"] + 5, boxes[1]["y"] + 8, steps=6)
    page.mouse.up()
    words.nth(6).click()
    words.nth(6).click()
    page.locator("[data-missing]").click()
    text = ARABIC.split(" ")
    start = len(text[0]) + 1
    end = start + len(" ".join(text[1:4]))
    marked = json.loads(page.locator("#spans0").input_value())
    assert marked[0] == {"start_i": start, "end_i": end, "severity": "minor"}
    assert marked[1]["severity"] == "major"
    assert marked[2] == {"start_i": "missing", "end_i": "missing", "severity": "minor"}
    rate(page, 45)
    spans = stored(site.project)[0]["answer"]["spans"]["translation"]
    assert spans == marked


def test_error_spans_with_the_keyboard(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, arabic: Path
) -> None:
    site = make_site(arabic, protocol="esa", basis="source", practice=0, recipe=Recipe(3, 0, 0, annotators=1))
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    page.locator(".words .word").first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Space")
    marked = json.loads(page.locator("#spans0").input_value())
    first, second, third = ARABIC.split(" ")[:3]
    start = len(first) + 1
    assert marked == [{"start_i": start, "end_i": start + len(second) + 1 + len(third), "severity": "minor"}]
    page.keyboard.press("Space")
    assert json.loads(page.locator("#spans0").input_value())[0]["severity"] == "major"
    page.keyboard.press("Space")
    assert json.loads(page.locator("#spans0").input_value()) == []


def test_words_are_tapped_on_a_phone(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, arabic: Path
) -> None:
    site = make_site(arabic, protocol="esa", basis="source", practice=0, recipe=Recipe(3, 0, 0, annotators=1))
    page = opened(f"{served(site)}/join/{site.tokens['ann']}", viewport=PHONE, has_touch=True, is_mobile=True)
    words = page.locator(".words .word")
    words.nth(2).tap()
    words.nth(3).tap()
    marked = json.loads(page.locator("#spans0").input_value())
    assert len(marked) == 1, "neighbours become one error"
    assert marked[0]["end_i"] - marked[0]["start_i"] == len(" ".join(ARABIC.split(" ")[2:4]))


def test_several_translations_with_suggestions_by_keyboard_and_on_a_phone(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, tmp_path: Path
) -> None:
    said = {"A": "He paid 52 euros.", "B": "He paid 25 euros.", "C": "He has paid 25 euros to him."}
    rows = [f"{n}\tEr zahlte 25 Euro.\t{text}\t{name}\tde-en" for n in range(2) for name, text in said.items()]
    file = tmp_path / "d.tsv"
    file.write_text("\n".join(["id\tsource\ttranslation\tsystem\tlanguage_pair", *rows]) + "\n")
    recipe = Recipe(2, 0, 0, annotators=1, held_back=0.0)
    options: dict[str, Any] = {"protocol": "contrastive-esa", "basis": "source", "suggest": ["failures"]}
    site = make_site(file, practice=0, recipe=recipe, **options)
    page = opened(f"{served(site)}/join/{site.tokens['ann']}")
    at = page.locator("[data-suggestions]").get_attribute("data-suggestions")
    marks, taken = page.locator(f"#spans{at}"), page.locator(f"#taken{at}")
    assert page.locator(".word.suggested").all_inner_texts() == ["52"] and marks.input_value() == "[]"
    page.keyboard.press("d")
    assert (marks.input_value(), taken.input_value()) == ("[]", "[false]")
    assert page.locator(".word.suggested").count() == 0
    page.get_by_role("button", name="Accept").click()
    assert json.loads(marks.input_value()) == [{"start_i": 8, "end_i": 10, "severity": "major"}]
    page.locator(".word.major").click()
    assert (marks.input_value(), taken.input_value()) == ("[]", "[false]"), "a mark taken away is dropped"
    page.get_by_role("button", name="Accept").click()
    slide(page, 0, 40)
    page.reload()
    assert json.loads(marks.input_value())[0]["start_i"] == 8 and taken.input_value() == "[true]"
    assert page.locator("#score0").input_value() == "40" and page.locator("#next").is_disabled()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input[type=range]").all():
        box = control.bounding_box()
        assert box["height"] >= 40 and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    rate(page, 40, 60, 80)
    assert page.locator("#score0").input_value() == "50", "the next screen is empty"
    answer = stored(site.project)[0]["answer"]
    assert answer["spans"]["A"][0]["start_i"] == 8 and answer["suggestions"]["A"][0]["accepted"] is True
    page.keyboard.press("a")
    assert page.locator(".word.major").all_inner_texts() == ["52"]


@pytest.mark.parametrize("protocol", ["side-by-side", "pairwise", "da", "sqm", "esa"])
def test_everything_fits_a_phone(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, arabic: Path, protocol: str
) -> None:
    options: dict[str, Any] = {"protocol": protocol}
    source = None if protocol in ("side-by-side", "pairwise") else arabic
    if source:
        options["basis"] = "source"
    site = make_site(source, **options)
    page = opened(f"{served(site)}/join/{site.tokens['ann']}", viewport=PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input[type=range]").all():
        box = control.bounding_box()
        assert box["height"] >= 40 and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    make_site: MakeSite, served: Callable[[Site], str], opened: Open, arabic: Path, theme: str
) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs axe (pip install axe-playwright-python)")
    from axe_playwright_python.sync_playwright import Axe

    esa = make_site(arabic, protocol="esa", basis="source", practice=0)
    pair = make_site(protocol="pairwise")
    both = make_site(tuples=6)
    pages = []
    for site in (esa, pair, both):
        url = served(site)
        pages.append(opened(f"{url}/join/{site.tokens['ann']}", color_scheme=theme, bypass_csp=True))
        if site is both:
            pages.append(opened(f"{url}/admin/join/{site.admin}", color_scheme=theme, bypass_csp=True))
    pages[0].locator(".words .word").nth(1).click()
    pages[0].locator(".words .word").nth(3).dblclick()
    for page in pages:
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], [(one["id"], one["nodes"][0]["html"]) for one in serious]


def test_the_report_of_ratings_opens(opened: Open, tmp_path: Path) -> None:
    from tests.studies.human.test_findings import campaign

    from babelquake.data.ratings import Ratings, ratings_frame
    from babelquake.report.html import write_html
    from babelquake.studies.human.study import human

    run = human(data=Ratings("ratings.tsv", ratings_frame(campaign())), out=tmp_path / "run")
    write_html([run], tmp_path / "report.html")
    page = opened((tmp_path / "report.html").as_uri())
    page.wait_for_selector("section.run[data-ready]")
    assert page.locator(".chart svg").count() >= 2
