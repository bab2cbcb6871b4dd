"""How often attacks succeed, and what it takes: Tables 1 and 2 of Huang 2023, with their denominators."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from babelquake.runs.measures import Measure
from babelquake.stats.intervals import Z, wilson
from babelquake.studies.attack import kinds
from babelquake.studies.attack.cells import cells


def success_measures(attacks: pl.DataFrame, by: str | None) -> Iterator[Measure]:
    """Per victim and recipe, and for every value of the column `by`: share, number and cost of eligible perturbations.

    The denominator `n` is every sentence that was attacked; `changed` is how many of them gave an eligible
    perturbation.
    """
    for victim, recipe, _, cell in cells(attacks):
        yield from _one(cell, victim, recipe, None)
        if by is not None:
            for _, _, value, part in cells(cell, by):
                yield from _one(part, victim, recipe, value)
        yield from _edit_shares(cell, victim, recipe)


def _one(cell: pl.DataFrame, victim: str, recipe: str, group: str | None) -> Iterator[Measure]:
    found = cell.filter("success")
    n, successes, queries = cell.height, found.height, int(cell["queries"].sum())
    low, high = wilson(successes, n)
    about: dict[str, Any] = {"scorer": victim, "perturbation": recipe, "group": group}
    share = 100.0 * successes / n
    sd = 100 * (high - low) / (2 * Z)
    yield Measure(kinds.SUCCESS, share, n=n, changed=successes, sd=sd, low=100 * low, high=100 * high, **about)
    yield Measure(kinds.QUERIES, queries / n, n=n, **about)
    yield Measure(kinds.QUERIES_PER_SUCCESS, queries / successes if successes else None, n=successes, **about)
    yield Measure(kinds.WORDS_CHANGED, _median(found["words_changed"]), n=successes, **about)
    yield Measure(kinds.GAIN, _median(found["gain"]), n=successes, **about)


def _edit_shares(cell: pl.DataFrame, victim: str, recipe: str) -> Iterator[Measure]:
    """Of which kinds the edits of eligible perturbations are."""
    edits = Counter(edit["kind"] for text in cell.filter("success")["edits"] for edit in json.loads(text))
    for kind, count in sorted(edits.items(), key=lambda item: (-item[1], item[0])):
        share = 100.0 * count / edits.total()
        yield Measure(kinds.EDIT_SHARE, share, n=edits.total(), scorer=victim, perturbation=recipe, other=kind)


def _median(column: pl.Series) -> float | None:
    value = column.median()
    return float(value) if isinstance(value, int | float) else None
