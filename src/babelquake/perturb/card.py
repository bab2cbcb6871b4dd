"""A perturbation: a short function with a card, which feeds `list`, docs, tests and the signature.

A function asks for what it needs by parameter name:

- `text` the text to change (always), `level` its strength, `rng` the keyed `Stream`;
- `lang` the text's `Language` or None;
- `source` the segment's source text (for `source-copy`), `vocabulary` the words it draws from;
- `reference`, `foreign` and `others`: the segment's reference, its source in another language, the other segments
  (see `context`);
- `target` the `Language` that the text is to be translated into, or None;
- `protect` whether what must not change is to be left alone;
- any further keyword is an option, typed by its annotation: `final-insert[mark=question]`.

It returns the changed text, or None where it is not applicable. One that needs a masked language model is a generator:
it yields gaps and receives the model's words for them (see `context`).
"""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from typing import Any, Literal, Protocol, TypeVar

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb.context import BESIDE
from babelquake.registry import Registry
from babelquake.spec import parameters
from babelquake.text import digest
from babelquake.user_code import PLACE, at, name_of, source_of, user_errors

Meaning = Literal["preserving", "altering", "depends"]
F = TypeVar("F", bound=Callable[..., Any])
Side = Literal["source", "translation", "reference", "prompt", "any"]
Injects = Literal["canary", "question"]
SUPPLIED = frozenset({"text", "level", "rng", "lang", "target", "protect", "source", "vocabulary"}) | BESIDE
"""Parameters that are not options: the caller supplies them."""
OWN = "own"
"""The family of functions and objects of the user's without a card."""
NAME = re.compile(r"[\w .:+-]+")
"""What an object may be called: a name with brackets would be one with options."""


@dataclass(frozen=True)
class Card:
    """What is known of a perturbation without running it."""

    name: str
    family: str
    paper: str
    meaning: Meaning
    level: float | None
    """The papers' level, or None where there is nothing to turn up."""
    unit: str
    """What the level means, e.g. 'share of words'."""
    languages: tuple[str, ...]
    """Language codes it serves; empty means any."""
    side: Side
    replicates: int
    """How many times a stochastic probe is repeated in the paper's protocol; 1 where that says nothing."""
    function: Callable[..., Any] = field(repr=False, compare=False)
    high: float = 1.0
    """The largest level that makes sense."""
    word_lists: tuple[str, ...] = ()
    """The languages it has lists of words for, where it can do nothing without knowing the language."""
    resource: Callable[[Language | None], str] | None = field(default=None, repr=False, compare=False)
    """Names the linguistic resource used for a language; part of the signature."""
    label: str | Callable[..., str] = field(default="", repr=False, compare=False)
    """What people call it, `{level}` standing for the level; or a function of its options that says so."""
    floor: str = ""
    """The least it changes at any level, where its paper's rule says so."""
    rewrites: bool = False
    """Whether source and reference change with the text (`context.Rewritten`)."""
    injects: Injects | None = None
    """What an instruction that it puts into the text asks for: a `canary` to print, or the answer to a `question`.

    Detectors of failures read it: whether a translation obeyed, and whether the rest was translated.
    """

    @cached_property
    def wants(self) -> frozenset[str]:
        """Which supplied parameters the function asks for."""
        return frozenset(inspect.signature(self.function).parameters) & SUPPLIED

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options in brackets, without the level."""
        return parameters(self.function, skip=SUPPLIED)

    @property
    def identity(self) -> str:
        """What tells one of the user's own from another of its name; the same for any two of those that are named."""
        return self.resource(None) if self.family == OWN and self.resource is not None else ""

    @property
    def asks(self) -> bool:
        """Whether it needs the words of a masked language model."""
        return inspect.isgeneratorfunction(self.function)

    @property
    def rearranges(self) -> bool:
        """Whether it moves whole lines or places about, so that nothing in them need be protected."""
        return self.family in ("prompt", "document")

    @property
    def description(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def serves(self, lang: Language | None) -> bool:
        """Whether the language is one it was made for; an unknown language gets the benefit of the doubt."""
        return not self.languages or lang is None or lang.code in self.languages


MODULES = (
    "spelling",
    "zeroe",
    "typography",
    "punctuation",
    "function_words",
    "content_words",
    "meaning",
    "register",
    "pitfalls",
    "injection",
    "prompts",
    "documents",
)
"""The modules whose import registers perturbations: one line per family."""

PERTURBATIONS: Registry[Card] = Registry(
    "perturbation",
    "babelquake.perturbations",
    modules=[f"babelquake.perturb.{module}" for module in MODULES],
    listing="perturbations",
)


def perturbation(
    name: str,
    *,
    family: str,
    paper: str = "",
    meaning: Meaning,
    level: float | None = None,
    unit: str = "",
    languages: Iterable[str] = (),
    side: Side = "any",
    replicates: int = 1,
    high: float = 1.0,
    word_lists: Iterable[str] = (),
    resource: Callable[[Language | None], str] | None = None,
    label: str | Callable[..., str] = "",
    floor: str = "",
    rewrites: bool = False,
    injects: Injects | None = None,
) -> Callable[[F], F]:
    """Register a function as a perturbation under a name."""

    def register(function: F) -> F:
        card = Card(
            name,
            family,
            paper,
            meaning,
            level,
            unit,
            tuple(languages),
            side,
            replicates,
            function,
            high,
            tuple(word_lists),
            resource,
            label,
            floor,
            rewrites,
            injects,
        )
        PERTURBATIONS.register(name, card)
        function.card = card  # type: ignore[attr-defined]  # for those who name it by its place
        return function

    return register


def card_of(name: str) -> Card:
    """The card of a perturbation: registered, or made for a function of the user's at `module:function`.

    Such a function, or the method `perturb` of such a class, asks for what it needs by the same names; the default of
    its `level` is the level. The file it is written in counts in the signature.
    """
    if name in LIVE:
        return LIVE[name]
    return _card_for(at(name), name) if PLACE.fullmatch(name) else PERTURBATIONS.get(name)


LIVE: dict[str, Card] = {}
"""Functions and objects of the user's that were handed over as such, by the names that tables show."""


class Perturbs(Protocol):
    """An object of the user's with a method that changes a text; it asks for what it needs as a function does.

    It may have a `name`, which tables show, and a `signature`, a text or a method that gives one.
    """

    @property
    def perturb(self) -> Callable[..., Any]:
        """The changed text, or None where it is not applicable."""


def card_of_own(thing: Callable[..., Any] | Perturbs) -> Card:
    """The card of a function, a lambda, or an object that has `perturb` or can be called, under its own name.

    A name that was taken by an earlier one is the new one's: in a notebook, cells are run again.
    """
    if not callable(getattr(thing, "perturb", thing)):
        raise UserError(
            f"{type(thing).__name__} is not a perturbation: give a name, a function of a text, or an object with a "
            "method perturb(text)."
        )
    name = name_of(thing)
    if name != getattr(thing, "name", None):
        name = name.rpartition(":")[2].rpartition(".")[2]
    elif not NAME.fullmatch(name):
        raise UserError(f"'{name}' cannot be the name of a perturbation: use letters, digits, spaces and hyphens.")
    if name in PERTURBATIONS.names():
        name = f"own-{name}"
    LIVE[name] = _card_for(thing, name)
    return LIVE[name]


def _card_for(thing: Any, name: str) -> Card:
    function = getattr(thing, "perturb", thing)
    if isinstance(thing, type) and function is not thing:
        function = _of_class(thing)
    if isinstance(own := getattr(thing, "card", None), Card):
        return replace(own, name=name, function=_own(function, name))
    given = inspect.signature(function).parameters
    if "text" not in given:
        first = next(
            (one for one in given.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)), None
        )
        if first is None or first.name in SUPPLIED:
            raise UserError(f"{name}({', '.join(given)}) is not a perturbation: its first parameter must be the text.")
        function = _called_text(function, first.name)
        given = inspect.signature(function).parameters
    level = given["level"].default if "level" in given else None
    if "level" in given and not isinstance(level, int | float):
        raise UserError(f"{name}: its parameter level needs a default, such as level=0.1.")
    said = _identity(thing)
    return Card(
        name, OWN, "", "depends", level, "share", (), "any", 1, _own(function, name), resource=lambda lang: said
    )


