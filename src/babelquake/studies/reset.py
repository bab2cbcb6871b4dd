"""Punctuation reset: undo a final mark that a translation gained or lost only because its source did.

Jwalapuram 2023 §4.1: a full stop added to the source brings one along in the translation, and metrics punish it
although nothing was translated differently. The two translations are made comparable before they are judged: the
translation of the perturbed source gets the ending of the translation of the clean one. `paper` does no more than the
paper says: a mark that was inserted is taken off the translation where only the perturbed one has it, a mark that was
deleted is put back where only the clean one has it.

An instruction that was put into the source is undone likewise: its translation is not judged.
"""

from collections.abc import Callable

from babelquake.failures.injection import what_was_translated
from babelquake.studies.options import Reset
from babelquake.text import ending

Comparable = Callable[[str, str, str, str], str]
"""A translation made comparable: of the two translations and the two sources, the perturbed first."""


def reset_ending(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """The perturbed source's translation with the clean one's final mark, where the sources' own marks differ."""
    if ending(perturbed_source).mark == ending(clean_source).mark:
        return perturbed
    mine, model = ending(perturbed), ending(clean)
    if mine.mark == model.mark or not mine.body:
        return perturbed
    closing = mine.closing if mine.mark else model.closing if mine.body.endswith(model.closing) else ""
    body = mine.body if mine.mark else mine.body.removesuffix(closing)
    return body + (model.space if model.mark else "") + model.mark + closing + mine.tail


def reset_as_published(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """Take off the mark that was inserted, put back the mark that was deleted, and change nothing else."""
    before, after = ending(clean_source), ending(perturbed_source)
    mine, model = ending(perturbed), ending(clean)
    if not before.mark and after.mark and mine.kind == after.kind != model.kind and mine.body:
        return mine.body + mine.closing + mine.tail
    if before.mark and not after.mark and model.kind == before.kind and not mine.mark and mine.body:
        closing = model.closing if mine.body.endswith(model.closing) else ""
        return mine.body.removesuffix(closing) + model.space + model.mark + closing + mine.tail
    return perturbed


def without_instruction(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """What a translation says beside an instruction that was put into its source."""
    return what_was_translated(clean, perturbed)


RESETS: dict[Reset, Comparable] = {
    "auto": reset_ending,
    "always": reset_ending,
    "never": lambda perturbed, *_: perturbed,
    "paper": reset_as_published,
}
"""How each choice makes translations comparable."""
