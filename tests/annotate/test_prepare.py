"""Tasks as Huang & Baldwin 2023 (Appendix A) put them together."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotate.conftest import tuple_rows

from babelquake.annotate.material import Tuple
from babelquake.annotate.prepare import Recipe, balanced, degraded, hits, prepare
from babelquake.annotate.project import Item, Project
from babelquake.errors import UserError
from babelquake.randomness import Stream
from babelquake.text import words


def material(count: int) -> list[Tuple]:
    return [
        Tuple(
            row["id"],
            row["id"],
            {"original": row["original"], "perturbed": row["perturbed"]},
            {},
            reference=row["reference"],
            groups={name: row[name] for name in ("victim", "recipe", "year")},
        )
        for row in tuple_rows(count)
    ]


@pytest.fixture(scope="module")
def task() -> list[list[Item]]:
    return next(hits(material(70), Recipe(seed=5)))


def test_a_hundred_items_seventy_of_them_rated(task: list[list[Item]]) -> None:
    assert len(task) == 3, "three annotators"
    for copy in task:
        assert Counter(item.type for item in copy) == {"SYSTEM": 70, "REPEAT": 15, "BAD_REF": 15}
        rated = [item.judged.id for item in copy if item.type == "SYSTEM"]
        assert len(set(rated)) == 70
        assert {item.judged.id for item in copy} == set(rated), "controls are of the task's own tuples"


def test_degraded_items_lose_four_words_on_both_sides_and_repeats_none(task: list[list[Item]]) -> None:
    for item in task[0]:
        for side, text in item.texts.items():
            lost = len(words(item.judged.texts[side])) - len(words(text))
            assert lost == (4 if item.type == "BAD_REF" else 0)


def test_every_copy_has_the_same_items_in_its_own_order(task: list[list[Item]]) -> None:
    contents = [sorted((item.judged.id, item.type, *item.texts.values()) for item in copy) for copy in task]
    assert contents[0] == contents[1] == contents[2]
    orders = [[item.judged.id for item in copy] for copy in task]
    assert orders[0] != orders[1] != orders[2]


def test_sides_change_places_at_random(task: list[list[Item]]) -> None:
    first = Counter(item.order[0] for copy in task for item in copy)
    assert 110 < first["original"] < 190, first
    where = {(item.judged.id, item.type): item.order for item in task[0]}
    assert any(where[(item.judged.id, item.type)] != item.order for item in task[1]), "also between annotators"


def test_tasks_are_the_same_for_a_seed_and_others_for_another() -> None:
    one, same, other = (list(hits(material(40), Recipe(20, 5, 5, seed=seed))) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_every_stretch_is_balanced() -> None:
    by = ["victim", "recipe", "year"]
    ordered = balanced(material(120), by, seed=4)
    assert len({one.id for one in ordered}) == 120
    for start in range(0, 120, 12):
        stretch = Counter(tuple(one.groups[name] for name in by) for one in ordered[start : start + 12])
        assert set(stretch.values()) == {1}, "twelve groups, each once in every twelve"


def test_an_unknown_column_cannot_be_balanced_over() -> None:
    with pytest.raises(UserError, match=r"no such column.*recipe, victim, year"):
        balanced(material(5), ["metric"], 0)


@given(st.text(max_size=80), st.integers(0, 6))
def test_degrading_never_takes_everything_and_adds_nothing(text: str, dropped: int) -> None:
    left = degraded(text, dropped, Stream(1, text))
    assert not Counter(left) - Counter(text)
    if words(text):
        assert left.strip()


def test_characters_go_where_there_are_no_spaces() -> None:
    text = "这是一个很长的中文句子"
    assert len(degraded(text, 4, Stream(0))) == len(text) - 4


def test_a_project_gives_each_tuple_to_three_annotators(tuples: Path, tmp_path: Path) -> None:
    project = prepare(tuples, tmp_path / "p.db", recipe=Recipe(10, 3, 3, seed=1))
    counts = project.database.execute(
        "SELECT count(DISTINCT items.task) AS copies FROM items JOIN tasks ON tasks.id = items.task "
        "WHERE items.type = 'SYSTEM' GROUP BY tuple"
    ).fetchall()
    assert [row["copies"] for row in counts] == [3] * 40
    sizes = project.database.execute("SELECT count(*) AS n FROM items GROUP BY task HAVING task > 1").fetchall()
    assert {row["n"] for row in sizes} == {16}


def test_the_same_command_makes_the_same_project(tuples: Path, tmp_path: Path) -> None:
    def items(project: Project) -> list[tuple[object, ...]]:
        rows = project.database.execute("SELECT task, place, tuple, type, texts, sides FROM items ORDER BY id")
        return [tuple(row) for row in rows]

    one, other = (prepare(tuples, tmp_path / f"{name}.db", tuples=20, recipe=Recipe(seed=9)) for name in "ab")
    assert items(one) == items(other)


def test_a_project_is_never_overwritten(tuples: Path, tmp_path: Path) -> None:
    prepare(tuples, tmp_path / "p.db")
    with pytest.raises(UserError, match="never overwritten"):
        prepare(tuples, tmp_path / "p.db")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"protocol": "da"}, "use side-by-side or pairwise"),
        ({"protocol": "daa"}, "Did you mean 'da'"),
        ({"basis": "source"}, "has no sources"),
        ({"basis": "target"}, "expected reference, source, both"),
        ({"recipe": Recipe(rated=0)}, "at least one rated item"),
    ],
)
def test_what_does_not_fit_is_said(tuples: Path, tmp_path: Path, options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        prepare(tuples, tmp_path / "p.db", **options)  # type: ignore[arg-type]
