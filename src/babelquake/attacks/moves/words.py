"""Word-level moves that need no model: deletion (Feng 2018) and neighbours in a word space (Jia 2019).

Word neighbours by name: those that ship (`neighbours-en`), or a file. A file has one word per line and its neighbours
after it, nearest first, parted by tabs or spaces; `.gz` and `.xz` are understood. `babelquake neighbours build` makes
one from word vectors and synonym and antonym constraints.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from babelquake.attacks.moves.base import Move, told
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.data.streams import lines
from babelquake.errors import UserError
from babelquake.models.shipped import folder, shipped
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


FILE = "neighbours.tsv"


def neighbours(name: str) -> Mapping[str, Sequence[str]]:
    """Lower-case words and their neighbours, nearest first."""
    file = place(name)
    found: dict[str, Sequence[str]] = {}
    for line in lines(file):
        if entry := line.split():
            found[entry[0].lower()] = tuple(entry[1:])
    if not found:
        raise UserError(f"{name} has no words: expected lines of a word and its neighbours.")
    return found


def neighbours_signature(name: str) -> str:
    """Name and content."""
    return f"{Path(name).name}-{hashlib.blake2b(place(name).read_bytes(), digest_size=6).hexdigest()}"


def place(name: str) -> Path:
    """The file behind a name."""
    if Path(name).is_file():
        return Path(name)
    if name in shipped():
        files = sorted(folder(name).glob(f"{FILE}*"))
        if files:
            return files[0]
    raise UserError(
        f"no word neighbours are called '{name}'. Use a file with a word and its neighbours per line, "
        "or neighbours-en, which ships with babelquake-models."
    )
