"""`repair`: what the detectors prove lost is put back into the translation: placeholders, tags, addresses, numbers.

A repair is kept where its detector has nothing to say of it any more and no other has more to say than before.
Preambles of chat models are cut, quotation marks that they put around everything are taken off, and a final mark that
the source has and the translation has not is added.

`final-mark` stands before the system: a sentence without its final mark gets one, and the translation loses it again.
Systems trained on whole sentences translate a sentence without its full stop differently (Jwalapuram 2023 §4).
"""

from collections import Counter
from collections.abc import Callable

import regex

from babelquake.failures import Card, Pair, cards_for, failures_in
from babelquake.languages import Language
from babelquake.machinery import machinery
from babelquake.systems.defences.base import Defence, Inner, Steps
from babelquake.text import FULL_STOPS, ending, ends_in_word, final_marks, is_unspaced, replaced, words

KINDS = ("placeholder", "tag", "url", "email", "number", "comment")
NUMBER = regex.compile(r"\d+(?:[.,]\d+)*")
MANGLED = regex.compile(r"\{[^{}\s]{0,40}\s?[^{}\s]{0,40}\}|%\s?[\w$@]+|<\s?/?\s?\w+[^<>]{0,60}>|\[\[[^\]]{0,60}\]\]")
"""What is left of machinery that a system translated or spaced."""


class Repair(Defence):
    """Restore placeholders, tags, addresses and numbers that were proven lost; cut preambles; add final marks."""

    stage = "behind"

    def __init__(self, marks: bool = True) -> None:
        self._marks = marks

    def serve(self, source: Language | None, target: Language | None) -> None:
        super().serve(source, target)
        self._cards: list[Card] = cards_for(source, target, KINDS)

    def facts(self) -> dict[str, object]:
        return {"kinds": "/".join(card.kind for card in self._cards)}

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Repair every translation that needs it."""
        translations = yield from inner(texts)
        return [
            self.repaired(text, translation) if text.strip() and translation.strip() else translation
            for text, translation in zip(texts, translations, strict=True)
        ]

    def repaired(self, source: str, translation: str) -> str:
        """One translation with what was lost."""
        for cut in (_without_preamble, _with_machinery, _with_numbers):
            translation = self._if_better(source, translation, cut)
        return self._with_final_mark(source, translation) if self._marks else translation

    def _if_better(self, source: str, translation: str, change: Callable[[Pair, str, str], str]) -> str:
        before = self._failures(source, translation)
        if not before:
            return translation
        pair = Pair(source, translation, self.source, self.target)
        changed = change(pair, source, translation)
        if changed == translation or not changed.strip():
            return translation
        after = self._failures(source, changed)
        return changed if len(after) < len(before) and set(after) <= set(before) else translation

    def _failures(self, source: str, translation: str) -> list[str]:
        return [item.kind for item in failures_in(Pair(source, translation, self.source, self.target), self._cards)]

    def _with_final_mark(self, source: str, translation: str) -> str:
        """The target's mark of the kind that ends the source, where nothing ends the translation."""
        wanted, found = ending(source).kind, ending(translation)
        marks = final_marks(translation, self.target)
        if wanted not in marks or found.mark or not found.body or not ends_in_word(found.body):
            return translation
        return f"{found.body}{marks[wanted]}{found.closing}{found.tail}"


def _without_preamble(pair: Pair, source: str, translation: str) -> str:
    """Without `Here is the translation:` in front, or quotation marks around everything."""
    for failure in failures_in(pair, cards_for(pair.source.language, pair.translation.language, ("comment",))):
        start, end = failure.spans[0] if failure.spans else (0, 0)
        stripped = translation.strip()
        if (start, end) == (0, len(stripped)) and len(stripped) > 2:
            return stripped[1:-1].strip()
        if end and not translation[:start].strip():
            rest = translation[end:]
            line, colon, after = rest.partition(":")
            if colon and len(line) < 80 and after.strip():
                rest = after
            return rest.strip(' \n\t:"“”*')
    return translation


