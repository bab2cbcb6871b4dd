"""Moves: what may be done to a word. Each proposes all its candidates for given places of a sentence.

Deletion (Feng 2018), neighbours in a word space (Jia 2019), the letters of DeepWordBug (Gao 2018), the masks of CLARE
(Li 2021), and what raises scores: words of the reference, and one text for all.

Word neighbours are named: those that ship (`neighbours-en`), or a file. A file has one word per line and its neighbours
after it, nearest first, parted by tabs or spaces; `.gz` and `.xz` are understood. `babelquake neighbours build` makes
one from word vectors and synonym and antonym constraints.

TextAttack draws one change of each kind per word and turn of the letters (`every=False`); `every=True` proposes them
all. Draws are keyed by seed, sentence and place, so that a sentence gets the same candidates whatever was attacked
before it. For masks a gap is put into the sentence, the masked model names its words for it, and those above a
confidence floor become candidates. Fillers have a letter in them; whether pieces of words count is the model's option.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.data.streams import lines
from babelquake.errors import UserError
from babelquake.models.shipped import folder, shipped
from babelquake.randomness import Stream
from babelquake.resource import Gap
from babelquake.text import match_case, words


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


def without_asking(found: list[Sentence]) -> Asking[list[Sentence]]:
    """Candidates that took no asking, as a generator."""
    yield from ()
    return found


class DeleteWord(Move):
    """Leave a word out; a sentence of one word stays as it is."""

    kind = "delete"
    replaces_word = False

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence per place."""
        return without_asking([sentence.without(place) for place in places] if len(sentence.words) > 1 else [])


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
        return without_asking(found)


NEIGHBOURS_FILE = "neighbours.tsv"


def neighbours(name: str) -> Mapping[str, Sequence[str]]:
    """Lower-case words and their neighbours, nearest first."""
    file = _file_of(name)
    found: dict[str, Sequence[str]] = {}
    for line in lines(file):
        if entry := line.split():
            found[entry[0].lower()] = tuple(entry[1:])
    if not found:
        raise UserError(f"{name} has no words: expected lines of a word and its neighbours.")
    return found


def neighbours_signature(name: str) -> str:
    """Name and content."""
    return f"{Path(name).name}-{hashlib.blake2b(_file_of(name).read_bytes(), digest_size=6).hexdigest()}"


def _file_of(name: str) -> Path:
    """The file behind a name of word neighbours."""
    if Path(name).is_file():
        return Path(name)
    if name in shipped():
        files = sorted(folder(name).glob(f"{NEIGHBOURS_FILE}*"))
        if files:
            return files[0]
    raise UserError(
        f"no word neighbours are called '{name}'. Use a file with a word and its neighbours per line, "
        "or neighbours-en, which ships with babelquake-models."
    )


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
        return without_asking(found)


SwapLetters, SubstituteLetter, DeleteLetter, InsertLetter = (partial(CharacterMove, kind) for kind in CHANGES)


Tags = Callable[[Sentence], Sequence[str]]
"""The part of speech of every word of a sentence (universal tags; `X` where it is not known)."""
MERGES: dict[str, frozenset[str]] = {
    "NOUN": frozenset({"NOUN"}),
    "ADJ": frozenset({"NOUN", "NUM", "ADJ", "ADV"}),
    "ADV": frozenset({"ADJ", "VERB"}),
    "VERB": frozenset({"ADV", "VERB", "NOUN", "ADJ"}),
    "DET": frozenset({"NOUN", "ADJ"}),
    "PRON": frozenset({"NOUN", "ADJ"}),
    "NUM": frozenset({"NUM", "NOUN"}),
}
"""Which two neighbours may become one word (the bigrams of CLARE's published code, as in TextAttack)."""


