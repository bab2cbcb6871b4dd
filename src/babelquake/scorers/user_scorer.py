"""What other people wrote, made a scorer: a function of (translations, references, sources), or a class with one.

`-m my_module:my_metric` names a function that gives one score per segment; what it looks at is read off its parameters'
names, and without `references` it is quality estimation. Where its first parameter is annotated `str` it is asked one
segment at a time. A class is called with the options in brackets and needs a method `segments`, `judge` or `score` of
the same shape. The source file counts in the signature, so that a changed one is another scorer.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

import numpy as np

from babelquake.errors import UserError
from babelquake.scorers.base import Array, MeanScorer, Questions, best_reference, required
from babelquake.spec import Spec, signature
from babelquake.user_code import name_of, source_of, user_errors

ONE_BY_ONE = "Declare a function of one segment as: def metric(translation: str, reference: str) -> float."
METHODS = ("segments", "judge", "score", "__call__")
ROLES = {
    "translation": ("translations", "translation", "hypotheses", "hypothesis", "candidates", "predictions", "mt"),
    "reference": ("references", "reference", "refs", "ref"),
    "source": ("sources", "source", "srcs", "src"),
}
"""What a parameter may be called, for each thing that a scorer can look at."""


class Judges(Protocol):
    """An object of the user's that scores translations."""

    @property
    def segments(self) -> Callable[..., Any]:
        """From translations, references and sources to one score per translation."""


class Adapted(MeanScorer):
    """A function of the user's, or an object with a method like one; several references are judged one by one.

    A function has one number per segment, of which the best counts where there are several references.
    """

    needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, what: Any, place: str | None = None, higher: bool | None = None) -> None:
        self._what = what
        plain = inspect.isroutine(what)
        kind = what if plain else type(what)
        self.spec = Spec(place or name_of(what))
        self._function = what if plain else _method(what)
        self._roles, self._one_by_one = _roles(self._function, self.spec.name)
        own = getattr(what, "needs", None)
        self.needs = frozenset(own if own is not None else self._roles) - {"translation"}  # type: ignore[misc]
        said = getattr(what, "higher_is_better", True) if higher is None else higher
        self.higher_is_better = bool(said)  # type: ignore[misc]  # the function decides, not the class
        self._source = source_of(kind)
        self.costly = self._source is not None or hasattr(what, "signature")  # type: ignore[misc]

    @property
    def signature(self) -> str:
        """Its own; without one, where it is, its options and a hash of the file it is in."""
        given = getattr(self._what, "signature", None)
        given = given() if callable(given) else given
        less = None if self.higher_is_better else "false"
        return str(given) if given else signature(self.spec.without("name"), content=self._source, higher=less)

    def judge(self, questions: Questions) -> Array:
        if "reference" not in self._roles:
            return self._asked(questions)
        given = required(questions.references, self, "reference")
        return best_reference(questions, given, self._asked, np.max if self.higher_is_better else np.min)

    def close(self) -> None:
        if callable(closing := getattr(self._what, "close", None)):
            closing()

    def _asked(self, questions: Questions) -> Array:
        count = len(questions)
        columns: dict[str, list[str]] = {"translation": list(questions.translations)}
        if "reference" in self._roles:
            columns["reference"] = [some[0] for some in required(questions.references, self, "reference")]
        if "source" in self._roles:
            columns["source"] = list(required(questions.sources, self, "source"))
        given = [columns[role] for role in self._roles]
        with user_errors(self.name, "" if self._one_by_one else f"It was given lists. {ONE_BY_ONE}"):
            if self._one_by_one:
                answer: Any = [self._function(*texts) for texts in zip(*given, strict=True)]
            else:
                answer = self._function(*given)
        return _numbers(answer, count, self.name)


def _numbers(answer: Any, count: int, name: str) -> Array:
    """One number per segment, or a sentence that says what came instead."""
    answer = getattr(answer, "scores", answer)
    try:
        values = np.asarray([np.nan if value is None else float(value) for value in answer], dtype=np.float64)
    except (TypeError, ValueError):
        if isinstance(answer, Iterable) and not isinstance(answer, str):
            raise UserError(f"{name} returned a list of something else instead of {count} numbers.") from None
        kind = type(answer).__name__
        raise UserError(f"{name} returned {kind} instead of a list of {count} numbers. {ONE_BY_ONE}") from None
    if values.shape != (count,):
        raise UserError(f"{name} gave {len(values)} scores for {count} segments: one each is needed.")
    if np.isinf(values).any():
        raise UserError(f"{name} gave an infinite score: expected numbers, or None where there is no judgement.")
    return values


def _method(what: Any) -> Callable[..., Any]:
    found = next((getattr(what, name) for name in METHODS if callable(getattr(what, name, None))), None)
    if found is None:
        raise UserError(
            f"{type(what).__name__} is not a scorer: it has no method segments(translations, references, sources)."
        )
    return found  # type: ignore[no-any-return]


def _roles(function: Callable[..., Any], name: str) -> tuple[list[str], bool]:
    """What each positional parameter is, and whether they are single texts; names decide, all known or none."""
    try:
        signed = inspect.signature(function, eval_str=True).parameters.values()
    except (TypeError, ValueError, NameError):
        raise UserError(f"{name}: cannot read its parameters; expected (translations, references, sources).") from None
    given = [one for one in signed if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    found = [next((role for role, names in ROLES.items() if one.name in names), None) for one in given]
    roles = [role for role in found if role is not None]
    unknown = [one.name for one, role in zip(given, found, strict=True) if role is None and one.default is one.empty]
    if unknown or "translation" not in roles or len(set(roles)) < len(roles) or found[: len(roles)] != roles:
        told = ", ".join(one.name for one in given)
        raise UserError(
            f"{name}({told}) is not a scorer: its first parameters must be called translations, and where it looks at "
            "them references and sources."
        )
    return roles, given[0].annotation is str
