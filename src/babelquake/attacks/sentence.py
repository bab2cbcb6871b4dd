"""A sentence under attack: words and what stands between them, and what has been done to them so far."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from babelquake.text import words


class Edit(NamedTuple):
    """One change: its kind, the place in the original sentence, what stood there, what stands there now."""

    kind: str
    place: int
    old: str
    new: str


class Sentence(NamedTuple):
    """Immutable: a change gives a new sentence. `gaps[i]` precedes `words[i]`; the last gap follows the last word."""

    text: str
    words: tuple[str, ...]
    gaps: tuple[str, ...]
    origins: tuple[int, ...]
    """Per word its place in the original sentence; an inserted word has the place of the word it stands before."""
    touched: frozenset[int] = frozenset()
    """Places, in this sentence, of words that were changed."""
    edits: tuple[Edit, ...] = ()

    @classmethod
    def of(cls, text: str) -> "Sentence":
        """Take a text apart into words, with inner apostrophes and hyphens, and what stands between them."""
        spans = words(text)
        ends = [0, *(span.end for span in spans)]
        starts = [*(span.start for span in spans), len(text)]
        gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
        return cls(text, tuple(span.text for span in spans), gaps, tuple(range(len(spans))))

    def around(self, place: int, width: int = 1) -> tuple[str, str]:
        """The text before a word and the text after it (or after several words from there)."""
        before = _joined(self.words[:place], self.gaps[: place + 1])
        after = _joined(self.words[place + width :], self.gaps[place + width + 1 :], first=self.gaps[place + width])
        return before, after

    def replaced(
        self, place: int, word: str, kind: str = "replace", around: tuple[str, str] | None = None
    ) -> "Sentence":
        """Another word in place of one."""
        before, after = around or self.around(place)
        return Sentence(
            f"{before}{word}{after}",
            (*self.words[:place], word, *self.words[place + 1 :]),
            self.gaps,
            self.origins,
            self.touched | {place},
            (*self.edits, Edit(kind, self.origins[place], self.words[place], word)),
        )

    def inserted(self, place: int, word: str, before: str | None = None) -> "Sentence":
        """A new word before one. Both count as changed, as in TextAttack: the pair took the place of the old word."""
        head = self.around(place)[0] if before is None else before
        shifted = {other + (other >= place) for other in self.touched if other != place}
        return Sentence(
            f"{head}{word} {self.text[len(head) :]}",
            (*self.words[:place], word, *self.words[place:]),
            (*self.gaps[: place + 1], " ", *self.gaps[place + 1 :]),
            (*self.origins[: place + 1], *self.origins[place:]),
            frozenset(shifted | {place, place + 1}),
            (*self.edits, Edit("insert", self.origins[place], "", word)),
        )

    def without(self, place: int, kind: str = "delete") -> "Sentence":
        """Less one word, and less one space: the one before it, or after it where it was the first word."""
        left, right = self.gaps[place], self.gaps[place + 1]
        gap = left + right.removeprefix(" ") if place == 0 else left.removesuffix(" ") + right
        gaps = (*self.gaps[:place], gap, *self.gaps[place + 2 :])
        rest = self.words[:place] + self.words[place + 1 :]
        return Sentence(
            _joined(rest, gaps),
            rest,
            gaps,
            self.origins[:place] + self.origins[place + 1 :],
            frozenset(other - (other > place) for other in self.touched if other != place),
            (*self.edits, Edit(kind, self.origins[place], self.words[place], "")),
        )

    def merged(self, place: int, word: str, base: "Sentence | None" = None) -> "Sentence":
        """One word in place of a word and its right neighbour."""
        shorter = base or self.without(place + 1)
        both = f"{self.words[place]}{self.gaps[place + 1]}{self.words[place + 1]}"
        found = shorter.replaced(place, word)
        return found._replace(edits=(*self.edits, Edit("merge", self.origins[place], both, word)))

    def with_words(self, new: Sequence[str], touched: Iterable[int], edits: Iterable[Edit]) -> "Sentence":
        """As many other words between the same gaps: what crossing two sentences makes."""
        text = _joined(tuple(new), self.gaps)
        return Sentence(text, tuple(new), self.gaps, self.origins, frozenset(touched), tuple(edits))


def _joined(words_: tuple[str, ...], gaps: tuple[str, ...], first: str | None = None) -> str:
    """Words and gaps in turn; `first`, where given, stands before the first word."""
    pieces = list(gaps) if first is None else [first, *gaps]
    parts = [piece for pair in zip(pieces, words_, strict=False) for piece in pair]
    return "".join(parts) + (pieces[len(words_)] if len(pieces) > len(words_) else "")
