"""Letter case (Niu et al. 2020, §3)."""

from collections.abc import Callable
from typing import Literal

from babelquake.perturb.base import perturbation
from babelquake.randomness import Stream
from babelquake.text import has_case, map_words, title


def title_words(text: str) -> str:
    """Each word with a capital first letter and the rest in lower case: `don't` → `Don't`."""
    return map_words(text, title)


STYLES: dict[str, Callable[[str], str]] = {"upper": str.upper, "lower": str.lower, "title": title_words}


LABELS = {"any": "odd capitals", "upper": "ALL CAPS", "lower": "all lower case", "title": "Title Case"}


@perturbation(
    "case",
    label=lambda to: LABELS[to],
    family="case",
    paper="Niu 2020 §3",
    meaning="preserving",
    level=0.5,
    unit="share of sentences",
)
def change_case(
    text: str, level: float, rng: Stream, to: Literal["any", "upper", "lower", "title"] = "any"
) -> str | None:
    """Upper-, lower- or title-case the whole sentence with probability `level`; skipped where a script has no case.

    The paper mixes the three at random, which is `to=any`; `to=upper`, `to=lower` and `to=title` are one each.
    """
    if not has_case(text):
        return None
    if not rng.chance(level):
        return text
    return STYLES[rng.choice(tuple(STYLES)) if to == "any" else to](text)
