"""The words that `word-insert` and `word-replace` draw from (Kanojia 2021 §5.2, MAP4 and MAP5).

`vocabulary=shipped`, the default, is a list of common content words of the language, so that what happens to a text
depends on the text alone. `data` is the paper's: the content words of all translations of the language pair, rated high
or not. Anything else is the name of a file, one word a line.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb.linguistics import LETTERS, linguistics
from babelquake.perturb.word_lists import base_language
from babelquake.text import digest

SHIPPED, DATA = "shipped", "data"


class Vocabulary(tuple[str, ...]):
    """Words, each once, that know where they come from."""

    name: str

    def __new__(cls, words: Iterable[str], name: str = DATA) -> "Vocabulary":
        """Keep the first of equal words."""
        made = super().__new__(cls, dict.fromkeys(words))
        made.name = name
        return made

    @property
    def signature(self) -> str:
        """Where the words come from, and a hash of them."""
        return f"vocabulary:{self.name}#{digest(self)}"


def vocabulary(choice: str, lang: Language | None) -> Vocabulary | None:
    """The words of a choice; None where the language has no list that ships. `data` is handed in, not looked up."""
    if choice == SHIPPED:
        return _shipped(base_language(lang))
    if choice == DATA:
        raise UserError(
            "vocabulary=data draws from the words of the data set's own texts, which were not handed in: give them, "
            "or write vocabulary=shipped or the name of a file with one word a line."
        )
    return _from_file(choice)


def vocabulary_of(texts: Iterable[str], lang: Language | None) -> Vocabulary:
    """The content words of some texts, in order of appearance."""
    content_words = linguistics(lang).content_words
    words = (word.text for text in texts for word in content_words(text) if LETTERS.search(word.text))
    return Vocabulary(words)


@lru_cache(maxsize=64)
def _shipped(lang: Language) -> Vocabulary | None:
    place = files("babelquake.perturb").joinpath("lexicon/content", f"{lang.code}.txt")
    if not place.is_file():
        return None
    return Vocabulary(_words(place.read_text("utf-8").splitlines()), f"{SHIPPED}:{lang.code}")


@lru_cache(maxsize=16)
def _from_file(path: str) -> Vocabulary:
    try:
        words = _words(Path(path).read_text("utf-8").splitlines())
    except OSError as error:
        raise UserError(
            f"vocabulary={path}: no such choice, and no file that can be read ({error.strerror}). "
            "Expected shipped, data or a file with one word a line."
        ) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 at byte {error.start}.") from error
    if not words:
        raise UserError(f"{path} is empty. Expected one word a line.")
    return Vocabulary(words, Path(path).name)


def _words(lines: Sequence[str]) -> list[str]:
    """Words apart by white space; lines with `#` are comments."""
    return [word for line in lines if not line.startswith("#") for word in line.split()]
