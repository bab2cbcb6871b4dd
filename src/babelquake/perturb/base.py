"""What every perturbation is: a card (see `card`) bound to a level and options, ready to change texts.

Machinery is left alone: a perturbation is shown one sign for each placeholder, tag, address or stretch of code. The
signs are private characters, neither letters nor punctuation, so that no perturbation changes them; afterwards each
becomes again what it stood for. A change that lost or doubled one does not apply to that text.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar, overload

from babelquake.errors import UserError
from babelquake.generators import driven
from babelquake.languages import Language
from babelquake.machinery import machinery
from babelquake.perturb.card import Perturbs, card_of, card_of_own
from babelquake.perturb.context import ALONE, BESIDE, Asking, Beside, Fillers
from babelquake.perturb.vocabulary import FROM_DATA, SHIPPED, Vocabulary, vocabulary
from babelquake.randomness import Stream
from babelquake.resource import Filler, Gap
from babelquake.spec import Range, Spec, bind, check_range, parse
from babelquake.text import replaced

W = TypeVar("W", bound=Sequence[str] | None)
TOLD = {
    name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    for name in ("level", "vocabulary", "protect")
}
"""Named among the options where one is misspelt; their values are read by `Perturbation` itself."""


EVERYTHING, NOTHING = "all", "none"
"""What `protect` takes: `all` leaves alone what only breaks: placeholders, tags, addresses, code; and in changes that
would otherwise reach them, marks inside numbers and words that negate. `none` leaves nothing alone."""


class Perturbation:
    """A card bound to a level and options: ready to change texts."""

    def __init__(self, spec: Spec | str | Callable[..., Any] | Perturbs, **options: Any) -> None:
        """By its name with options in brackets, or as a function of a text or an object with a method `perturb`."""
        if not isinstance(spec, str | Spec):
            spec = Spec(card_of_own(spec).name)
        spec = (parse(spec) if isinstance(spec, str) else spec).with_options(**options)
        self.card = card_of(spec.name)
        given = dict(spec.options)
        wants = self.card.wants
        self.protect = self._protect(given.pop("protect", EVERYTHING))
        """Whether placeholders, tags, addresses, code, numbers and negation stay as they are."""
        self.level = self._level(given.pop("level", None))
        self.vocabulary = given.pop("vocabulary", SHIPPED) if "vocabulary" in wants else None
        """Where it draws words from: `shipped`, `data` or a file; None where it draws none."""
        further = {"protect"} | {
            name for name, own in (("level", self.level), ("vocabulary", self.vocabulary)) if own is not None
        }
        accepted = self.card.options | {name: TOLD[name] for name in sorted(further)}
        self.options = bind(Spec(spec.name, tuple(given.items())), accepted, "perturbation")
        if self.level is not None:
            given["level"] = f"{self.level:g}"
        if self.vocabulary not in (None, SHIPPED):
            given["vocabulary"] = str(self.vocabulary)
        self._key = str(Spec(spec.name, tuple(sorted(given.items()))))
        """What its draws are keyed by: protecting machinery does not change those of texts that have none."""
        if not self.protect:
            given["protect"] = NOTHING
        self.spec = Spec(spec.name, tuple(sorted(given.items())))
        supplied = {"level": self.level, "protect": self.protect}
        self._fixed = self.options | {name: value for name, value in supplied.items() if name in wants}
        self._draws, self._told, self._aimed = "rng" in wants, "lang" in wants, "target" in wants
        self._further = self.vocabulary is not None or "source" in wants
        self._beside = tuple(sorted(wants & BESIDE))

    def __reduce__(self) -> tuple[type["Perturbation"], tuple[Spec]]:
        """Sent elsewhere it is its name with options."""
        return Perturbation, (self.spec,)

    def _protect(self, choice: str) -> bool:
        if choice not in (EVERYTHING, NOTHING):
            raise UserError(f"{self.card.name}[protect={choice}]: expected {EVERYTHING} or {NOTHING}.")
        return choice == EVERYTHING

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
        """Name and options as tables show it: without the level, which has its own column, and without `protect`."""
        shown = tuple(item for item in self.spec.options if item[0] not in ("level", "protect"))
        return str(Spec(self.spec.name, shown))

    @property
    def cell(self) -> tuple[str, float | None]:
        """Its columns in tables: label and level."""
        return self.label, self.level

    @property
    def lacks_model(self) -> bool:
        """Whether it asks a masked language model and names none."""
        return self.card.asks and not self.options.get("model")

    def lacks_language(self, lang: str | None) -> bool:
        """Whether it can do nothing, since the language is not known and no list of words was named."""
        return not lang and bool(self.card.word_lists) and not self.options.get("file")

    def require_language(self, lang: str | None) -> None:
        """Refuse to do nothing in silence."""
        if self.lacks_language(lang):
            raise UserError(
                f"{self.name} needs the language of the texts, one of {', '.join(self.card.word_lists)}, "
                f"or your own list of words: {self.name}[file=…]."
            )

    def signature(self, lang: str | None = None, words: Vocabulary | None = None) -> str:
        """Name, options, the linguistic resource that was used, and the words it drew from with a hash of them."""
        known = Language(lang) if lang else None
        parts = [str(self.spec), self.card.resource(known) if self.card.resource else ""]
        if self.vocabulary is not None:
            drawn = self._drawn(words) if self.vocabulary in FROM_DATA else vocabulary(self.vocabulary, known)
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
        beside: Beside = ALONE,
        target: str | None = None,
    ) -> str | None:
        """The changed text; None where the perturbation does not apply to it."""
        made = self.begin(text, lang, seed, replicate, source, vocabulary, beside, target)
        if made is None or isinstance(made, str):
            return made
        return driven(made, partial(self.fill, fillers))

    def begin(
        self,
        text: str,
        lang: str | None = None,
        seed: int = 0,
        replicate: int = 0,
        source: str | None = None,
        vocabulary: Sequence[str] | None = None,
        beside: Beside = ALONE,
        target: str | None = None,
    ) -> str | Asking | None:
        """The changed text at once, or a change under way that asks for words."""
        card = self.card
        if self.level == 0:
            return text
        lang = lang if lang is None or lang.__class__ is Language else _language(lang)
        if card.languages and not card.serves(lang):
            return None
        supply = self._fixed.copy()
        free = card.rewrites or card.rearranges
        hidden = hidden_in(text) if self.protect and not free else None
        supply["text"] = text if hidden is None else hidden.text
        if self._told:
            supply["lang"] = lang
        if self._aimed:
            supply["target"] = target if target is None or target.__class__ is Language else _language(target)
        if self._draws:
            supply["rng"] = Stream(f"{seed}\x1f{self._key}\x1f{replicate}\x1f{text}")
        if self._further:
            if self.vocabulary is None:
                supply["source"] = source
            else:
                supply["vocabulary"] = self._words(lang) if vocabulary is None else self._drawn(vocabulary)
        for name in self._beside:
            supply[name] = getattr(beside, name)
        changed: str | Asking | None = card.function(**supply)
        return changed if hidden is None else hidden.restored(changed)

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

    def _drawn(self, words: W) -> W | Vocabulary:
        """The words that it draws from of those handed in."""
        return words.of(str(self.vocabulary)) if isinstance(words, Vocabulary) else words

    def _words(self, lang: Language | None) -> Sequence[str] | None:
        return vocabulary(str(self.vocabulary), lang)


_language = lru_cache(maxsize=256)(Language)


FIRST, MOST = 0xF0000, 0xFFFD
"""The private characters of plane 15 that stand for machinery."""
SIGNS = re.compile(f"[{chr(FIRST)}-{chr(FIRST + MOST)}]")


@dataclass(frozen=True)
class Hidden:
    """A text with signs in the place of its machinery."""

    text: str
    pieces: tuple[str, ...]
    """What the signs stand for, in order."""

    @overload
    def restored(self, changed: str | None) -> str | None: ...
    @overload
    def restored(self, changed: Asking) -> Asking: ...
    @overload
    def restored(self, changed: str | Asking | None) -> str | Asking | None: ...
    def restored(self, changed: str | Asking | None) -> str | Asking | None:
        """What a perturbation made of it, with the machinery again; a change under way is followed to its end."""
        if changed is None or isinstance(changed, str):
            return self._shown(changed)
        return self._followed(changed)

    def _followed(self, changing: Asking) -> Asking:
        changed = yield from changing
        return self._shown(changed)

    def _shown(self, changed: str | None) -> str | None:
        if changed is None:
            return None
        signs = [ord(sign) - FIRST for sign in SIGNS.findall(changed)]
        if sorted(signs) != list(range(len(self.pieces))):
            return None
        return SIGNS.sub(lambda sign: self.pieces[ord(sign.group()) - FIRST], changed)


def hidden_in(text: str) -> Hidden | None:
    """The text with its machinery hidden; None where it has none, or has such signs itself."""
    found = machinery(text)
    if not found or len(found) > MOST or SIGNS.search(text):
        return None
    signs = [(item.start, item.end, chr(FIRST + number)) for number, item in enumerate(found)]
    return Hidden(replaced(text, signs), tuple(item.text for item in found))
