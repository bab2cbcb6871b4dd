"""`final-mark`: a sentence without its final mark gets one for the system, and the translation loses it again.

Systems trained on whole sentences translate a sentence without its full stop differently (Jwalapuram 2023 §4).
"""

from babelquake.systems.defences.base import Defence, Inner, Steps
from babelquake.text import FULL_STOPS, ending, ends_in_word, final_marks, is_unspaced, words

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
