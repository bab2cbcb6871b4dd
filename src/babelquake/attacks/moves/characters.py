"""Character-level moves of DeepWordBug (Gao 2018): swap, substitute, delete, insert a letter of a word.

TextAttack draws one change of each kind per word and turn (`every=False`); `every=True` proposes them all. Draws are
keyed by seed, sentence and place, so that a sentence gets the same candidates whatever was attacked before it.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence

from babelquake.attacks.moves.base import Move, told
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.randomness import Stream

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What is substituted and inserted, as in TextAttack; other languages give their own."""
DIGIT = re.compile(r"\d")


class CharacterMove(Move):
    """Changes one letter of a word of at least `shortest`; without `digits`, of a word that has none."""

    def __init__(
        self, seed: int = 0, every: bool = False, letters: str = LETTERS, shortest: int = 2, digits: bool = True
    ) -> None:
        self.seed = seed
        self.every = every
        self.letters = letters
        self.shortest = shortest
        self.digits = digits

    def spots(self, word: str) -> int:
        """In how many spots of a word this change is possible: at any letter."""
        return len(word)

    @abstractmethod
    def changed(self, word: str, spot: int, letter: str) -> str:
        """The word changed at a spot; `letter` is a random one, for changes that bring one in."""

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence per place, or one per place and spot."""
        found = []
        for place in places:
            word = sentence.words[place]
            if len(word) < self.shortest or not (self.digits or DIGIT.search(word) is None):
                continue
            stream = Stream(self.seed, self.kind, sentence.text, place)
            spots = range(self.spots(word)) if self.every else (stream.below(self.spots(word)),)
            around = sentence.around(place)
            for spot in spots:
                new = self.changed(word, spot, stream.choice(self.letters))
                if new != word:
                    found.append(sentence.replaced(place, new, self.kind, around))
        return told(found)


class SwapLetters(CharacterMove):
    """Swap two neighbouring letters."""

    kind = "swap-letters"

    def spots(self, word: str) -> int:
        """Between any two letters."""
        return len(word) - 1

    def changed(self, word: str, spot: int, letter: str) -> str:
        """Letters `spot` and `spot + 1` change places."""
        return word[:spot] + word[spot + 1] + word[spot] + word[spot + 2 :]


class SubstituteLetter(CharacterMove):
    """Put a random letter in a letter's place."""

    kind = "substitute-letter"

    def changed(self, word: str, spot: int, letter: str) -> str:
        """The letter at `spot` becomes another."""
        return word[:spot] + letter + word[spot + 1 :]


class DeleteLetter(CharacterMove):
    """Leave a letter out."""

    kind = "delete-letter"

    def changed(self, word: str, spot: int, letter: str) -> str:
        """The letter at `spot` goes."""
        return word[:spot] + word[spot + 1 :]


class InsertLetter(CharacterMove):
    """Put a random letter before a letter, never after the last, as in TextAttack."""

    kind = "insert-letter"

    def changed(self, word: str, spot: int, letter: str) -> str:
        """A letter more before `spot`."""
        return word[:spot] + letter + word[spot:]