def _identity(thing: Any) -> str:
    """What tells a function or an object from others: its signature, or the file it is written in and its values.

    Of an object's values those count that are written the same everywhere: texts, numbers and switches.
    """
    if inspect.isroutine(thing) or isinstance(thing, type):
        return f"content:{source_of(thing)}"
    given = getattr(thing, "signature", None)
    if given := given() if callable(given) else given:
        return str(given)
    names = {*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())}
    state = [
        (name, value) for name in sorted(names) if isinstance(value := getattr(thing, name, None), str | int | float)
    ]
    values = f"|values:{digest(f'{name}={value!r}' for name, value in state)}" if state else ""
    return f"content:{source_of(type(thing))}{values}"


def _of_class(kind: type[Perturbs]) -> Callable[..., Any]:
    """A class with `perturb` as a function: what makes an object is an option beside those of the method."""
    made, own = lru_cache(maxsize=64)(kind), parameters(kind)
    method = inspect.signature(kind.perturb)

    def change(text: str, **given: Any) -> Any:
        options = {name: given.pop(name) for name in own if name in given}
        return made(**options).perturb(text, **given)

    further = [one.replace(kind=one.KEYWORD_ONLY) for one in own.values()]
    change.__signature__ = method.replace(parameters=[*list(method.parameters.values())[1:], *further])  # type: ignore[attr-defined]
    return change


def _called_text(function: Callable[..., Any], first: str) -> Callable[..., Any]:
    """A function whose first parameter is called `text`."""

    @wraps(function)
    def renamed(text: str, **options: Any) -> Any:
        return function(text, **options)

    signature = inspect.signature(function)
    parameters = [one.replace(name="text") if one.name == first else one for one in signature.parameters.values()]
    plain = [one.replace(kind=one.POSITIONAL_OR_KEYWORD) if one.name == "text" else one for one in parameters]
    renamed.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    return renamed


def _own(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of the user's, whose mistakes are reported as theirs."""

    @wraps(function)
    def change(*args: Any, **options: Any) -> str | None:
        with user_errors(name):
            changed = function(*args, **options)
        if changed is not None and not isinstance(changed, str):
            raise UserError(f"{name} returned {type(changed).__name__}. Expected a text, or None.")
        return changed

    return change