class MaskMove(Move):
    """A move whose words come from a masked model, which may see the words alone, without the marks around them.

    TextAttack cuts such texts (`clipped`) before their first word and behind their last one, where the mask itself
    loses a bracket and is none any more: it inserts nothing before the first word, and the first and the last pair stay
    unmerged.
    """

    def __init__(self, most: int = 50, floor: float = 0.0, clipped: bool = False) -> None:
        self.most = most
        self.floor = floor
        """The least probability of a filler."""
        self.clipped = clipped

    def words(self, fillers: Sequence[tuple[str, float]], old: str) -> list[str]:
        """The most probable `most` fillers above the floor; the word that stood there is not among them, nor numbers.

        As in TextAttack these take up one of the `most` all the same.
        """
        above = [word for word, probability in fillers[: self.most] if probability >= self.floor]
        return [word for word in above if word != old and any(map(str.isalpha, word))]

    def gaps(self, sentence: Sentence, gaps: Sequence[Gap]) -> Asking[list[Sequence[tuple[str, float]]]]:
        """The fillers of each gap of a sentence; none for a gap that was cut off."""
        if not self.clipped:
            return (yield list(gaps))
        cut = [_clipped(sentence, gap) for gap in gaps]
        answers = iter((yield [gap for gap in cut if gap is not None]))
        return [() if gap is None else next(answers) for gap in cut]


def _clipped(sentence: Sentence, gap: Gap) -> Gap | None:
    before = gap.before[len(sentence.gaps[0]) :]
    after = gap.after[: len(gap.after) - len(sentence.gaps[-1])]
    return Gap(before, after) if before and after else None


class MaskReplace(MaskMove):
    """Mask a word and fill the gap with another."""

    kind = "replace"

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Up to `most` sentences per place."""
        around = [sentence.around(place) for place in places]
        answers = yield from self.gaps(sentence, [Gap(*sides) for sides in around])
        return [
            sentence.replaced(place, word, self.kind, sides)
            for place, sides, fillers in zip(places, around, answers, strict=True)
            for word in self.words(fillers, sentence.words[place])
        ]


class MaskInsert(MaskMove):
    """Open a gap before a word and fill it."""

    kind = "insert"
    replaces_word = False

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Up to `most` sentences per place."""
        heads = [sentence.around(place)[0] for place in places]
        answers = yield from self.gaps(sentence, [Gap(head, f" {sentence.text[len(head) :]}") for head in heads])
        return [
            sentence.inserted(place, word, head)
            for place, head, fillers in zip(places, heads, answers, strict=True)
            for word in self.words(fillers, sentence.words[place])
        ]


class MaskMerge(MaskMove):
    """Mask a word and its right neighbour together and fill the gap with one word.

    Only pairs that CLARE's authors allow are merged, by part of speech (`MERGES`). TextAttack merges wherever such a
    pair stands, changed words and stop words included (`anywhere=True`); the paper's text knows no such exception.
    """

    kind = "merge"
    replaces_word = False

    def __init__(
        self, tags: Tags, most: int = 50, floor: float = 0.0, anywhere: bool = True, clipped: bool = False
    ) -> None:
        super().__init__(most, floor, clipped)
        self.tags = tags
        self.anywhere = anywhere

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """Up to `most` sentences per pair of words."""
        tags = self.tags(sentence)
        pairs = [
            place
            for place in places
            if place + 1 < len(sentence.words)
            and (self.anywhere or place + 1 in places)
            and tags[place + 1] in MERGES.get(tags[place], ())
        ]
        around = [sentence.without(place + 1).around(place) for place in pairs]
        answers = yield from self.gaps(sentence, [Gap(*sides) for sides in around])
        return [
            sentence.merged(place, word, sides)
            for place, sides, fillers in zip(pairs, around, answers, strict=True)
            for word in self.words(fillers, sentence.words[place])
        ]


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
        return without_asking(found)


class Attach(Move):
    """One text before or behind every sentence."""

    kind = "attach"
    replaces_word = False
    anywhere = True

    def __init__(self, text: str, at_start: bool) -> None:
        self.text, self.at_start = text, at_start

    def candidates(self, sentence: Sentence, places: Sequence[int]) -> Asking[list[Sentence]]:
        """One sentence."""
        return without_asking([sentence.attached(self.text, self.at_start, self.kind)] if self.text else [])
