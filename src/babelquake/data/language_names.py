"""The language pair that a file's or folder's name tells, or a column of the data."""

import re
from pathlib import Path

from babelquake.languages import Language, LanguagePair, code_of

TAG = r"[a-z]{2,3}(?:[_-][A-Z][a-z]{3})?(?:[_-][A-Z]{2})?"
HYPHENATED = re.compile(rf"(?<![A-Za-z])({TAG}|[A-Z]{{2,3}})-({TAG}|[A-Z]{{2,3}})(?![A-Za-z])")
MLQE_NAME = re.compile(r"^(?:train|dev|test\d*)\.([a-z]{2})([a-z]{2})\.")


def named(text: str) -> Language | None:
    """The language of a code or of an English name, such as `german` or `chinese_simple`."""
    return Language.known(code_of(text.partition("_")[0]) or text)


def normalised(text: str | None) -> str | None:
    """A language pair from a data column in its canonical form; what is not a pair stays as it stands."""
    if not text:
        return None
    return LanguagePair.known(text) or text


def detect(path: str | Path) -> LanguagePair | None:
    """The language pair in a file's name or the two folders above it: `de-en`, `deu-eng`, `test20.eten.df.short`."""
    given = Path(path)
    names = (given.name, *(folder.name for folder in list(given.parents)[:2]))
    return next((found for name in names if (found := _in_name(name))), None)


def from_endings(source: str | Path, target: str | Path) -> LanguagePair | None:
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
