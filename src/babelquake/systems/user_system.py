"""What other people wrote, made a system: a class with `translate` and `signature`, or a function.

`-s my_module:translate` names your own function, which turns a list of texts into a list of translations, or one
text into one translation where its parameter is annotated `str`; a class is called with the options in brackets. The
source file of either counts in the signature, so that a changed one is another system.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from babelquake.errors import UserError
from babelquake.resource import Limits
from babelquake.spec import Spec, signature
from babelquake.systems.base import System
from babelquake.user_code import name_of, source_of, told


class Adapted(System):
    """An object with `translate`; what else it offers – signature, name, limits, close – is used."""

    def __init__(self, inner: Any) -> None:
        if not callable(getattr(inner, "translate", None)):
            raise UserError(f"{type(inner).__name__} is not a system: it has no method translate(texts).")
        self._inner = inner
        self.spec = Spec(name_of(inner))
        self.remote = bool(getattr(inner, "remote", False))
        self.price_per_million = getattr(inner, "price_per_million", None)

    @property
    def limits(self) -> Limits:
        found = getattr(self._inner, "limits", None)
        return found if isinstance(found, Limits) else Limits()

    @property
    def signature(self) -> str:
        """Its own; without one, its class and source."""
        given = getattr(self._inner, "signature", None)
        given = given() if callable(given) else given
        kind = type(self._inner)
        return str(given) if given else signature(f"{kind.__module__}:{kind.__qualname__}", content=source_of(kind))

    def translate(self, texts: Sequence[str]) -> list[str]:
        with told(self.name):
            found = self._inner.translate(list(texts))
        return _listed(found, self, len(texts))

    def close(self) -> None:
        if callable(closing := getattr(self._inner, "close", None)):
            closing()


class Function(System):
    """A function of the user's, from texts to translations."""

    def __init__(self, function: Callable[..., Any], place: str | None = None) -> None:
        if not callable(function):
            raise UserError(
                f"{type(function).__name__} is not a system: it is not a function of texts, and has no translate."
            )
        self._function = function
        self._place = place or name_of(function)
        try:
            parameters = list(inspect.signature(function, eval_str=True).parameters.values())
            self._one_by_one = bool(parameters) and parameters[0].annotation is str
        except (TypeError, ValueError, NameError):
            self._one_by_one = False

    @property
    def name(self) -> str:
        """Where the function is, unless it was given a name."""
        return super().name if hasattr(self, "spec") else self._place

    @property
    def signature(self) -> str:
        return signature(self._place, content=source_of(self._function))

    def translate(self, texts: Sequence[str]) -> list[str]:
        with told(self.name):
            found = [self._function(text) for text in texts] if self._one_by_one else self._function(list(texts))
        return _listed(found, self, len(texts))


def _listed(found: Any, system: System, asked: int) -> list[str]:
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise UserError(
            f"{system.name} returned {type(found).__name__} instead of a list of translations. Declare a function of "
            "one text as: def translate(text: str) -> str."
        )
    wrong = [type(item).__name__ for item in found if not isinstance(item, str)]
    if wrong:
        raise UserError(f"{system.name} returned {wrong[0]} instead of a translation.")
    if len(found) != asked:
        raise UserError(f"{system.name} returned {len(found)} translations for {asked} texts. Expected one for each.")
    return list(found)
