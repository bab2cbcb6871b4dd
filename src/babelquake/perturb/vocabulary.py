"""The words that `word-insert` and `word-replace` draw from (Kanojia 2021 §5.2, MAP4 and MAP5).

`vocabulary=shipped`, the default, is a list of common content words of the language, so that what happens to a text
depends on the text alone. `data` is the paper's: the content words of all translations of the language pair, rated high
or not; `data-all` all their words, which is what the authors' code draws MAP5's from. Anything else is the name of a
file, one word a line.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.limits import text_of
from babelquake.paths import lines_of_room
from babelquake.perturb.linguistics import LETTERS, base_language, linguistics, pieces
from babelquake.text import digest

SHIPPED, DATA, DATA_ALL = "shipped", "data", "data-all"
FROM_DATA = (DATA, DATA_ALL)
"""Those that the data set's own texts are needed for."""


class Vocabulary(tuple[str, ...]):
    """Words, each once, that know where they come from."""

    name: str
    every: "Vocabulary"
    """All words of the texts that these are the content words of; else these very words."""

    def __new__(cls, words: Iterable[str], name: str = DATA, every: "Vocabulary | None" = None) -> "Vocabulary":
        """Keep the first of equal words."""
        made = super().__new__(cls, dict.fromkeys(words))
        made.name = name
        made.every = made if every is None else every
        return made

    def of(self, choice: str) -> "Vocabulary":
        """The words that a choice among those of the data means."""
        return self.every if choice == DATA_ALL else self

    @property
    def signature(self) -> str:
        """Where the words come from, and a hash of them."""
        return f"vocabulary:{self.name}#{digest(self)}"


def vocabulary(choice: str, lang: Language | None) -> Vocabulary | None:
    """The words of a choice; None where the language has no list that ships. `data` is handed in, not looked up."""
    if choice == SHIPPED:
        return _shipped(base_language(lang))
    if choice in FROM_DATA:
        raise UserError(
            f"vocabulary={choice} needs the words of the data set, which were not passed: give "
            "them, or write vocabulary=shipped or the name of a file with one word a line."
        )
    return _from_file(choice)


def vocabulary_of(texts: Sequence[str], lang: Language | None) -> Vocabulary:
    """The content words of some texts, in order of appearance, and beside them all of their words."""
    content_words = linguistics(lang).content_words
    every = Vocabulary((piece.text for text in texts for piece in pieces(text)), DATA_ALL)
    words = (word.text for text in texts for word in content_words(text) if LETTERS.search(word.text))
    return Vocabulary(words, every=every)


@lru_cache(maxsize=64)
def _shipped(lang: Language) -> Vocabulary | None:
    lines = lines_of_room("perturb", f"lexicon/content/{lang.code}.txt")
    return Vocabulary(_words(lines), f"{SHIPPED}:{lang.code}") if lines else None


@lru_cache(maxsize=16)
def _from_file(path: str) -> Vocabulary:
    try:
        words = _words(text_of(path, "document").splitlines())
    except OSError as error:
        raise UserError(
            f"vocabulary={path}: no such choice, and no file that can be read ({error.strerror}). "
            "Expected shipped, data or a file with one word a line."
        ) from error
    if not words:
        raise UserError(f"{path} is empty. Expected one word a line.")
    return Vocabulary(words, Path(path).name)


def _words(lines: Sequence[str]) -> list[str]:
    """Words apart by white space; lines with `#` are comments."""
    return [word for line in lines if not line.startswith("#") for word in line.split()]