def _lost_and_added(source: str, translation: str) -> tuple[list[tuple[int, str]], list[tuple[int, int, str]]]:
    """Machinery of the source that the translation lacks, with its place; what it has instead, with its span."""
    ours, theirs = machinery(source), machinery(translation)
    missing = Counter(item.text for item in ours) - Counter(item.text for item in theirs)
    extra = Counter(item.text for item in theirs) - Counter(item.text for item in ours)
    lost, added = [], []
    for item in ours:
        if missing[item.text] > 0:
            missing[item.text] -= 1
            lost.append((item.start, item.text))
    for found in theirs:
        if extra[found.text] > 0:
            extra[found.text] -= 1
            added.append((found.start, found.end, found.text))
    spans = [(start, end) for start, end, _ in added] + [(item.start, item.end) for item in theirs]
    kept = {item.text for item in ours}
    for match in MANGLED.finditer(translation):
        inside = any(start < match.end() and match.start() < end for start, end in spans)
        if not inside and match.group() not in kept and match.group() not in source:
            added.append((match.start(), match.end(), match.group()))
    return lost, sorted(added)


def _with_machinery(pair: Pair, source: str, translation: str) -> str:
    """With the source's machinery: in place of what became of it, or where it stood in the source."""
    lost, added = _lost_and_added(source, translation)
    if not lost:
        return replaced(translation, [(start, end, "") for start, end, _ in added]) if added else translation
    if len(lost) == len(added):
        return replaced(
            translation, [(start, end, text) for (start, end, _), (_, text) in zip(added, lost, strict=True)]
        )
    if added:
        return translation
    edits: dict[int, list[str]] = {}
    for start, text in lost:
        edits.setdefault(_place(source, start, start + len(text), translation), []).append(text)
    pieces = []
    for place in sorted(edits):
        before = " " if place and not translation[place - 1].isspace() and not edits[place][0].startswith("</") else ""
        after = " " if place < len(translation) and translation[place].isalnum() else ""
        glued = all(text.startswith("<") for text in edits[place])
        joined = ("" if glued else " ").join(edits[place])
        pieces.append((place, place, joined if glued else f"{before}{joined}{after}"))
    return replaced(translation, pieces)


def _place(source: str, start: int, end: int, translation: str) -> int:
    """Where in a translation something belongs that stands there in the source: a gap between words."""
    if not source[:start].strip():
        return 0
    if not any(char.isalnum() for char in source[end:]):
        tail = ending(translation)
        return len(tail.body)
    wanted = start / max(1, len(source)) * len(translation)
    gaps: list[int] = [match.start() for match in regex.finditer(r"\s", translation)] or [len(translation)]
    return min(gaps, key=lambda gap: abs(gap - wanted))


def _with_numbers(pair: Pair, source: str, translation: str) -> str:
    """With the source's number in place of another one, where each side has exactly one that the other has not."""
    ours, theirs = NUMBER.findall(source), list(NUMBER.finditer(translation))
    digits = {regex.sub(r"\D", "", number) for number in ours}
    written = {regex.sub(r"\D", "", match.group()) for match in theirs}
    lost = [number for number in ours if regex.sub(r"\D", "", number) not in written]
    added = [match for match in theirs if regex.sub(r"\D", "", match.group()) not in digits]
    if len(lost) != 1 or len(added) != 1 or not lost[0].isdigit() or not added[0].group().isdigit():
        return translation
    return replaced(translation, [(*added[0].span(), lost[0])])


FEWEST = 3
"""Words that a sentence has at least; less may be a title or a label."""
SHORTEST = 6
"""Characters, in scripts without spaces."""


class FinalMark(Defence):
    """A sentence without a final mark is translated with one, which the translation loses again."""

    stage = "before"

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Add the language's full stop where no mark ends the text; take the translation's off again there."""
        marked = [self._marked(text) for text in texts]
        translations = yield from inner(
            [text if mark is None else mark for text, mark in zip(texts, marked, strict=True)]
        )
        return [
            translation if mark is None else _unmarked(translation)
            for translation, mark in zip(translations, marked, strict=True)
        ]

    def _marked(self, text: str) -> str | None:
        found = ending(text)
        long = len(text.strip()) >= SHORTEST if is_unspaced(text) else len(words(text)) >= FEWEST
        if found.mark or not long or not found.body or not ends_in_word(found.body):
            return None
        return f"{found.body}{final_marks(text, self.source)[FULL_STOPS]}{found.tail}"


def _unmarked(text: str) -> str:
    found = ending(text)
    return found.body + found.closing + found.tail if found.kind == "stop" else text
