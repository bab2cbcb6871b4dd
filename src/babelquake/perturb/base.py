"""A perturbation: a short function with a card, which feeds `list`, docs, tests and the signature.

A function asks for what it needs by parameter name:

- `text` the text to change (always), `level` its strength, `rng` the keyed `Stream`;
- `lang` the text's `Language` or None;
- `source` the segment's source text (for `source-copy`), `vocabulary` the words it draws from;
- any further keyword is an option, typed by its annotation: `final-insert[mark=question]`.

It returns the changed text, or None where it is not applicable. One that needs a masked language model is a generator:
it yields gaps and is told the model's words for them (see `asking`).
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial, wraps
from typing import Any, Literal, TypeVar

from babelquake.callee import Filler, Gap
from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.outside import PLACE, at, source_of, told
from babelquake.perturb.asking import Asking, Fillers, together
from babelquake.perturb.vocabulary import DATA, SHIPPED, Vocabulary, vocabulary
from babelquake.randomness import Stream
from babelquake.registry import Registry
from babelquake.spec import Range, Spec, bind, check_range, parameters, parse

Meaning = Literal["preserving", "altering", "depends"]
F = TypeVar("F", bound=Callable[..., Any])
Side = Literal["source", "translation", "reference", "any"]
SUPPLIED = frozenset({"text", "level", "rng", "lang", "source", "vocabulary"})
"""Parameters that are not options: the caller supplies them."""


TOLD = {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("level", "vocabulary")}
"""Named among the options where one is misspelt; their values are read by `Perturbation` itself."""


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
    def asks(self) -> bool:
        """Whether it needs the words of a masked language model."""
        return inspect.isgeneratorfunction(self.function)

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
) -> Callable[[F], F]:
    """Register a function as a perturbation under a name."""

    def register(function: F) -> F:
        card = Card(
            name, family, paper, meaning, level, unit, tuple(languages), side, replicates, function, high, resource
        )
        PERTURBATIONS.register(name, card)
        function.card = card  # type: ignore[attr-defined]  # for those who name it by its place
        return function

    return register


def card_of(name: str) -> Card:
    """The card of a perturbation: registered, or made for a function of the user's at `module:function`.

    Such a function asks for what it needs by the same names; the default of its `level` is the level. The file it is
    written in counts in the signature.
    """
    if not PLACE.fullmatch(name):
        return PERTURBATIONS.get(name)
    function = at(name)
    if isinstance(own := getattr(function, "card", None), Card):
        return replace(own, name=name, function=_own(function, name))
    given = inspect.signature(function).parameters
    if "text" not in given:
        raise UserError(f"{name}({', '.join(given)}) is no perturbation: it needs a parameter called text.")
    level = given["level"].default if "level" in given else None
    if "level" in given and not isinstance(level, int | float):
        raise UserError(f"{name}: its parameter level needs a default, such as level=0.1.")
    return Card(
        name, "own", "", "depends", level, "share", (), "any", 1, _own(function, name), resource=_file(function)
    )


def _own(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of the user's, whose mistakes are told as theirs."""

    @wraps(function)
    def change(*args: Any, **options: Any) -> str | None:
        with told(name):
            changed = function(*args, **options)
        if changed is not None and not isinstance(changed, str):
            raise UserError(f"{name} gave a {type(changed).__name__} where a text, or None, belongs.")
        return changed

    return change


def _file(function: Callable[..., Any]) -> Callable[[Language | None], str]:
    return lambda lang: f"content:{source_of(function)}"


