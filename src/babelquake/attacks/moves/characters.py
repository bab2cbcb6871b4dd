"""Character-level moves of DeepWordBug (Gao 2018): swap, substitute, delete, insert a letter of a word.

TextAttack draws one change of each kind per word and turn (`every=False`); `every=True` proposes them all. Draws are
keyed by seed, sentence and place, so that a sentence gets the same candidates whatever was attacked before it.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

from babelquake.attacks.moves.base import Move, told
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.randomness import Stream

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What is substituted and inserted, as in TextAttack; other languages give their own."""
DIGIT = re.compile(r"\d")


CHANGES: dict[str, Callable[[str, int, str], str]] = {
    "swap-letters": lambda word, spot, letter: word[:spot] + word[spot + 1] + word[spot] + word[spot + 2 :],
    "substitute-letter": lambda word, spot, letter: word[:spot] + letter + word[spot + 1 :],
    "delete-letter": lambda word, spot, letter: word[:spot] + word[spot + 1 :],
    "insert-letter": lambda word, spot, letter: word[:spot] + letter + word[spot:],
}
"""What becomes of a word at a spot, given a random letter; letters are inserted before one, as in TextAttack."""


class CharacterMove(Move):
    """Changes one letter of a word of at least `shortest`; without `digits`, of a word that has none."""

    def __init__(
        self,
        kind: str,
        seed: int = 0,
        every: bool = False,
        letters: str = LETTERS,
        shortest: int = 2,
        digits: bool = True,
    ) -> None:
        self.kind, self.seed, self.every = kind, seed, every
        self.letters, self.shortest, self.digits = letters, shortest, digits

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence per place, or one per place and spot."""
        found = []
        for place in places:
            word = sentence.words[place]
            if len(word) < self.shortest or not (self.digits or DIGIT.search(word) is None):
                continue
            stream = Stream(self.seed, self.kind, sentence.text, place)
            number = len(word) - (self.kind == "swap-letters")
            spots = range(number) if self.every else (stream.below(number),)
            around = sentence.around(place)
            for spot in spots:
                new = CHANGES[self.kind](word, spot, stream.choice(self.letters))
                if new != word:
                    found.append(sentence.replaced(place, new, self.kind, around))
        return told(found)


SwapLetters, SubstituteLetter, DeleteLetter, InsertLetter = (partial(CharacterMove, kind) for kind in CHANGES)
