"""`truecase`: sentences in ALL CAPS, in lower case or With Every Word Capitalised, back in their likely case.

Only whole sentences are touched, and only where the case says that somebody's keyboard or style did it: names and
German nouns get their capitals from word lists, acronyms stay.
"""

import regex

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.systems.defences.base import Before
from babelquake.systems.defences.word_lists import CASED, WordList, cased, given
from babelquake.text import WORD

PART = regex.compile(r"[\p{L}\p{M}]+")
SHOUTED, FEWEST = 0.8, 2
"""A sentence is in ALL CAPS where so much of its letters is, in so many words of more than one letter."""
QUIET = 3
"""A sentence of fewer words may be in lower case on purpose."""
CAPITALISED, EVERY = 0.7, 3
"""Every word is capitalised where so much of the words is that usually are not, of so many."""
NOUN = regex.compile(
    r".{3,}(?:ung|heit|keit|schaft|tion|tät|ismus|nis|tum|ment|ur|ungen|heiten|keiten|schaften|tionen|täten)"
)
"""German endings of nouns."""
SHORTEST_PART = 4
SENTENCE = regex.compile(r"(?:^|[.!?…]\s+|[:]\s+(?=[\"„“»]))[\"'„“”»«(\[\s]*(\p{L})")


class Truecase(Before):
    """Sentences in ALL CAPS, lower case or Title Case get their likely case back, by word lists (de, en)."""

    languages = CASED

    def __init__(self, list: str | None = None) -> None:
        self._path = list

    @property
    def served(self) -> tuple[str, ...]:
        """Those of the lists that ship, or any where a list was given."""
        return () if self._path else self.languages

    def serve(self, source: Language | None, target: Language | None) -> None:
        super().serve(source, target)
        if self._path is None and source is None:
            raise UserError("the defence 'truecase' must know the language.")
        self._words: WordList = given(self._path) if self._path else cased(source.code if source else "")

    def facts(self) -> dict[str, object]:
        return {"list": self._words.hash}

    def correct(self, text: str) -> str:
        """The text in its likely case, where the one it has says nothing."""
        found = [match.group() for match in WORD.finditer(text)]
        letters = sum(map(str.isalpha, text))
        upper = sum(map(str.isupper, text))
        if upper >= SHOUTED * letters and sum(len(word) > 1 and word.isupper() for word in found) >= FEWEST:
            return self._sentences(PART.sub(lambda match: self._of_upper(match.group()), text))
        if upper == 0 and len(found) >= QUIET and letters:
            return self._sentences(PART.sub(lambda match: self._of_lower(match.group()), text))
        if self._is_title(text):
            return self._sentences(PART.sub(lambda match: self._of_title(match.group()), text))
        return text

    def _is_title(self, text: str) -> bool:
        """Whether words begin with a capital that mostly do not."""
        known = self._words.by_lower
        lower = [word for word in PART.findall(text)[1:] if (usual := known.get(word.lower())) and usual.islower()]
        return len(lower) >= EVERY and sum(word[0].isupper() for word in lower) >= CAPITALISED * len(lower)

    def _of_upper(self, word: str) -> str:
        usual = self._words.by_upper.get(word)
        return usual if usual is not None else self._guessed(word.lower())

    def _of_lower(self, word: str) -> str:
        usual = self._words.by_lower.get(word)
        return usual if usual is not None else self._guessed(word)

    def _of_title(self, word: str) -> str:
        usual = self._words.by_lower.get(word.lower())
        return word if usual is None else usual

    def _guessed(self, word: str) -> str:
        """A word of no list: a German noun where it ends like one, or in a noun that is known."""
        if self.source is None or self.source.code != "de" or len(word) < SHORTEST_PART + 2:
            return word
        known = self._words.by_lower
        for start in range(2, len(word) - SHORTEST_PART + 1):
            usual = known.get(word[start:])
            if usual is not None:
                return word.capitalize() if usual[0].isupper() else word
        return word.capitalize() if NOUN.fullmatch(word) else word

    @staticmethod
    def _sentences(text: str) -> str:
        """Sentences begin with a capital letter."""
        return str(SENTENCE.sub(lambda found: found.group()[:-1] + found.group(1).upper(), text))
