"""What other people wrote, made a system: a class with `translate` and `signature`, or a function.

`-s my_module:translate` names your own function, which turns a list of texts into a list of translations, or one
text into one translation where its parameter is annotated `str`; a class is called with the options in brackets. The
source file of either counts in the signature, so that a changed one is another system.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from babelquake.errors import UserError, as_list
from babelquake.resource import Limits
from babelquake.spec import Spec, signature
from babelquake.systems.base import System
from babelquake.user_code import name_of, place_of, source_of, user_errors

ONE_BY_ONE = "Declare a function of one text as: def translate(text: str) -> str."


class Translates(Protocol):
    """An object of the user's that translates."""

    @property
    def translate(self) -> Callable[..., Any]:
        """From a list of texts to a list of translations."""


class Adapted(System):
    """A function from texts to translations, or an object with `translate`.

    What else an object offers – signature, name, limits, close – is used.
    """

    def __init__(self, what: Any, place: str | None = None) -> None:
        self._what, self._translate = what, getattr(what, "translate", what)
        if not callable(self._translate):
            raise UserError(f"{type(what).__name__} is not a system: no function of texts, and no method translate.")
        self.spec = Spec(place or name_of(what))
        self.remote = bool(getattr(what, "remote", False))
        self.price_per_million = getattr(what, "price_per_million", None)
        plain, kind = self._translate is what, type(what)
        self._place = self.spec.name if plain else place_of(kind)
        self._source = source_of(what if plain else kind)
        self._one_by_one = plain and _reads_one(what)

    @property
    def limits(self) -> Limits:
        found = getattr(self._what, "limits", None)
        return found if isinstance(found, Limits) else Limits()

    @property
    def signature(self) -> str:
        """Its own; without one, where it is and a hash of the file it is in."""
        given = getattr(self._what, "signature", None)
        given = given() if callable(given) else given
        return str(given) if given else signature(self._place, content=self._source)

    def translate(self, texts: Sequence[str]) -> list[str]:
        with user_errors(self.name, f"It was given a list of texts. {ONE_BY_ONE}" if not self._one_by_one else ""):
            found = list(map(self._translate, texts)) if self._one_by_one else self._translate(list(texts))
            found = as_list(found) if isinstance(found, Iterable) and not isinstance(found, str | Mapping) else found
        return _listed(found, self, len(texts))

    def close(self) -> None:
        if callable(closing := getattr(self._what, "close", None)):
            closing()


def _reads_one(function: Callable[..., Any]) -> bool:
    """Whether a function takes one text: by the annotation of its first parameter, or as a method of `str`."""
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    except (TypeError, ValueError, NameError):
        return False
    return bool(parameters) and str in (parameters[0].annotation, getattr(function, "__objclass__", None))


def _listed(found: object, system: System, asked: int) -> list[str]:
    if not isinstance(found, list):
        kind = type(found).__name__
        raise UserError(f"{system.name} returned {kind} instead of a list of translations. {ONE_BY_ONE}")
    wrong = [type(item).__name__ for item in found if not isinstance(item, str)]
    if wrong:
        raise UserError(f"{system.name} returned {wrong[0]} instead of a translation.")
    if len(found) != asked:
        raise UserError(f"{system.name} returned {len(found)} translations for {asked} texts. Expected one for each.")
    return found
