"""A sentence under attack: words and what stands between them, and what has been done to them so far."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from babelquake.text import words


class Edit(NamedTuple):
    """One change: its kind, the place in the original sentence, what stood there, what stands there now."""

    kind: str
    place: int
    old: str
    new: str


class Parts(NamedTuple):
    """What a sentence is made of. `gaps[i]` precedes `words[i]`; the last gap follows the last word."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    origins: tuple[int, ...]
    """Per word its place in the original sentence; an inserted word has the place of the word it stands before."""
    touched: frozenset[int] = frozenset()
    """Places, in this sentence, of words that were changed."""
    edits: tuple[Edit, ...] = ()


class Sentence:
    """Immutable: a change gives a new sentence.

    Its text is known at once, its parts when somebody looks: of thousands of candidates a search keeps a few.
    """

    __slots__ = ("_parts", "_starts", "text")

    def __init__(self, text: str, parts: Parts | Callable[[], Parts]) -> None:
        self.text = text
        self._parts = parts
        self._starts: list[int] | None = None

    @classmethod
    def of(cls, text: str) -> "Sentence":
        """Take a text apart into words, with inner apostrophes and hyphens, and what stands between them."""
        spans = words(text)
        ends = [0, *(span.end for span in spans)]
        starts = [*(span.start for span in spans), len(text)]
        gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
        return cls(text, Parts(tuple(span.text for span in spans), gaps, tuple(range(len(spans)))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sentence) and self.text == other.text and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Sentence({self.text!r}, {self.parts!r})"

    @property
    def parts(self) -> Parts:
        """Words, gaps, and what was done to them."""
        if not isinstance(self._parts, Parts):
            self._parts = self._parts()
        return self._parts

    @property
    def words(self) -> tuple[str, ...]:
        """See `Parts`."""
        return self.parts.words

    @property
    def gaps(self) -> tuple[str, ...]:
        """See `Parts`."""
        return self.parts.gaps

    @property
    def origins(self) -> tuple[int, ...]:
        """See `Parts`."""
        return self.parts.origins

    @property
    def touched(self) -> frozenset[int]:
        """See `Parts`."""
        return self.parts.touched

    @property
    def edits(self) -> tuple[Edit, ...]:
        """See `Parts`."""
        return self.parts.edits

    def around(self, place: int) -> tuple[str, str]:
        """The text before a word and the text after it."""
        if self._starts is None:
            pieces = zip(self.gaps, ("", *self.words), strict=True)
            self._starts = list(accumulate(len(word) + len(gap) for gap, word in pieces))
        start = self._starts[place]
        return self.text[:start], self.text[start + len(self.words[place]) :]

    def replaced(
        self, place: int, word: str, kind: str = "replace", around: tuple[str, str] | None = None
    ) -> "Sentence":
        """Another word in place of one."""
        before, after = around or self.around(place)
        return Sentence(f"{before}{word}{after}", partial(self._replaced, place, word, kind))

    def _replaced(self, place: int, word: str, kind: str) -> Parts:
        old = self.parts
        return Parts(
            (*old.words[:place], word, *old.words[place + 1 :]),
            old.gaps,
            old.origins,
            old.touched | {place},
            (*old.edits, Edit(kind, old.origins[place], old.words[place], word)),
        )

    def inserted(self, place: int, word: str, before: str | None = None) -> "Sentence":
        """A new word before one. Both count as changed, as in TextAttack: the pair took the place of the old word."""
        head = self.around(place)[0] if before is None else before
        return Sentence(f"{head}{word} {self.text[len(head) :]}", partial(self._inserted, place, word))

    def _inserted(self, place: int, word: str) -> Parts:
        old = self.parts
        shifted = {other + (other >= place) for other in old.touched if other != place}
        return Parts(
            (*old.words[:place], word, *old.words[place:]),
            (*old.gaps[: place + 1], " ", *old.gaps[place + 1 :]),
            (*old.origins[: place + 1], *old.origins[place:]),
            frozenset(shifted | {place, place + 1}),
            (*old.edits, Edit("insert", old.origins[place], "", word)),
        )

    def attached(self, text: str, at_start: bool, kind: str = "attach") -> "Sentence":
        """A text before the first word or behind the last, with a space between."""
        parts = Sentence.of(f"{text} {self.text}" if at_start else f"{self.text} {text}")
        edit = Edit(kind, 0 if at_start else max(len(self.words) - 1, 0), "", text)
        return Sentence(parts.text, parts.parts._replace(edits=(*self.edits, edit)))

    def without(self, place: int, kind: str = "delete") -> "Sentence":
        """Less one word, and less one space: the one before it, or after it where it was the first word."""
        before, after = self.around(place)
        text = before + after.removeprefix(" ") if place == 0 else before.removesuffix(" ") + after
        return Sentence(text, partial(self._without, place, kind))

    def _without(self, place: int, kind: str) -> Parts:
        old = self.parts
        left, right = old.gaps[place], old.gaps[place + 1]
        gap = left + right.removeprefix(" ") if place == 0 else left.removesuffix(" ") + right
        return Parts(
            old.words[:place] + old.words[place + 1 :],
            (*old.gaps[:place], gap, *old.gaps[place + 2 :]),
            old.origins[:place] + old.origins[place + 1 :],
            frozenset(other - (other > place) for other in old.touched if other != place),
            (*old.edits, Edit(kind, old.origins[place], old.words[place], "")),
        )

    def merged(self, place: int, word: str, around: tuple[str, str] | None = None) -> "Sentence":
        """One word in place of a word and its right neighbour."""
        before, after = around or self.without(place + 1).around(place)
        return Sentence(f"{before}{word}{after}", partial(self._merged, place, word))

    def _merged(self, place: int, word: str) -> Parts:
        old = self.parts
        both = f"{old.words[place]}{old.gaps[place + 1]}{old.words[place + 1]}"
        found = self.without(place + 1).replaced(place, word).parts
        return found._replace(edits=(*old.edits, Edit("merge", old.origins[place], both, word)))

    def with_words(self, new: Sequence[str], touched: Iterable[int], edits: Iterable[Edit]) -> "Sentence":
        """As many other words between the same gaps: what crossing two sentences makes."""
        pieces = [piece for pair in zip(self.gaps, new, strict=False) for piece in pair]
        parts = Parts(tuple(new), self.gaps, self.origins, frozenset(touched), tuple(edits))
        return Sentence("".join(pieces) + self.gaps[-1], parts)
