"""Rules of the user's own: strings that must or must not be there, terminology, limits of length.

A file of rules is YAML:

    rules:
      - name: no-exclamation          # what the failure is called: rule:no-exclamation
        banned: ["!"]                 # strings; banned_pattern takes regular expressions
      - name: button-length
        ids: ["buttons:*"]            # only these segments, by id or with * as wildcard
        max_length: 24                # characters without tags; also min_length, max_ratio (to the source's length)
      - name: keeps-the-brand
        source: Babelquake            # only where the source has this string
        required: ["Babelquake"]      # all of them; required_any: one of them; required_pattern
        language: cs                  # only translations into this language
    terms:
      - source: account               # as a whole word
        target: [účet, účtu, účtem]   # one of these has to be there

Letter case counts in rules unless `ignore_case: true`; in terms it does not unless `case: true`.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import regex
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from babelquake.errors import UserError
from babelquake.failures.base import Failure
from babelquake.failures.pair import Pair, Side
from babelquake.limits import text_of, yaml_of
from babelquake.machinery import TAG

SECONDS = 1.0
"""What one expression may take on one text."""


def _several(given: object) -> object:
    return [given] if isinstance(given, str) else given


Strings = Annotated[list[str], BeforeValidator(_several)]


def _is_into(language: str | None, pair: Pair) -> bool:
    """Whether a translation is into a language, whatever its region; into any where none is named."""
    return language is None or (pair.translation.language or "").split("-")[0] == language.split("-")[0]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Strict):
    """One rule: where it holds, and what has to hold there."""

    name: str = Field(min_length=1, pattern=r"^[\w.-]+$")
    ids: Strings = []
    language: str | None = None
    source: str | None = None
    required: Strings = []
    required_any: Strings = []
    required_pattern: Strings = []
    banned: Strings = []
    banned_pattern: Strings = []
    max_length: int | None = Field(default=None, ge=0)
    min_length: int | None = Field(default=None, ge=0)
    max_ratio: float | None = Field(default=None, gt=0)
    ignore_case: bool = False

    @property
    def kind(self) -> str:
        """What its failures are called."""
        return f"rule:{self.name}"

    def holds_for(self, pair: Pair, segment: str) -> bool:
        """Whether the rule is about this translation."""
        if not _is_into(self.language, pair):
            return False
        if self.source is not None and not self._has(pair.source.whole, self.source):
            return False
        return not self.ids or any(fnmatchcase(segment, wanted) for wanted in self.ids)

    def failure(self, pair: Pair) -> Failure | None:
        """What breaks the rule."""
        text = pair.translation.whole
        said = [f"lacks {wanted}" for wanted in self.required if not self._has(text, wanted)]
        if self.required_any and not any(self._has(text, wanted) for wanted in self.required_any):
            said.append(f"lacks one of: {', '.join(self.required_any)}")
        said += [f"lacks /{wanted}/" for wanted in self.required_pattern if self._search(wanted, text) is None]
        said += [f"has {banned}" for banned in self.banned if self._has(text, banned)]
        spans = []
        for banned in self.banned_pattern:
            if (found := self._search(banned, text)) is not None:
                said.append(f"has {found.group() or banned}")
                spans.append((found.start(), found.end()))
        length, of_source = _shown(pair.translation), max(1, _shown(pair.source))
        if self.max_length is not None and length > self.max_length:
            said.append(f"{length} characters where {self.max_length} are allowed")
        if self.min_length is not None and length < self.min_length:
            said.append(f"{length} characters where {self.min_length} are wanted")
        if self.max_ratio is not None and length > self.max_ratio * of_source:
            said.append(f"{length / of_source:.1f} times as long as its source")
        return Failure(self.kind, 1.0, "; ".join(said)[:240], tuple(spans)) if said else None

    def _has(self, text: str, wanted: str) -> bool:
        return wanted.casefold() in text.casefold() if self.ignore_case else wanted in text

    def _search(self, pattern: str, text: str) -> "regex.Match[str] | None":
        flags = regex.IGNORECASE if self.ignore_case else 0
        try:
            return regex.search(pattern, text, flags=flags, timeout=SECONDS)
        except TimeoutError:
            raise UserError(
                f"rule {self.name}: the expression {pattern} takes more than {SECONDS:g} s on one text. "
                "Write it without nested repetitions such as (a+)+."
            ) from None


def _shown(side: Side) -> int:
    """Characters that readers see: tags are not counted."""
    return len(side.whole) - sum(len(item.text) for item in side.machinery if item.kind == TAG)


class Term(_Strict):
    """A term of the source and the translations of it that are allowed."""

    source: str = Field(min_length=1)
    target: Strings = Field(min_length=1)
    language: str | None = None
    case: bool = False

    def failure(self, pair: Pair) -> Failure | None:
        """The term where none of its translations is there."""
        if not _is_into(self.language, pair):
            return None
        source, text = pair.source.whole, pair.translation.whole
        wanted, targets = self.source, list(self.target)
        if not self.case:
            source, text, wanted = source.casefold(), text.casefold(), wanted.casefold()
            targets = [target.casefold() for target in targets]
        if wanted not in source or any(target in text for target in targets):
            return None
        if not regex.search(rf"(?<!\w){regex.escape(wanted)}(?!\w)", source):
            return None
        return Failure("rule:term", 1.0, f"{self.source} → {' | '.join(self.target)}"[:240])


class Rules(_Strict):
    """All rules of a file."""

    rules: list[Rule] = []
    terms: list[Term] = []

    @property
    def kinds(self) -> list[str]:
        """What failures of these rules are called."""
        return list(dict.fromkeys([*(rule.kind for rule in self.rules), *(["rule:term"] if self.terms else [])]))

    def failures(self, pair: Pair, segment: str) -> list[Failure]:
        """What breaks the rules in one translation, one failure of each kind."""
        found = [rule.failure(pair) for rule in self.rules if rule.holds_for(pair, segment)]
        terms = [failure for term in self.terms if (failure := term.failure(pair)) is not None]
        if terms:
            found.append(Failure("rule:term", 1.0, "; ".join(term.evidence for term in terms)[:240]))
        return [failure for failure in found if failure is not None]


def read_rules(path: Path | str) -> Rules:
    """The rules of a file; what is wrong in it is named with its place."""
    file = Path(path)
    try:
        given = yaml_of(text_of(file), str(file))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from error
    if given and not isinstance(given, dict):
        raise UserError(f"{file}: expected a list under rules: or terms:, not {type(given).__name__} at the top.")
    try:
        rules = Rules.model_validate(given or {})
    except ValidationError as error:
        raise UserError("\n".join(f"{file}: {line}" for line in _said(error))) from None
    if not rules.rules and not rules.terms:
        raise UserError(f"{file} has no rules. Expected a list under rules: or terms:.")
    for rule in rules.rules:
        _check_patterns(file, rule.name, [*rule.required_pattern, *rule.banned_pattern])
    return rules


def _check_patterns(file: Path, name: str, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise UserError(f"{file}: rule {name}: /{pattern}/ is not a regular expression: {error}.") from None


def _said(error: ValidationError) -> list[str]:
    """Each mistake with its place: `rules[2].max_length: Input should be a valid integer`."""
    lines = []
    for mistake in error.errors()[:10]:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake["loc"]).lstrip(".")
        lines.append(f"{place or 'the file'}: {mistake['msg']}.")
    return lines
