"""What a project has collected, how far everybody is, and what ratings say: a project's or any others."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.annotate.material import PAIR
from babelquake.annotate.people import TRAINING
from babelquake.annotate.project import Project, is_project
from babelquake.data.ratings import BAD_REFERENCE, RATINGS, REPEAT, SYSTEM, Ratings, ratings_frame, read_ratings
from babelquake.runs.measures import ALPHA
from babelquake.studies.human import HumanOptions
from babelquake.studies.human.findings import Findings, findings, for_attack
from babelquake.studies.human.study import of_pair, plan

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


def ratings_in(source: str | Path) -> Ratings:
    """The ratings of a project, or those in a file."""
    return collected(Project(source)) if is_project(source) else read_ratings(source)


def analyse(
    source: str | Path,
    *,
    exclude: str | None = None,
    least: int | None = None,
    language_pair: str | None = None,
    alpha: float = ALPHA,
    power: float = 0.8,
) -> tuple[Ratings, Findings]:
    """Ratings and what they say.

    A project's ratings are taken as Huang 2023 took theirs: failed tasks out, three ratings or more. Others as WMT did:
    published ratings have passed their campaign's quality control already, so nothing is taken out of them unasked.
    """
    ratings = of_pair(ratings_in(source), language_pair)
    if is_project(source):
        return ratings, findings(
            ratings, exclude=exclude or "hits", least=least or LEAST, counted=COUNTED, alpha=alpha, power=power
        )
    return ratings, findings(ratings, exclude=exclude or "none", least=least or 1, alpha=alpha, power=power)


def forecast(source: str | Path, language_pair: str | None = None) -> dict[str, int | float | str]:
    """How much there is to analyse and how long that takes, from a sample of the ratings; nothing is written."""
    ratings = of_pair(ratings_in(source), language_pair)
    frame = ratings.frame
    counted = {name: frame[name].drop_nulls().n_unique() for name in ("annotator", "system", "segment")}
    seconds = plan(HumanOptions(data=ratings)).forecast().seconds or 0.0
    return {"name": ratings.name, "ratings": frame.height, **counted, "seconds": seconds}


def tuple_ratings(project: str | Path) -> pl.DataFrame:
    """What a project says of original and perturbed translations, as the attack study takes it."""
    return for_attack(analyse(project)[1].segments)
