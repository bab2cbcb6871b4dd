"""A perturbation: a short function with a card, which feeds `list`, docs, tests and the signature.

A function asks for what it needs by parameter name:

- `text` the text to change (always), `level` its strength, `rng` the keyed `Stream`;
- `lang` the text's `Language` or None;
- `source` the segment's source text (for `source-copy`), `vocabulary` words of the data set's own translations;
- any further keyword is an option, typed by its annotation: `final-insert[mark=question]`.

It returns the changed text, or None where it is not applicable.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.randomness import Stream
from babelquake.registry import Registry
from babelquake.spec import Range, Spec, bind, check_range, parameters, parse

Meaning = Literal["preserving", "altering", "depends"]
Side = Literal["source", "translation", "reference", "any"]
SUPPLIED = frozenset({"text", "level", "rng", "lang", "source", "vocabulary"})
"""Parameters that are not options: the caller supplies them."""


LEVEL = {"level": inspect.Parameter("level", inspect.Parameter.KEYWORD_ONLY, default=None)}
"""Named among the options where one is misspelt; its value is read by `Perturbation` itself."""


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
    function: Callable[..., str | None] = field(repr=False, compare=False)
    high: float = 1.0
    """The largest level that makes sense."""
    resource: Callable[[Language | None], str] | None = field(default=None, repr=False, compare=False)
    """Names the linguistic resource used for a language; part of the signature."""

    @cached_property
    def wants(self) -> frozenset[str]:
        """Which supplied parameters the function asks for."""
        return frozenset(inspect.signature(self.function).parameters) & SUPPLIED

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options in brackets, without the level."""
        return parameters(self.function, skip=SUPPLIED)

    @property
    def description(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def serves(self, lang: Language | None) -> bool:
        """Whether the language is one it was made for; an unknown language gets the benefit of the doubt."""
        return not self.languages or lang is None or lang.code in self.languages


MODULES: tuple[str, ...] = (
    "case",
    "spelling",
    "zeroe",
    "shapes",
    "punctuation",
    "function_words",
    "content_words",
    "meaning",
    "register",
)
"""The modules whose import registers perturbations: one line per family."""

PERTURBATIONS: Registry[Card] = Registry(
    "perturbation", "babelquake.perturbations", modules=[f"babelquake.perturb.{module}" for module in MODULES]
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
    resource: Callable[[Language | None], str] | None = None,
) -> Callable[[Callable[..., str | None]], Callable[..., str | None]]:
    """Register a function as a perturbation under a name."""

    def register(function: Callable[..., str | None]) -> Callable[..., str | None]:
        card = Card(
            name, family, paper, meaning, level, unit, tuple(languages), side, replicates, function, high, resource
        )
        PERTURBATIONS.register(name, card)
        return function

    return register


_language = lru_cache(maxsize=256)(Language)


class Perturbation:
    """A card bound to a level and options: ready to change texts."""

    def __init__(self, spec: Spec | str, **options: Any) -> None:
        spec = (parse(spec) if isinstance(spec, str) else spec).with_options(**options)
        self.card = PERTURBATIONS.get(spec.name)
        given = dict(spec.options)
        level = given.pop("level", None)
        self.level = self._level(level)
        accepted = self.card.options | (LEVEL if self.card.level is not None else {})
        self.options = bind(Spec(spec.name, tuple(given.items())), accepted, "perturbation")
        levelled = {"level": f"{self.level:g}"} if self.level is not None else {}
        self.spec = Spec(spec.name, tuple(sorted((given | levelled).items())))
        self._key = str(self.spec)
        wants = self.card.wants
        fixed = {"level": self.level} if "level" in wants else {}
        self._change = partial(self.card.function, **self.options, **fixed)
        self._draws, self._told = "rng" in wants, "lang" in wants
        self._given = wants & {"source", "vocabulary"}

    def _level(self, text: str | None) -> float | None:
        if text is None:
            return self.card.level
        if self.card.level is None:
            raise UserError(f"perturbation '{self.card.name}' has no level.")
        try:
            level = float(text)
        except ValueError:
            raise UserError(
                f"{self.card.name}[level={text}]: expected a number from 0 to {self.card.high:g} ({self.card.unit})."
            ) from None
        check_range(level, Range(0, self.card.high), f"{self.card.name}[level={text}]")
        return level

    @property
    def name(self) -> str:
        """The bare name."""
        return self.card.name

    @property
    def label(self) -> str:
        """Name and options without the level, as tables show it; the level has its own column."""
        return str(Spec(self.spec.name, tuple(item for item in self.spec.options if item[0] != "level")))

    def signature(self, lang: str | None = None) -> str:
        """Name, options, and the linguistic resource that was used."""
        resource = self.card.resource(Language(lang) if lang else None) if self.card.resource else ""
        return f"{self.spec}{'|' + resource if resource else ''}"

    def apply(
        self,
        text: str,
        *,
        lang: str | None = None,
        seed: int = 0,
        replicate: int = 0,
        source: str | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> str | None:
        """The changed text; None where the perturbation does not apply to it."""
        card = self.card
        if self.level == 0:
            return text
        lang = lang if lang is None or lang.__class__ is Language else _language(lang)
        if card.languages and not card.serves(lang):
            return None
        supply: dict[str, Any] = {"lang": lang} if self._told else {}
        if self._draws:
            supply["rng"] = Stream(f"{seed}\x1f{self._key}\x1f{replicate}\x1f{text}")
        for name in self._given:
            supply[name] = source if name == "source" else vocabulary
        return self._change(text=text, **supply)
