"""An annotator's way through their tasks: what comes next, and answers taken exactly once."""

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from babelquake.annotate.people import TRAINING, Annotator
from babelquake.annotate.project import Project


@dataclass(frozen=True)
class Screen:
    """The item an annotator is at."""

    item: int
    type: str
    texts: Mapping[str, str]
    sides: tuple[str, ...]
    source: str
    reference: str
    language_pair: str
    document: str
    done: int
    """Items of this task that are finished."""
    size: int
    training: bool
    suggestions: Mapping[str, list[dict[str, Any]]]
    """By side, the errors that are suggested; none where they are held back."""
    context: list[dict[str, str]] = field(default_factory=list)
    """The segments before this one in its document: source, reference and, of one system, its translation."""


def current(project: Project, annotator: Annotator, context: int = 0) -> Screen | None:
    """The next item of the annotator's task, after giving out a task if need be; None where nothing is left.

    Training comes first. A task goes to nobody who had another copy of it.
    """
    task = _open_task(project.database, annotator.id)
    if task is None:
        with project.writing() as database:
            task = _open_task(database, annotator.id) or _give_out(database, annotator.id)
    if task is None:
        return None
    row = _first_open(project.database, task["id"])
    if row is None:
        return None
    counts = project.database.execute(
        "SELECT count(*) AS size, count(ratings.item) AS done FROM items "
        "LEFT JOIN ratings ON ratings.item = items.id WHERE task = ?",
        (task["id"],),
    ).fetchone()
    return Screen(
        item=row["id"],
        type=row["type"],
        texts=json.loads(row["texts"]),
        sides=tuple(json.loads(row["sides"])),
        source=row["source"],
        reference=row["reference"],
        language_pair=row["language_pair"],
        document=row["document"],
        done=counts["done"],
        size=counts["size"],
        training=task["hit"] == TRAINING,
        suggestions=_shown(row),
        context=_context(project, row, context) if context and row["document"] else [],
    )


def submit(project: Project, annotator: Annotator, item: int, answer: Mapping[str, Any], seconds: float | None) -> bool:
    """Store an answer to the item the annotator is at; False, and nothing changes, for any other item.

    Sent twice, an answer counts once: the item is no longer the one they are at. It is on disk when this returns.
    """
    with project.writing() as database:
        task = _open_task(database, annotator.id)
        row = None if task is None else _first_open(database, task["id"])
        if task is None or row is None or row["id"] != item:
            return False
        now = time.time()
        database.execute(
            "INSERT INTO ratings (item, annotator, answer, seconds, at) VALUES (?, ?, ?, ?, ?)",
            (item, annotator.id, json.dumps(answer), seconds, now),
        )
        if _first_open(database, task["id"]) is None:
            database.execute("UPDATE tasks SET finished = ? WHERE id = ?", (now, task["id"]))
    return True


@dataclass(frozen=True)
class Asked:
    """What an item asks, to read its answer by."""

    texts: Mapping[str, str]
    sides: tuple[str, ...]
    suggestions: Mapping[str, list[dict[str, Any]]]


def asked(project: Project, item: int) -> Asked | None:
    """The texts of an item, the order of its sides and the suggestions that are shown with it."""
    row = project.database.execute(
        "SELECT texts, sides, suggestions, suggested FROM items WHERE id = ?", (item,)
    ).fetchone()
    return None if row is None else Asked(json.loads(row["texts"]), tuple(json.loads(row["sides"])), _shown(row))


def _shown(row: sqlite3.Row) -> dict[str, list[dict[str, Any]]]:
    return json.loads(row["suggestions"]) if row["suggested"] else {}


def _open_task(database: sqlite3.Connection, annotator: int) -> sqlite3.Row | None:
    """The task somebody is at; training before all others."""
    found: sqlite3.Row | None = database.execute(
        "SELECT id, hit FROM tasks WHERE annotator = ? AND finished IS NULL AND withdrawn IS NULL "
        "ORDER BY hit != ?, assigned, id LIMIT 1",
        (annotator, TRAINING),
    ).fetchone()
    return found


def _give_out(database: sqlite3.Connection, annotator: int) -> sqlite3.Row | None:
    found: sqlite3.Row | None = database.execute(
        "SELECT id, hit FROM tasks WHERE annotator IS NULL AND withdrawn IS NULL AND hit != ? "
        "AND hit NOT IN (SELECT hit FROM tasks WHERE annotator = ?) ORDER BY id LIMIT 1",
        (TRAINING, annotator),
    ).fetchone()
    if found is not None:
        database.execute(
            "UPDATE tasks SET annotator = ?, assigned = ? WHERE id = ?", (annotator, time.time(), found["id"])
        )
    return found


def _first_open(database: sqlite3.Connection, task: int) -> sqlite3.Row | None:
    found: sqlite3.Row | None = database.execute(
        "SELECT items.id, items.type, items.texts, items.sides, items.suggestions, "
        "items.suggested, tuples.source, tuples.reference, "
        "tuples.language_pair, tuples.document, tuples.place, tuples.systems FROM items "
        "JOIN tuples ON tuples.id = items.tuple LEFT JOIN ratings ON ratings.item = items.id "
        "WHERE items.task = ? AND ratings.item IS NULL ORDER BY items.place LIMIT 1",
        (task,),
    ).fetchone()
    return found


def _context(project: Project, row: sqlite3.Row, wanted: int) -> list[dict[str, str]]:
    """Of several systems together no translation: it would be one system's, and say which."""
    of_one = len(set(json.loads(row["systems"]).values())) == 1
    before = project.database.execute(
        "SELECT min(place) AS place, source, reference, texts FROM tuples WHERE document = ? AND place < ? "
        "AND (NOT ? OR systems = ?) GROUP BY CASE WHEN ? THEN id ELSE segment END ORDER BY place DESC LIMIT ?",
        (row["document"], row["place"], of_one, row["systems"], of_one, wanted),
    ).fetchall()
    return [
        {
            "source": one["source"],
            "reference": one["reference"],
            "translation": next(iter(json.loads(one["texts"]).values())) if of_one else "",
        }
        for one in reversed(before)
    ]
