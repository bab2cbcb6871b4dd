"""Moves that raise scores: words of the reference, and one text for all."""

from collections.abc import Sequence

from babelquake.attacks.moves.base import Move, told
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.text import match_case, words


class TakeReferenceWord(Move):
    """Put a word of the reference that the sentence has not in a word's place, or before it: its words, anywhere."""

    kind = "reference-word"
    replaces_word = False

    def __init__(self, offered: Sequence[str] = ()) -> None:
        self.offered = offered

    def of_segment(self, references: Sequence[str]) -> Move:
        return TakeReferenceWord(list(dict.fromkeys(span.text for text in references for span in words(text))))

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Two sentences per place and word that is missing."""
        there = {word.lower() for word in sentence.words}
        missing = [word for word in self.offered if word.lower() not in there]
        found = []
        for place in places:
            around = sentence.around(place)
            for word in missing:
                fitting = match_case(word, sentence.words[place])
                found += [sentence.replaced(place, fitting, self.kind, around), sentence.inserted(place, word)]
        return told(found)


class Attach(Move):
    """One text before or behind every sentence."""

    kind = "attach"
    replaces_word = False
    anywhere = True

    def __init__(self, text: str, at_start: bool) -> None:
        self.text, self.at_start = text, at_start

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence."""
        return told([sentence.attached(self.text, self.at_start, self.kind)] if self.text else [])
