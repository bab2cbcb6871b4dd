"""Scores by text, and the files in which people have them: tables, COMET's JSON, one score a line."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babelquake.errors import UserError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

ERRORS = re.compile(r"(?<![a-z])(h?ter|wer|cer|ppl|perplexity|metricx)(?![a-z])", re.IGNORECASE)
"""Names of scores that count errors."""
STATED = re.compile(r"#\s*(lower|higher) is better\.?\s*", re.IGNORECASE)
Entry = tuple[str, str, frozenset[str] | None, float]
"""Source, translation, references and score; without references the score holds whatever they are."""


@dataclass
class Known:
    """What is known about which texts. A text judged several times has the mean of its scores."""

    with_source: bool = True
    entries: list[Entry] = field(default_factory=list)
    stripped: bool = False
    """Whether the texts are known without the white space around them, as COMET reads its files."""

    def score(self, source: str | None, translation: str, references: Sequence[str] | None) -> float:
        """The score of these texts, NaN where there is none; what is not given is not compared."""
        if self.stripped:
            source = None if source is None else source.strip()
            translation, references = translation.strip(), references and [text.strip() for text in references]
        if source is not None and self.with_source:
            candidates = self._by_both.get((source, translation), [])
        else:
            candidates = self._by_translation.get(translation, [])
        wanted = None if references is None else frozenset(references)
        fitting = [score for known, score in candidates if known is None or wanted is None or wanted <= known]
        return sum(fitting) / len(fitting) if fitting else nan

    @cached_property
    def _by_both(self) -> dict[tuple[str, str], list[tuple[frozenset[str] | None, float]]]:
        table: dict[tuple[str, str], list[tuple[frozenset[str] | None, float]]] = {}
        for source, translation, references, score in self.entries:
            table.setdefault((source, translation), []).append((references, score))
        return table

    @cached_property
    def _by_translation(self) -> dict[str, list[tuple[frozenset[str] | None, float]]]:
        table: dict[str, list[tuple[frozenset[str] | None, float]]] = {}
        for _, translation, references, score in self.entries:
            table.setdefault(translation, []).append((references, score))
        return table


def entries_of(segments: "pl.DataFrame", values: Iterable[float | None]) -> list[Entry]:
    """The rows that have a translation and a score."""
    columns = (segments[name] for name in ("source", "translation", "references"))
    return [
        (source or "", translation, None if references is None else frozenset(references), float(value))
        for source, translation, references, value in zip(*columns, values, strict=True)
        if translation is not None and value is not None and not isnan(value)
    ]


def numbers_of(segments: "pl.DataFrame", column: str, where: str) -> list[float | None]:
    """A column of scores, or an error that says what else there is."""
    from babelquake.data.table import number

    if column not in segments.columns or segments[column].null_count() == segments.height:
        present = [name for name in segments.columns if segments[name].null_count() < segments.height]
        raise UserError(f"{where} has no column '{column}' with scores. {did_you_mean(column, present)}")
    return [
        number(value, f"row {row} of {where}: {column}")
        for row, value in enumerate(segments[column].to_list(), start=1)
    ]


def names_errors(name: str) -> bool:
    """Whether scores of this name count errors: TER, MetricX, perplexity and their like."""
    return ERRORS.search(name) is not None


def stated_direction(path: Path) -> bool | None:
    """Whether higher is better, where the first line of a file says so."""
    from babelquake.data.streams import lines

    found = STATED.fullmatch(next(iter(lines(path)), ""))
    return found[1].lower() == "higher" if found else None


def one_per_line(path: Path) -> list[float | None]:
    """A file with one score a line; a blank line or `None` means not judged; the first may say what is better."""
    from babelquake.data.streams import lines
    from babelquake.data.table import number

    found = [
        number(line, f"{path} line {place}: the score")
        for place, line in enumerate(lines(path), start=1)
        if place > 1 or not STATED.fullmatch(line)
    ]
    if not found:
        raise UserError(f"{path} is empty. Expected one score a line.")
    return found


def comet_json(path: Path, column: str | None = None) -> Known | None:
    """What `comet-score --to_json` wrote: an object with a list of segments (src, mt, ref, COMET) for every system.

    None for JSON of another shape. `column` names another number of the segments than `COMET`.
    """
    from babelquake.data.streams import opened, suffix
    from babelquake.data.table import number

    if suffix(path) != ".json":
        return None
    try:
        with opened(path) as stream:
            systems = json.loads(stream.read())
    except (ValueError, RecursionError):
        return None
    lists = list(systems.values()) if isinstance(systems, dict) else []
    segments: list[Any] = [one for some in lists if isinstance(some, list) for one in some]
    key = column or "COMET"
    if not segments or not all(isinstance(one, dict) and isinstance(one.get("mt"), str) for one in segments):
        return None
    if not any(key in one for one in segments):
        have = [name for name in segments[0] if name not in ("src", "mt", "ref")]
        raise UserError(f"{path} has no score called '{key}' for its segments. {did_you_mean(key, have)}")
    entries = []
    for place, one in enumerate(segments, start=1):
        value = number(one.get(key), f"{path} segment {place}: {key}")
        if value is not None:
            reference = one.get("ref")
            known = None if reference is None else frozenset([str(reference).strip()])
            entries.append((str(one.get("src") or "").strip(), one["mt"].strip(), known, value))
    return Known(all("src" in one for one in segments), entries, stripped=True)
