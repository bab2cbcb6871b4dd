"""`llm`: a language model behind the chat protocol corrects the source before it is translated.

Its answer is bounded: a correction that changes more than a part of the text, its numbers, its lines or its machinery
is not a correction, and the text stays as it was. Answers go through the engine's cache as translations do.
"""

from typing import Annotated, Unpack

import regex
from rapidfuzz.distance import Levenshtein

from babelquake.languages import Language
from babelquake.models.chat import ChatOptions
from babelquake.spec import Range
from babelquake.systems.base import System
from babelquake.systems.defences.base import Ask, Defence, Inner, Steps, pieces
from babelquake.systems.openai import OpenAI

PROMPT = (
    "Correct spelling, letter case and spacing of the following {source_language} text. Do not translate it, do not "
    "rephrase it, keep placeholders, tags, numbers and names. Reply with the corrected text only.\n\n{source}"
)
DIGITS = regex.compile(r"\d+")


class LlmCorrector(Defence):
    """A chat model corrects the source; what changes more than `most` of the letters is not accepted."""

    stage = "before"
    remote = True

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        prompt: str = PROMPT,
        most: Annotated[float, Range(0, 1)] = 0.3,
        **options: Unpack[ChatOptions],
    ) -> None:
        self._model, self._url, self._prompt, self._most, self._options = model, base_url, prompt, most, options
        self._corrector: System | None = None

    def serve(self, source: Language | None, target: Language | None) -> None:
        """The prompt names the language."""
        super().serve(source, target)
        language = source or "same-language"
        made = OpenAI(self._model, language, language, self._url, prompt=self._prompt, **self._options)
        made.spec = self.spec
        self._corrector = made

    def facts(self) -> dict[str, object]:
        return {"corrector": self._corrector.signature if self._corrector else None}

    def steps(self, texts: list[str], inner: Inner) -> Steps:
        """Ask for corrections, keep those that are ones, translate."""
        corrected = yield Ask(texts, self._corrector)
        kept = [new if self._is_correction(old, new) else old for old, new in zip(texts, corrected, strict=True)]
        return (yield from inner(kept))

    def _is_correction(self, old: str, new: str) -> bool:
        """Whether it is the same text with a few letters changed."""
        if not new.strip() or new.count("\n") != old.count("\n") or pieces(new) != pieces(old):
            return False
        if DIGITS.findall(new) != DIGITS.findall(old):
            return False
        same_letters = Levenshtein.normalized_distance(old.casefold(), new.casefold())
        return same_letters <= self._most

    def close(self) -> None:
        if self._corrector is not None:
            self._corrector.close()
