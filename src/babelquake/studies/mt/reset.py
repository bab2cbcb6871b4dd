"""Punctuation reset: undo a final mark that a translation gained or lost only because its source did.

Jwalapuram 2023 §4.1: a full stop added to the source brings one along in the translation, and metrics punish it
although nothing was translated differently. The two translations are made comparable before they are judged: the
translation of the perturbed source gets the ending of the translation of the clean one.
"""

from typing import Literal

from babelquake.text import ending

Reset = Literal["auto", "always", "never"]


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
