"""Word-level moves that need no model: deletion (Feng 2018) and neighbours in a word space (Jia 2019)."""

from collections.abc import Mapping, Sequence

from babelquake.attacks.moves.base import Move, told
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.text import match_case


class DeleteWord(Move):
    """Leave a word out; a sentence of one word stays as it is."""

    kind = "delete"
    replaces_word = False

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence per place."""
        return told([sentence.without(place) for place in places] if len(sentence.words) > 1 else [])


class SwapNeighbour(Move):
    """Put one of a word's nearest neighbours in its place, in the same letter case.

    `neighbours` maps a lower-case word to others, nearest first: for the genetic attack those of a counter-fitted space
    (Mrkšić 2016), in which antonyms lie apart.
    """

    kind = "neighbour"

    def __init__(self, neighbours: Mapping[str, Sequence[str]], most: int = 8) -> None:
        self.neighbours = neighbours
        self.most = most

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Up to `most` sentences per place; none for a word that has no neighbours."""
        found = []
        for place in places:
            word = sentence.words[place]
            others = self.neighbours.get(word.lower(), ())[: self.most]
            around = sentence.around(place) if others else None
            found += [
                sentence.replaced(place, new, self.kind, around)
                for other in others
                if (new := match_case(other, word)) != word
            ]
        return told(found)
