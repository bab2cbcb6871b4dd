"""All systems' translations of a source on one screen, and errors that are suggested."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.annotate.conftest import MakeSite, answer, fields, stored

from babelquake.annotate.analyse import analyse, collected
from babelquake.annotate.prepare import Recipe, prepare
from babelquake.annotate.project import Project
from babelquake.annotate.suggest import moved
from babelquake.data.ratings import read_ratings
from babelquake.errors import UserError
from babelquake.studies.human.findings import segment_scores

SEGMENTS = 8
SMALL = Recipe(SEGMENTS, 2, 2, annotators=2, seed=3)


def table(folder: Path, systems: str = "ABC", spans: bool = False) -> Path:
    """Systems that say different things, A and B the same of every fourth source; every other number of B is wrong."""
    rows = ["id\tsource\ttranslation\tsystem\tlanguage_pair\tdocument" + ("\tspans" if spans else "")]
    for number in range(SEGMENTS):
        for system in systems:
            amount = 52 if system == "B" and number % 2 else 25
            says = "same" if system in "AB" and number % 4 == 0 else f"system {system}"
            text = f"He paid {amount} euros on day {number} in the town , by the {says} man ."
            cells = [f"s{number}", f"Er zahlte 25 Euro am Tag {number}.", text, system, "de-en", "d"]
            marks = [{"start": 3, "end": 7, "severity": "minor"}] if system == "C" else []
            rows.append("\t".join([*cells, *([json.dumps(marks)] if spans else [])]))
    file = folder / "translations.tsv"
    file.write_text("\n".join(rows) + "\n")
    return file


def project(folder: Path, source: Path | None = None, name: str = "p.db", **options: Any) -> Project:
    settings = {"protocol": "contrastive-esa", "basis": "source", "practice": 0, "recipe": SMALL, **options}
    return prepare(source or table(folder), folder / name, **settings)


def items(made: Project) -> list[dict[str, Any]]:
    rows = made.database.execute("SELECT items.*, tasks.copy FROM items JOIN tasks ON tasks.id = task ORDER BY id")
    read = ("texts", "sides", "suggestions")
    return [{**dict(row), **{name: json.loads(row[name]) for name in read}} for row in rows]


def test_a_vendors_table_without_languages_can_be_given_them(tmp_path: Path) -> None:
    """A source given back as its translation is seen only where the two languages are known."""
    file, columns = tmp_path / "vendors.csv", {"source": "en", "translation:A": "C", "translation:B": "D"}
    parts = ("red", "green", "blue", "left", "right", "upper")
    texts = [f"Press the {part} button of the device once." for part in parts]
    file.write_text("en,C,D\n" + "".join(f"{text},Drücken Sie einmal die Taste am Gerät.,{text}\n" for text in texts))
    recipe = Recipe(4, 0, 0, annotators=1)
    with pytest.raises(UserError, match="language_pair"):
        project(tmp_path, file, columns=columns, recipe=recipe, suggest=["failures"])
    made = project(tmp_path, file, columns=columns, recipe=recipe, suggest=["failures"], language_pair="en-de")
    seen = [one["by"] for item in items(made) for side in item["suggestions"].values() for one in side]
    assert "copied" in seen


def test_a_screen_has_every_system_in_an_order_drawn_per_annotator(tmp_path: Path) -> None:
    rated = [row for row in items(project(tmp_path)) if row["type"] == "SYSTEM"]
    assert all(sorted(row["sides"]) == ["A", "B", "C"] for row in rated)
    first, second = ({row["tuple"]: row["sides"] for row in rated if row["copy"] == copy} for copy in (1, 2))
    assert len(first) == SEGMENTS and first != second
    again = items(project(tmp_path, name="again.db"))
    assert [row["sides"] for row in again if row["type"] == "SYSTEM"] == [row["sides"] for row in rated]


def test_more_systems_than_fit_are_drawn_apart_and_all_are_rated(tmp_path: Path) -> None:
    made = items(project(tmp_path, table(tmp_path, "ABCDEFG"), at_once=3))
    sizes = Counter(len(set(row["texts"].values())) for row in made if row["type"] == "SYSTEM")
    assert set(sizes) <= {2, 3}, "as even as can be"
    rated = [row for row in made if row["type"] == "SYSTEM"]
    shown = Counter((row["tuple"].partition("/")[0], side) for row in rated for side in row["sides"])
    assert len(shown) == 7 * SEGMENTS and set(shown.values()) == {2}, "each once for each of two annotators"


def test_half_of_a_degraded_screen_stays_whole_and_counts_as_repeated(tmp_path: Path) -> None:
    made = project(tmp_path)
    originals = {row["tuple"]: row["texts"] for row in items(made) if row["type"] == "SYSTEM"}
    for row in (row for row in items(made) if row["type"] == "BAD_REF"):
        whole = [side for side, text in row["texts"].items() if text == originals[row["tuple"]][side]]
        assert 1 <= len(whole) <= 2
        before = originals[row["tuple"]]
        assert (row["texts"]["A"] == row["texts"]["B"]) == (before["A"] == before["B"])


def test_what_two_systems_say_alike_is_shown_once_and_rated_for_both(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(table(tmp_path), protocol="contrastive-esa", basis="source", practice=0, recipe=SMALL)
    client = site.client("ann")
    panels = Counter()
    while "form" in (page := client.get("/task").text) and 'name="item"' in page:
        shown = page.count("data-slider=")
        panels[shown] += 1
        form = answer(page, *(90 - 20 * place for place in range(shown)))
        form["spans0"] = '[{"start_i": 0, "end_i": 2, "severity": "major"}]'
        assert client.post("/task", data=form).status_code == 303
    assert set(panels) == {2, 3}
    assert sum(panels.values()) == SEGMENTS + 4
    for row in stored(site.project):
        assert set(row["answer"]["scores"]) == set(row["answer"]["spans"]) == {"A", "B", "C"}
    ratings = collected(site.project).frame
    alike = ratings.filter((ratings["segment"] == "s0") & (ratings["type"] == "SYSTEM") & (ratings["system"] != "C"))
    assert alike["raw"].n_unique() == 1 and alike["spans"].n_unique() == 1
    assert set(ratings["type"].unique()) == {"SYSTEM", "REPEAT", "BAD_REF"}
    _, found = analyse(site.project.path, least=1, exclude="none")
    assert sorted(found.systems["system"]) == ["A", "B", "C"]
    assert found.systems["major"].sum() > 0
    assert found.hits["repeats"][0] > 6 and found.hits["degraded"][0] > 1, "two repeated screens, and what stayed whole"
    scores = segment_scores(found.segments, "raw")
    assert len(scores) == 3 * SEGMENTS and all(score != "None" for _, score in scores)


def test_failures_are_suggested_where_they_are(tmp_path: Path) -> None:
    for row in items(project(tmp_path, suggest=["failures"])):
        for side, suggested in row["suggestions"].items():
            for one in suggested:
                assert (side, one["by"], row["texts"][side][one["start_i"] : one["end_i"]]) == ("B", "number", "52")
    assert any(row["suggestions"]["B"] for row in items(project(tmp_path, name="other.db", suggest=["failures"])))


def test_a_files_marks_are_suggested_and_joined_with_failures(tmp_path: Path) -> None:
    file = table(tmp_path, spans=True)
    made = items(project(tmp_path, file, suggest=["failures", str(file)]))
    rated = [row for row in made if row["type"] == "SYSTEM"]
    assert all([one["severity"] for one in row["suggestions"]["C"]] == ["minor"] for row in rated)
    assert {one["by"] for row in rated for one in row["suggestions"]["B"]} == {"number"}


def test_which_items_hold_suggestions_back_is_drawn_per_annotator_and_the_same_for_controls(tmp_path: Path) -> None:
    recipe = Recipe(SEGMENTS, 4, 4, annotators=20, seed=1, held_back=0.3)
    made = items(project(tmp_path, suggest=["failures"], recipe=recipe))
    shown = {(row["copy"], row["tuple"]): set() for row in made}  # type: dict[tuple[int, str], set[int]]
    for row in made:
        shown[(row["copy"], row["tuple"])].add(row["suggested"])
    assert all(len(flags) == 1 for flags in shown.values()), "a repeated item is shown as its first time"
    share = sum(flags == {0} for flags in shown.values()) / len(shown)
    assert 0.15 < share < 0.45, share
    assert all(row["suggested"] is None for row in items(project(tmp_path, name="none.db")))


def test_what_became_of_suggestions_is_stored_and_only_shown_ones_can_be_taken(
    make_site: MakeSite, tmp_path: Path
) -> None:
    recipe = Recipe(SEGMENTS, 0, 0, annotators=1, seed=2, held_back=0.5)
    options = {"protocol": "contrastive-esa", "basis": "source", "practice": 0, "suggest": ["failures"]}
    site = make_site(table(tmp_path), recipe=recipe, **options)
    client = site.client("ann")
    takes = 0
    for _ in range(SEGMENTS):
        page = client.get("/task").text
        assert page.count("data-suggestions=") == page.count('name="taken')
        form = answer(page, *([80] * page.count("data-slider=")))
        for name in (name for name in fields(page) if name.startswith("taken")):
            assert client.post("/task", data=form).status_code == 422, "nothing said of a suggestion"
            form[name] = "[true]"
            takes += 1
        assert client.post("/task", data=form).status_code == 303
    said = [one["answer"].get("suggestions", {}).get("B", []) for one in stored(site.project)]
    assert sum(one["accepted"] for some in said for one in some) == takes > 0
    table_of = collected(site.project)
    assert table_of.frame["suggested"].n_unique() == 2
    (tmp_path / "ratings.tsv").write_bytes(site.client("admin").get("/admin/export/ratings.tsv").content)
    back = read_ratings(tmp_path / "ratings.tsv").frame
    assert back["suggested"].to_list() == table_of.frame["suggested"].to_list()
    _, found = analyse(tmp_path / "ratings.tsv")
    counts = {"shown": takes, "accepted": takes, "dropped": 0, "left": 0}
    assert found.suggestions_taken.to_dicts() == [{"by": "number", **counts}]


def test_suggestions_follow_their_words_into_a_degraded_text() -> None:
    one = {"start_i": 8, "end_i": 10, "severity": "major", "by": "number", "why": ""}
    gone = {**one, "start_i": 0, "end_i": 2}
    (found,) = moved([one, gone], "He paid 52 euros", "paid 52")
    assert (found["start_i"], found["end_i"]) == (5, 7)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"protocol": "da", "suggest": ["failures"]}, "does not mark errors"),
        ({"suggest": ["chrf"]}, "marks no errors"),
        ({"at_once": 27}, "from 2 to 26"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        project(tmp_path, **options)


def test_one_system_is_not_contrastive(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="several systems"):
        project(tmp_path, table(tmp_path, "A"))
