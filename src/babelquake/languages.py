"""Languages and language pairs as types: parsed once at the edge, so that nobody cuts a text at a hyphen.

Both are the text they are written as, in one canonical form (BCP 47): `EN` and `eng` are `en`, `zho` is `zh`, `pt_br`
is `pt-BR`, `deu_Latn` is `de`. So they can stand in tables and be compared with plain text, and know their parts
besides: `Language("pt-BR").code` is `pt`, `LanguagePair("pt-BR-en").target` is `en`. Names of files and columns tell
languages too: `test.de-en.tsv`, `german`.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, Self

from babelquake.errors import UserError
from babelquake.paths import text_of_room

TAG_IN_NAME = r"[a-z]{2,3}(?:[_-][A-Z][a-z]{3})?(?:[_-][A-Z]{2})?"
HYPHENATED = re.compile(rf"(?<![A-Za-z])({TAG_IN_NAME}|[A-Z]{{2,3}})-({TAG_IN_NAME}|[A-Z]{{2,3}})(?![A-Za-z])")
MLQE_NAME = re.compile(r"^(?:train|dev|test\d*)\.([a-z]{2})([a-z]{2})\.")


@cache
def english_names() -> dict[str, str]:
    """The English names of languages that people write out or that models are told, by code."""
    lines = text_of_room("", "languages.txt").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def code_of(name: str) -> str | None:
    """The code of a language that is written out: `German` is `de`."""
    plain = name.strip().title()
    return next((code for code, written in english_names().items() if written == plain), None)


class Tag(NamedTuple):
    """The parts of a language tag."""

    code: str
    script: str | None
    region: str | None

    def __str__(self) -> str:
        return "-".join(part for part in self if part)


class Language(str):
    """A language: `de`, `pt-BR`, `zh-Hant`."""

    code: str
    """The language without script and region, two letters where there are two."""
    script: str | None
    region: str | None

    def __new__(cls, text: str) -> Self:
        """Read a tag in any of its spellings; a UserError where no language has it."""
        if isinstance(text, cls):
            return text
        tag = _tag(text)
        if tag is None:
            meant = f" Did you mean '{code}'?" if (code := code_of(text)) else ""
            raise UserError(f"'{text}' is not a language code such as de, pt-BR or zho.{meant}")
        made = super().__new__(cls, tag)
        made.code, made.script, made.region = tag
        return made

    @classmethod
    def known(cls, text: str | None) -> Self | None:
        """The language a text names, None where it names none."""
        return cls(text) if text and _tag(text) else None


class LanguagePair(str):
    """Source and target language: `de-en`, `pt-BR-en`."""

    source: Language
    target: Language

    def __new__(cls, text: str) -> Self:
        """Read a pair; a UserError where it is none, or could be two."""
        if isinstance(text, cls):
            return text
        readings = _readings(text)
        if len(readings) > 1:
            both = " or as ".join(f"{source} to {target}" for source, target in readings)
            raise UserError(f"'{text}' can be read as {both}: write regions in capitals, such as pt-BR-en.")
        if not readings:
            raise UserError(f"'{text}' is not a language pair: expected two codes with a hyphen, such as de-en.")
        return cls.of(*readings[0])

    @property
    def codes(self) -> tuple[str, str]:
        """Both languages without script and region."""
        return self.source.code, self.target.code

    @classmethod
    def of(cls, source: str, target: str) -> Self:
        """The pair of two languages."""
        first, second = Language(source), Language(target)
        made = super().__new__(cls, f"{first}-{second}")
        made.source, made.target = first, second
        return made

    @classmethod
    def known(cls, text: str | None) -> Self | None:
        """The pair a text names, None where it names none or could be two."""
        readings = _readings(text) if text else ()
        return cls.of(*readings[0]) if len(readings) == 1 else None


def sides(language_pair: str | None) -> tuple[Language | None, Language | None]:
    """Source and target language of a pair such as `de-en`; None for what is not a pair."""
    pair = LanguagePair.known(language_pair)
    return (pair.source, pair.target) if pair else (None, None)


def language_named(text: str) -> Language | None:
    """The language of a code or of an English name, such as `german` or `chinese_simple`."""
    return Language.known(code_of(text.partition("_")[0]) or text)


def pair_in_path(path: str | Path) -> LanguagePair | None:
    """The language pair in a file's name or the two folders above it: `de-en`, `deu-eng`, `test20.eten.df.short`."""
    given = Path(path)
    names = (given.name, *(folder.name for folder in list(given.parents)[:2]))
    return next((found for name in names if (found := _in_name(name))), None)


def pair_of_endings(source: str | Path, target: str | Path) -> LanguagePair | None:
    """The language pair of two parallel files by their endings: `a.de` and `a.en` → `de-en`."""
    first, second = (_common(Path(path).name.removesuffix(".gz").rpartition(".")[2]) for path in (source, target))
    return LanguagePair.of(first, second) if first and second else None


def _in_name(name: str) -> LanguagePair | None:
    together = MLQE_NAME.match(name)
    candidates = [together.groups()] if together else HYPHENATED.findall(name)
    for first, second in candidates:
        source, target = _common(first), _common(second)
        if source and target and source.code != target.code:
            return LanguagePair.of(source, target)
    return None


def _common(text: str) -> Language | None:
    """A language that has a two-letter code: many words are three-letter codes (`new`, `dev`)."""
    found = Language.known(text)
    return found if found and len(found.code) == 2 else None


@lru_cache(maxsize=4096)
def _tag(text: str) -> Tag | None:
    """The canonical tag of a registered language; scripts that go without saying are left out."""
    from langcodes import Language as Registered
    from langcodes.tag_parser import LanguageTagError

    try:
        found = Registered.get(text.strip().replace("_", "-"))
    except LanguageTagError:
        return None
    if not found.language or not found.is_valid() or found.language in ("und", "mul", "zxx", "mis"):
        return None
    found = found.prefer_macrolanguage().simplify_script()
    return Tag(str(found.language), found.script, found.territory)


@lru_cache(maxsize=4096)
def _readings(text: str) -> tuple[tuple[str, str], ...]:
    """The ways to cut a text into two languages, only the best by the casing of its parts: `pt`, but `BR`.

    A hyphen parts languages, a hyphen or underscore what belongs to one (`en-pt_BR`, `pt-BR-en`).
    """
    parts = text.strip().split("-")
    cuts = [("-".join(parts[:cut]), "-".join(parts[cut:])) for cut in range(1, len(parts))]
    valid = [(source, target) for source, target in cuts if _tag(source) and _tag(target)]
    least = min((_miscased(source) + _miscased(target) for source, target in valid), default=0)
    return tuple(pair for pair in valid if _miscased(pair[0]) + _miscased(pair[1]) == least)


def _miscased(tag: str) -> int:
    """How many parts of a tag are not written as they should be."""
    written = tag.replace("_", "-").split("-")
    return (written[0] != written[0].lower()) + sum(len(part) == 2 and not part.isupper() for part in written[1:])
