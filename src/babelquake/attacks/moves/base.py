"""What a move is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence


class Move(ABC):
    """Proposes changed sentences. What it needs of a masked model it asks for; it calls no model itself."""

    kind: str
    """What its edits are called: replace, insert, merge, delete, swap …"""
    replaces_word: ClassVar[bool] = True
    """Whether it puts something else in a word's place: TextAttack keeps stop words from such moves alone."""

    anywhere: bool = False
    """Whether words that were changed before, and stop words, are open to it too."""

    def of_segment(self, references: Sequence[str]) -> "Move":
        """The move for a segment with these references; most look at the sentence alone."""
        return self

    @abstractmethod
    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Every sentence the move can make of this one by changing it at one of the places."""


def told(found: list[Sentence]) -> Asking[list[Sentence]]:
    """Candidates that took no asking, as a generator."""
    yield from ()
    return found
