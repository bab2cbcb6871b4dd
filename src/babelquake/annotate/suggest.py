"""Errors marked beforehand: what the failure detectors, a metric that marks errors, or a file of marks suggests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.annotate.material import Tuple
from babelquake.annotate.protocols import MISSING
from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError, setting
from babelquake.failures import DETECTORS, Failure, Pair, cards_for, failures_in
from babelquake.languages import sides as languages
from babelquake.scorers import scorer
from babelquake.scorers.base import questions_of
from babelquake.studies.correlate.marked_errors import marked_by, marks_of

FAILURES = "failures"
Suggestion = Mapping[str, Any]
"""`start_i`, `end_i` and `severity` as in an answer; `by`, who suggests it, and `why`, what annotators are told."""
LEFT_OUT = ("content", "markup")
"""Families of failures that have no place in the translation because something of the source is not there."""


def with_suggestions(tuples: Sequence[Tuple], sources: Sequence[str]) -> list[Tuple]:
    """Tuples with what each source suggests: `failures`, a scorer that marks errors, or a file of marked errors."""
    data = _texts_of(tuples)
    found: list[list[Suggestion]] = [[] for _ in range(len(data))]
    for source in sources:
        for some, more in zip(found, _of_source(source, data), strict=True):
            some += more
    if not any(found):
        known = all(one.language_pair for one in tuples)
        hint = "" if known else f" Many failures can be seen only where {setting('language_pair')} is given."
        raise UserError(f"{setting('suggest', ', '.join(sources))}: nothing is suggested in any translation.{hint}")
    rows = iter(found)
    return [replace(one, suggestions={side: _once(next(rows)) for side in one.texts}) for one in tuples]


def moved(suggestions: Sequence[Suggestion], text: str, degraded: str) -> list[Suggestion]:
    """Suggestions in a text that lost words: where their own words still stand, nearest to where they were."""
    if text == degraded:
        return list(suggestions)
    found = []
    for one in suggestions:
        start, end = one["start_i"], one["end_i"]
        if start == MISSING:
            found.append(one)
            continue
        words = text[start:end]
        places = [at for at in range(len(degraded)) if degraded.startswith(words, at)]
        if places:
            at = min(places, key=lambda place: abs(place - start))
            found.append({**one, "start_i": at, "end_i": at + len(words)})
    return found


def _texts_of(tuples: Sequence[Tuple]) -> Dataset:
    """Every translation of the tuples, one row each."""
    rows = [
        (one.segment, one.source or None, one.reference or None, text, one.systems[side], one.language_pair or None)
        for one in tuples
        for side, text in one.texts.items()
    ]
    columns = ("id", "source", "reference", "translation", "system", "language_pair")
    schema = dict.fromkeys(columns, pl.String)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    segments = frame.with_columns(references=pl.col("reference").map_elements(lambda one: [one], pl.List(pl.String)))
    return Dataset("translations to rate", segments.drop("reference"))


def _of_source(source: str, data: Dataset) -> Iterator[list[Suggestion]]:
    if source == FAILURES:
        yield from _failures(data)
        return
    if Path(source).is_file():
        marks, by = marks_of(data, read(source), source), Path(source).name
    else:
        judge = scorer(source)
        if not judge.marks_errors:
            raise UserError(
                f"{setting('suggest', source)}: this scorer marks no errors. Use failures, a scorer that does "
                "(an xCOMET model, llm-judge[style=errors,…]), or a file with a column spans."
            )
        columns = [data.segments[name].to_list() if data.has(name) else None for name in ("references", "source")]
        asked = questions_of(judge, data.segments["translation"].to_list(), *columns)
        marks, by = marked_by([judge], asked, Engine())[judge.name], judge.name
    for some in marks:
        yield [
            {
                "start_i": mark.start,
                "end_i": mark.end,
                "severity": "major" if mark.major else "minor",
                "by": by,
                "why": "",
            }
            for mark in some or ()
        ]


def _failures(data: Dataset) -> Iterator[list[Suggestion]]:
    cards: dict[str | None, Any] = {}
    for source, text, pair in data.segments.select("source", "translation", "language_pair").iter_rows():
        ours, theirs = languages(pair)
        if pair not in cards:
            cards[pair] = cards_for(ours, theirs, sources=data.has("source"))
        found = failures_in(Pair(source, text, ours, theirs), cards[pair])
        yield [one for failure in found for one in _of_failure(failure, text)]


def _of_failure(failure: Failure, text: str) -> Iterator[Suggestion]:
    """A failure where it is; without a place, as something missing, or as the whole translation."""
    family = DETECTORS.get(failure.kind).family
    missing = family in LEFT_OUT or failure.kind in ("truncated", "empty")
    places: Any = failure.spans or ([(MISSING, MISSING)] if missing else [(0, len(text))])
    for start, end in places:
        yield {
            "start_i": start,
            "end_i": end,
            "severity": "major",
            "by": failure.kind,
            "why": f"{failure.kind}: {failure.evidence}",
        }


def _once(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Suggestions in the order of the text, several on the same words as one."""
    at: dict[tuple[Any, Any], Suggestion] = {}
    for one in suggestions:
        place = one["start_i"], one["end_i"]
        known = at.get(place)
        if known is None:
            at[place] = one
            continue
        severity = "major" if "major" in (one["severity"], known["severity"]) else "minor"
        joined = {name: "; ".join(dict.fromkeys(filter(None, (known[name], one[name])))) for name in ("by", "why")}
        at[place] = {**known, **joined, "severity": severity}
    return sorted(at.values(), key=lambda one: (one["start_i"] == MISSING, one["start_i"], one["end_i"]))
