"""Mask-then-infill moves of CLARE (Li 2021): replace a word, insert one, merge two.

A gap is put into the sentence, the masked model names its words for it, and those above a confidence floor become
candidates. Fillers have a letter in them; whether pieces of words count is the model's option.
"""

from collections.abc import Callable, Sequence

from babelquake.attacks.moves.base import Move
from babelquake.attacks.requests import Asking
from babelquake.attacks.sentence import Sentence
from babelquake.resource import Gap

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
    """A move whose words come from a masked model."""

    def __init__(self, most: int = 50, floor: float = 0.0) -> None:
        self.most = most
        self.floor = floor
        """The least probability of a filler."""

    def words(self, fillers: Sequence[tuple[str, float]], old: str) -> list[str]:
        """The most probable `most` fillers above the floor; the word that stood there is not among them, nor numbers.

        As in TextAttack these take up one of the `most` all the same.
        """
        above = [word for word, probability in fillers[: self.most] if probability >= self.floor]
        return [word for word in above if word != old and any(map(str.isalpha, word))]


class WindowedMove(MaskMove):
    """A move whose masked model may see the words alone, without the marks around them (`clipped`).

    TextAttack cuts such texts before their first word and behind their last one, where the mask itself loses a bracket
    and is none any more: it inserts nothing before the first word, and the first and the last pair stay unmerged.
    """

    def __init__(self, most: int = 50, floor: float = 0.0, clipped: bool = False) -> None:
        super().__init__(most, floor)
        self.clipped = clipped

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
        answers = yield [Gap(*sides) for sides in around]
        return [
            sentence.replaced(place, word, self.kind, sides)
            for place, sides, fillers in zip(places, around, answers, strict=True)
            for word in self.words(fillers, sentence.words[place])
        ]


class MaskInsert(WindowedMove):
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


class MaskMerge(WindowedMove):
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
