"""What the user asked for, as the things that were meant: scorers, systems, and the model that mask-replace asks."""

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from babelquake.errors import UserError, setting
from babelquake.languages import Language
from babelquake.models import masked
from babelquake.models.shipped import shipped
from babelquake.paths import install_line
from babelquake.perturb.suite import Suite
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.scorers.user_scorer import Judges
from babelquake.spec import expand
from babelquake.systems import System
from babelquake.systems import system as system_of
from babelquake.systems.user_system import Translates

T = TypeVar("T")

AnyScorer = str | Scorer | Judges | Callable[..., Any]
"""A scorer by name, a scorer, or a function or an object that gives one score per translation."""
AnySystem = str | System | Translates | Callable[..., Any]
"""A system by name, a system, or a function or an object that makes translations of texts."""
Scorers = AnyScorer | Sequence[AnyScorer]
Systems = AnySystem | Sequence[AnySystem]
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


SHIPS = "minilm-en"
"""The masked language model that is asked unless another is named. It knows English alone."""
ITS_LANGUAGE = Language("en")
ENGLISH = f"The one that ships, {SHIPS}, knows English alone."
PAPER = "bert-base-uncased"
NONE = "none"
"""What `--masked-lm` says to leave MAP6 out."""


def with_masked_lm(suite: Suite, named: str | None, languages: Sequence[str | None]) -> tuple[Suite, list[str]]:
    """The suite with the model that was named, or the one that ships for texts in English; and what to say of it.

    `languages` are those of the texts that are perturbed.
    """
    if not suite.lacking:
        return suite, []
    if named and named != NONE:
        return suite.with_model(named), []
    others = sorted({code or "" for code in languages if Language.known(code) != ITS_LANGUAGE})
    reasons = _missing() if named is None else []
    english = any(Language.known(code) == ITS_LANGUAGE for code in languages)
    if reasons or not english or named == NONE:
        return suite.with_model(None), [_left_out(suite, reasons or ([] if named else [ENGLISH]))]
    said = [
        f"mask-replace (MAP6) asks {SHIPS}, the masked language model that ships (paper: {PAPER}); "
        f"{setting('masked_lm', metavar='MODEL')} names another, {setting('masked_lm', NONE)} leaves it out."
    ]
    if others:
        where = ", ".join(code or "a language that is not known" for code in others)
        said.append(f"In {where}: {_left_out(suite, [ENGLISH])}")
    return suite.with_model(SHIPS, ITS_LANGUAGE.code), said


def without_masked_lm(suite: Suite) -> tuple[Suite, list[str]]:
    """The suite without what asks a model and names none; and that it was left out."""
    if not suite.lacking:
        return suite, []
    return suite.with_model(None), [f"{suite.lacking} Name one: mask-replace[model={PAPER}] or [model={SHIPS}]."]


def model_signatures(suite: Suite | None) -> dict[str, str]:
    """Name, content and precision of the models that perturbations ask, by the perturbation's label."""
    asking = [one for one in (suite.perturbations if suite else ()) if one.card.asks and one.options.get("model")]
    return {one.label: masked(str(one.options["model"])).signature for one in asking}


def _left_out(suite: Suite, reasons: Iterable[str]) -> str:
    return " ".join([suite.lacking, *reasons, f"{setting('masked_lm', PAPER)} names the paper's."])


def _missing() -> list[str]:
    """What the model that ships lacks to run here."""
    lacking = [name for name in ("torch", "transformers") if find_spec(name) is None]
    found = [f"The one that ships needs {' and '.join(lacking)}: {install_line('neural')}."] if lacking else []
    return found if SHIPS in shipped() else [*found, "One ships: pip install babelquake-models."]