class Perturbation:
    """A card bound to a level and options: ready to change texts."""

    def __init__(self, spec: Spec | str, **options: Any) -> None:
        spec = (parse(spec) if isinstance(spec, str) else spec).with_options(**options)
        self.card = card_of(spec.name)
        given = dict(spec.options)
        wants = self.card.wants
        self.level = self._level(given.pop("level", None))
        self.vocabulary = given.pop("vocabulary", SHIPPED) if "vocabulary" in wants else None
        """Where it draws words from: `shipped`, `data` or a file; None where it draws none."""
        further = {name for name, own in (("level", self.level), ("vocabulary", self.vocabulary)) if own is not None}
        accepted = self.card.options | {name: TOLD[name] for name in sorted(further)}
        self.options = bind(Spec(spec.name, tuple(given.items())), accepted, "perturbation")
        if self.level is not None:
            given["level"] = f"{self.level:g}"
        if self.vocabulary not in (None, SHIPPED):
            given["vocabulary"] = str(self.vocabulary)
        self.spec = Spec(spec.name, tuple(sorted(given.items())))
        self._key = str(self.spec)
        self._fixed = self.options | ({"level": self.level} if "level" in wants else {})
        self._draws, self._told = "rng" in wants, "lang" in wants
        self._further = self.vocabulary is not None or "source" in wants

    def __reduce__(self) -> tuple[type["Perturbation"], tuple[Spec]]:
        """Sent elsewhere it is its name with options."""
        return Perturbation, (self.spec,)

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

    @property
    def cell(self) -> tuple[str, float | None]:
        """Its columns in tables: label and level."""
        return self.label, self.level

    @property
    def lacks_model(self) -> bool:
        """Whether it asks a masked language model and names none."""
        return self.card.asks and not self.options.get("model")

    def signature(self, lang: str | None = None, words: Vocabulary | None = None) -> str:
        """Name, options, the linguistic resource that was used, and the words it drew from with a hash of them."""
        known = Language(lang) if lang else None
        parts = [str(self.spec), self.card.resource(known) if self.card.resource else ""]
        if self.vocabulary is not None:
            drawn = words if self.vocabulary == DATA else vocabulary(self.vocabulary, known)
            parts.append(drawn.signature if drawn is not None else f"vocabulary:{self.vocabulary}")
        return "|".join(filter(None, parts))

    def apply(
        self,
        text: str,
        *,
        lang: str | None = None,
        seed: int = 0,
        replicate: int = 0,
        source: str | None = None,
        vocabulary: Sequence[str] | None = None,
        fillers: Fillers | None = None,
    ) -> str | None:
        """The changed text; None where the perturbation does not apply to it."""
        made = self.begin(text, lang, seed, replicate, source, vocabulary)
        if made is None or isinstance(made, str):
            return made
        return together([made], partial(self.fill, fillers))[0]

    def begin(
        self,
        text: str,
        lang: str | None = None,
        seed: int = 0,
        replicate: int = 0,
        source: str | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> str | Asking | None:
        """The changed text at once, or a change under way that asks for words."""
        card = self.card
        if self.level == 0:
            return text
        lang = lang if lang is None or lang.__class__ is Language else _language(lang)
        if card.languages and not card.serves(lang):
            return None
        supply = self._fixed.copy()
        supply["text"] = text
        if self._told:
            supply["lang"] = lang
        if self._draws:
            supply["rng"] = Stream(f"{seed}\x1f{self._key}\x1f{replicate}\x1f{text}")
        if self._further:
            if self.vocabulary is None:
                supply["source"] = source
            else:
                supply["vocabulary"] = vocabulary if vocabulary is not None else self._words(lang)
        changed: str | Asking | None = card.function(**supply)
        return changed

    def fill(self, fillers: Fillers | None, gaps: Sequence[Gap]) -> Sequence[Sequence[Filler]]:
        """The words that this perturbation's model offers for gaps."""
        model = str(self.options.get("model", ""))
        if not model:
            raise UserError(
                f"{self.name} needs a masked language model: write {self.name}[model=bert-base-uncased], "
                "or the folder of any other."
            )
        if fillers is None:
            raise UserError(
                f"{self.spec} asks a masked language model, and none was handed in: give `fillers`, such as "
                "babelquake.studies.variants.fillers_of(bq.Engine())."
            )
        return fillers(model, gaps, int(self.options.get("top", 100)))

    def _words(self, lang: Language | None) -> Sequence[str] | None:
        return vocabulary(str(self.vocabulary), lang)


_language = lru_cache(maxsize=256)(Language)
