"""What the user asked for, as the things that were meant."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from babelquake.errors import UserError
from babelquake.perturb.suite import AnyPerturbation, Suite
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.spec import expand
from babelquake.systems import System
from babelquake.systems import system as system_of

T = TypeVar("T")
AnyScorer = str | Scorer | Callable[..., Any]
"""A scorer by name, a scorer, or a function that gives one score per translation."""
AnySystem = str | System | Callable[[Sequence[str]], Sequence[str]]
"""A system by name, a system, or a function from texts to translations."""
Scorers = AnyScorer | Sequence[AnyScorer]
Systems = AnySystem | Sequence[AnySystem]
Perturbations = Suite | AnyPerturbation | Sequence[AnyPerturbation]
"""A suite by name, a suite, or perturbations: names, perturbations, functions of a text."""
Ratings = str | Path | pl.DataFrame
"""Human ratings of attacked texts: a file, or a table."""


def scorers_of(what: AnyScorer | Sequence[AnyScorer]) -> list[Scorer]:
    """The scorers that were meant, each once; alternatives in brackets are spelt out: `bertscore[layer=1|2]`.

    Two that differ but have one name would share their rows in every table: they are refused.
    """
    named: list[AnyScorer] = several(what)
    asked = [each for item in named for each in (expand(item) if isinstance(item, str) else [item])]
    found: dict[str, tuple[object, Scorer]] = {}
    for each in asked:
        scorer = scorer_of(each)
        former, other = found.setdefault(scorer.name, (each, scorer))
        functions = callable(each) and each is not former
        if other is not scorer and (functions or other.spec != scorer.spec or other.signature != scorer.signature):
            raise UserError(
                f"two scorers are called '{scorer.name}': {other.spec} and {scorer.spec}. "
                f"Give one of them another name: {scorer.spec.with_options(name='…')}."
            )
    return [scorer for _, scorer in found.values()]


def systems_of(named: Iterable[AnySystem], pairs: Iterable[str | None]) -> dict[str | None, list[System]]:
    """The systems that were meant, as they translate each language pair.

    Two of one name would share their rows in every table: they are refused.
    """
    given = list(named)
    made = {pair: [system_of(item, pair) for item in given] for pair in pairs}
    for group in made.values():
        names = [item.name for item in group]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise UserError(f"two systems are called '{sorted(doubled)[0]}': give each one once.")
    return made


def several(what: T | Sequence[T]) -> list[T]:
    """One thing or a list of them, as a list."""
    if isinstance(what, str) or not isinstance(what, Sequence):
        return [what]
    return list(what)


def references_each(segments: pl.DataFrame) -> int | None:
    """How many references every segment has that has any; None where that varies."""
    counts = given_references(segments["references"]).list.len().unique()
    some = counts.filter(counts > 0) if len(counts) > 1 else counts
    return int(some[0]) if len(some) == 1 else None


def given_references(references: pl.Series) -> pl.Series:
    """The references of each segment that hold some text; an empty list where there are none."""
    return references.list.eval(pl.element().filter(pl.element().str.strip_chars() != "")).fill_null([])
