"""Through the tasks: training first, one answer per item, nobody twice, nothing lost by leaving."""

from pathlib import Path

import pytest

from babelquake.annotate.analyse import collected, progress
from babelquake.annotate.people import (
    Annotator,
    add_annotator,
    annotator_of,
    is_admin,
    new_admin_token,
    new_token,
    revoke,
)
from babelquake.annotate.prepare import Recipe, prepare
from babelquake.annotate.project import Project
from babelquake.annotate.work import current, submit
from babelquake.errors import UserError

ANSWER = {"scores": {"original": 80.0, "perturbed": 20.0}}


@pytest.fixture
def project(tuples: Path, tmp_path: Path) -> Project:
    return prepare(tuples, tmp_path / "p.db", tuples=8, practice=2, recipe=Recipe(4, 1, 1, annotators=2, seed=1))


def person(project: Project, name: str) -> Annotator:
    found = annotator_of(project, add_annotator(project, name))
    assert found is not None
    return found


def finish(project: Project, annotator: Annotator, items: int = 1000) -> int:
    done = 0
    while done < items and (screen := current(project, annotator)) is not None:
        assert submit(project, annotator, screen.item, ANSWER, 2.0)
        done += 1
    return done


def test_training_comes_first_and_does_not_count(project: Project) -> None:
    ann = person(project, "ann")
    for place in range(2):
        screen = current(project, ann)
        assert screen is not None and (screen.training, screen.type, screen.done) == (True, "TUTORIAL", place)
        submit(project, ann, screen.item, ANSWER, 1.0)
    screen = current(project, ann)
    assert screen is not None and not screen.training
    assert progress(project)["rated"] == 0


def test_nobody_gets_two_copies_of_a_task(project: Project) -> None:
    ann, bob, cleo = (person(project, name) for name in ("ann", "bob", "cleo"))
    assert finish(project, ann) == 2 + 2 * 6, "training and one copy of both tasks"
    assert finish(project, bob) == 2 + 2 * 6
    assert finish(project, cleo) == 2, "both copies of both tasks are taken"
    counts = progress(project)
    assert (counts["tasks"], counts["finished"], counts["rated"]) == (4, 4, 24)


def test_an_answer_counts_once(project: Project) -> None:
    ann = person(project, "ann")
    screen = current(project, ann)
    assert screen is not None
    assert submit(project, ann, screen.item, ANSWER, 1.0)
    assert not submit(project, ann, screen.item, {"scores": {"original": 0.0, "perturbed": 0.0}}, 1.0)
    assert collected(project).frame["raw"].to_list() == [80.0, 20.0]


def test_items_cannot_be_skipped_or_taken_from_others(project: Project) -> None:
    ann, bob = person(project, "ann"), person(project, "bob")
    mine, theirs = current(project, ann), current(project, bob)
    assert mine is not None and theirs is not None and mine.item != theirs.item
    assert not submit(project, ann, theirs.item, ANSWER, 1.0)
    assert not submit(project, ann, mine.item + 1, ANSWER, 1.0)
    assert collected(project).frame.is_empty()


def test_a_new_connection_goes_on_where_the_old_one_was(project: Project) -> None:
    ann = person(project, "ann")
    finish(project, ann, 5)
    before = current(project, ann)
    project.close()
    assert current(Project(project.path), ann) == before


def test_revoking_shuts_out_and_gives_the_task_to_somebody_else(project: Project) -> None:
    token = add_annotator(project, "ann")
    ann = annotator_of(project, token)
    assert ann is not None
    finish(project, ann, 4)
    revoke(project, "ann")
    assert annotator_of(project, token) is None
    assert progress(project)["tasks"] == 4
    bob, cleo = person(project, "bob"), person(project, "cleo")
    assert finish(project, bob) == finish(project, cleo) == 14
    assert progress(project)["finished"] == 4


def test_a_new_link_replaces_the_old_one(project: Project) -> None:
    old = add_annotator(project, "ann")
    new = new_token(project, "ann")
    assert annotator_of(project, old) is None
    found = annotator_of(project, new)
    assert found is not None and found.name == "ann"
    assert len(new) >= 43, "256 bits"


def test_tokens_are_not_in_the_file(project: Project) -> None:
    tokens = [add_annotator(project, "ann"), new_admin_token(project)]
    project.close()
    content = b"".join(file.read_bytes() for file in project.path.parent.glob("p.db*"))
    assert not any(token.encode() in content for token in tokens)
    assert is_admin(project, tokens[1]) and not is_admin(project, tokens[0])


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\nb", "a\x00"])
def test_names_are_names(project: Project, name: str) -> None:
    with pytest.raises(UserError, match="is not a name"):
        add_annotator(project, name)


def test_a_name_is_taken_once(project: Project) -> None:
    add_annotator(project, "ann")
    with pytest.raises(UserError, match="already"):
        add_annotator(project, "ann")
    with pytest.raises(UserError, match="no annotator is called"):
        revoke(project, "bob")


def test_what_is_no_project(tmp_path: Path) -> None:
    import sqlite3

    (tmp_path / "a.db").write_text("no database")
    with pytest.raises(UserError, match="not an annotation project"):
        Project(tmp_path / "a.db")
    database = sqlite3.connect(tmp_path / "b.db")
    database.execute("CREATE TABLE t (a)")
    database.commit()
    database.close()
    with pytest.raises(UserError, match="not an annotation project"):
        Project(tmp_path / "b.db")


def test_ratings_carry_their_groups_and_sides(project: Project) -> None:
    finish(project, person(project, "ann"))
    frame = collected(project).frame
    assert set(frame["system"]) == {"original", "perturbed"}
    assert set(frame["type"]) == {"TUTORIAL", "SYSTEM", "REPEAT", "BAD_REF"}
    assert set(frame["group_victim"]) <= {"bertscore", "bleurt", "comet"}
    assert frame["seconds"].unique().to_list() == [1.0], "two seconds for two sliders"


def test_a_project_is_no_table_of_ratings(project: Project) -> None:
    from babelquake.data.ratings import read_ratings

    with pytest.raises(UserError, match="is a project"):
        read_ratings(project.path)


def test_the_run_of_a_project_s_ratings_can_be_repeated(project: Project, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from babelquake.cli.app import app

    for name in ("ann", "bob"):
        finish(project, person(project, name))
    run = str(tmp_path / "run")
    made = CliRunner().invoke(
        app, ["annotate", "analyse", str(project.path), "--exclude", "none", "--least", "1", "--out", run]
    )
    assert made.exit_code == 0, made.output
    again = CliRunner().invoke(app, ["rerun", run])
    assert again.exit_code == 0 and "all the same" in again.output, again.output
