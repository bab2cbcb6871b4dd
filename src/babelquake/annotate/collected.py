"""What a project has collected: its ratings as a table, and how far everybody is."""

import json
from typing import Any

import polars as pl

from babelquake.annotate.material import PAIR
from babelquake.annotate.people import TRAINING
from babelquake.annotate.project import Project
from babelquake.data.ratings.table import BAD_REFERENCE, RATINGS, REPEAT, SYSTEM, Ratings, ratings_frame

LEAST = 3
"""Annotations a tuple needs to count (Huang 2023 Appendix A)."""
COUNTED = (SYSTEM,)
"""Repeated items check the annotator; their ratings do not count a second time."""

FURTHER = ("groups", "item", "suggested", "suggestions")
"""What is known beside the columns of ratings."""


def collected(project: Project) -> Ratings:
    """All ratings, one row per judged translation, with the tuples' groups as further columns.

    Of side-by-side ratings the system is the side, original or perturbed: that is what they compare. A translation that
    stayed whole among degraded ones is a repeat. Where errors were suggested, `suggested` says whether that was shown,
    and `suggestions` which there were and what became of them.
    """
    rows = project.database.execute(
        "SELECT ratings.answer, ratings.seconds, ratings.at, annotators.name, tasks.hit, tasks.copy, items.type, "
        "items.tuple, items.texts AS shown, items.suggestions, items.suggested, tuples.texts, tuples.segment, "
        "tuples.systems, tuples.language_pair, tuples.document, tuples.groups FROM ratings "
        "JOIN items ON items.id = ratings.item JOIN tasks ON tasks.id = items.task "
        "JOIN tuples ON tuples.id = items.tuple JOIN annotators ON annotators.id = ratings.annotator "
        "ORDER BY ratings.at, ratings.item"
    ).fetchall()
    found: list[dict[str, Any]] = []
    for row in rows:
        answer, systems = json.loads(row["answer"]), json.loads(row["systems"])
        original, shown = json.loads(row["texts"]), json.loads(row["shown"])
        there = json.loads(row["suggestions"]) | answer.get("suggestions", {})
        for side, score in answer["scores"].items():
            spans = answer.get("spans", {}).get(side)
            made = json.dumps(there.get(side, []), ensure_ascii=False)
            found.append(
                {
                    "language_pair": row["language_pair"] or None,
                    "hit": f"{row['hit']}.{row['copy']}",
                    "annotator": row["name"],
                    "system": side if side in PAIR else systems[side],
                    "segment": row["segment"],
                    "type": REPEAT if row["type"] == BAD_REFERENCE and shown[side] == original[side] else row["type"],
                    "raw": score,
                    "seconds": None if row["seconds"] is None else row["seconds"] / len(answer["scores"]),
                    "document": row["document"] or None,
                    "spans": None if spans is None else json.dumps(spans),
                    "at": row["at"],
                    "groups": row["groups"],
                    "item": row["tuple"],
                    "suggested": None if row["suggested"] is None else bool(row["suggested"]),
                    "suggestions": None if row["suggested"] is None else made,
                }
            )
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in found] for name in (*RATINGS, *FURTHER)}
    frame = ratings_frame(columns)
    groups = [json.loads(cell) for cell in columns["groups"]]
    names = sorted({name for one in groups for name in one} - set(frame.columns))
    further = [pl.Series(f"group_{name}", [one.get(name) for one in groups], dtype=pl.String) for name in names]
    if any(value is not None for value in columns["suggested"]):
        kinds = {"item": pl.String, "suggested": pl.Boolean, "suggestions": pl.String}
        further += [pl.Series(name, columns[name], dtype=kind) for name, kind in kinds.items()]
    return Ratings(project.path.name, frame.with_columns(further))


def progress(project: Project) -> dict[str, Any]:
    """How far the project is: tasks, items and ratings, in all and by annotator."""
    database = project.database
    tasks = database.execute(
        "SELECT count(*) AS tasks, count(annotator) AS given, count(finished) AS finished FROM tasks "
        "WHERE hit != ? AND withdrawn IS NULL",
        (TRAINING,),
    ).fetchone()
    items = database.execute(
        "SELECT count(*) AS items, count(ratings.item) AS rated FROM items JOIN tasks ON tasks.id = items.task "
        "LEFT JOIN ratings ON ratings.item = items.id WHERE tasks.hit != ? AND tasks.withdrawn IS NULL",
        (TRAINING,),
    ).fetchone()
    people = database.execute(
        "SELECT annotators.name, annotators.revoked IS NOT NULL AS revoked, "
        "(SELECT count(*) FROM tasks WHERE annotator = annotators.id AND finished IS NOT NULL AND hit != ?) "
        "AS finished, "
        "(SELECT count(*) FROM ratings JOIN items ON items.id = ratings.item JOIN tasks ON tasks.id = items.task "
        " WHERE ratings.annotator = annotators.id AND tasks.hit != ?) AS rated, "
        "(SELECT max(at) FROM ratings WHERE annotator = annotators.id) AS latest FROM annotators ORDER BY name",
        (TRAINING, TRAINING),
    ).fetchall()
    return {**dict(tasks), **dict(items), "annotators": [dict(row) for row in people]}
