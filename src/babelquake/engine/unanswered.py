"""What was asked for and not had: what stands in its place, and what a reader of the results must know of it."""

from collections.abc import Sequence
from typing import Literal, TypeVar

from babelquake.engine.question_kinds import Form
from babelquake.errors import UnansweredError, setting
from babelquake.escape import visible
from babelquake.resource import Resource

Q = TypeVar("Q")
A = TypeVar("A")


class Shortfalls:
    """Texts that have no answer, and systems that say nothing."""

    def __init__(self, on_error: Literal["keep", "stop"]) -> None:
        self.on_error = on_error
        """Whether to go on without the answers that could not be had, or to stop once everything else is done."""
        self._unanswered: dict[str, tuple[int, str]] = {}
        """By resource: how many texts have no answer, and why the first has none."""
        self._said: dict[str, list[int]] = {}
        """By system: how many texts that were not blank it got, and how many of its translations were not."""

    def hear(self, system: str, texts: Sequence[str], translations: Sequence[str]) -> None:
        """Count what a system made of texts that were not blank."""
        said = self._said.setdefault(system, [0, 0])
        said[0] += sum(map(bool, texts))
        said[1] += sum(bool(text.strip()) for text in translations)

    def stand_ins(self, resource: Resource, reasons: dict[Q, str], of: int, form: Form[Q, A]) -> dict[Q, A]:
        """What stands for answers that could not be had; an error where nothing can, or where the user wants one."""
        question, why = next(iter(reasons.items()))
        shown = visible(str(question))
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        first = f"“{shown}” ({why})."
        if self.on_error == "stop" or form.nothing is None:
            raise UnansweredError(
                f"{resource.name} gave no usable answer to {len(reasons)} of {of} texts, first {first} "
                f"Everything else is kept; {setting('on_error', 'keep')} continues without them."
            )
        before, earlier = self._unanswered.get(resource.name, (0, first))
        self._unanswered[resource.name] = before + len(reasons), earlier
        return dict.fromkeys(reasons, form.nothing)

    @property
    def notes(self) -> list[str]:
        """One sentence for each system that says nothing, and for each resource with texts that have no answer."""
        silent = [
            f"{name} returned an empty translation for every text ({asked})."
            for name, (asked, spoken) in self._said.items()
            if asked and not spoken
        ]
        return [
            *silent,
            *(
                f"{name} did not translate {'1 text' if count == 1 else f'{count} texts'}; empty translations are "
                f"counted instead. The first: {first}"
                for name, (count, first) in self._unanswered.items()
            ),
        ]
