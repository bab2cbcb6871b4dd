"""Word lists: which words a language has, how frequent they are, how they are usually written.

Two lists ship (German and English, from the proceedings of the European Parliament, `scripts/make_word_lists.py`): they
know the usual case of words. The lists of the package pyspellchecker (the extra `spell`) add what people say elsewhere,
in lower case, for twelve languages.
"""

import gzip
import json
import math
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from babelquake.errors import UserError
from babelquake.text import digest

CASED = ("de", "en")
"""Languages of the lists that ship."""
SPELT = ("ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru")
"""Languages of pyspellchecker's lists."""
MOST_BYTES = 64 * 2**20
"""Of a list that a user names."""


class WordList:
    """Words in their usual case, with their counts."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    @cached_property
    def by_lower(self) -> dict[str, str]:
        """The usual form of a word by its lower-case form."""
        return {word.lower(): word for word in reversed(self.counts)}

    @cached_property
    def by_upper(self) -> dict[str, str]:
        """The most frequent word that ALL CAPS write so: STRASSE is Straße."""
        return {word.upper(): word for word in reversed(self.counts)}

    @cached_property
    def frequency(self) -> dict[str, float]:
        """Decimal logarithm of how often a word comes among a million, by its lower-case form."""
        total = sum(self.counts.values())
        return {word.lower(): math.log10(count / total * 1e6) for word, count in reversed(self.counts.items())}

    @cached_property
    def hash(self) -> str:
        """Says which list this is."""
        return digest(f"{word}\t{count}" for word, count in self.counts.items())


@lru_cache(maxsize=4)
def cased(language: str) -> WordList:
    """The list that ships for a language."""
    data = files("babelquake.systems.defences").joinpath(f"lists/{language}.tsv.gz").read_bytes()
    return WordList(_parsed(gzip.decompress(data).decode("utf-8"), f"the list of {language}"))


def given(path: str) -> WordList:
    """A user's list: one word a line, a tab and its count after it."""
    try:
        state = Path(path).stat()
        if state.st_size > MOST_BYTES:
            raise UserError(f"{path} has more than {MOST_BYTES >> 20} MiB: a word list is expected.")
        return _given(path, state.st_mtime_ns)
    except OSError as error:
        raise UserError(f"list={path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 at byte {error.start}.") from None


@lru_cache(maxsize=4)
def _given(path: str, changed: int) -> WordList:
    """Remembered until the file changes."""
    return WordList(_parsed(Path(path).read_text(encoding="utf-8"), path))


@lru_cache(maxsize=4)
def spoken(language: str) -> WordList:
    """pyspellchecker's list of a language."""
    found = find_spec("spellchecker")
    if found is None or not found.submodule_search_locations:
        raise UserError("the defence 'spell' reads the word lists of pyspellchecker: pip install 'babelquake[spell]'.")
    path = Path(found.submodule_search_locations[0]) / f"resources/{language}.json.gz"
    counts = json.loads(gzip.decompress(path.read_bytes()))
    return WordList(dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))


def _parsed(text: str, name: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        word, tab, count = line.partition("\t")
        if not word or not tab or not count.isdigit():
            raise UserError(f"{name} line {number}: expected a word, a tab and its count.")
        counts.setdefault(word, int(count))
    if not counts:
        raise UserError(f"{name} has no words.")
    return counts
