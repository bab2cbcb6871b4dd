"""Letter case (Niu et al. 2020, §3)."""

from collections.abc import Callable

from babelquake.perturb.base import perturbation
from babelquake.randomness import Stream
from babelquake.text import has_case, map_words, title


def title_words(text: str) -> str:
    """Each word with a capital first letter and the rest in lower case: `don't` → `Don't`."""
    return map_words(text, title)


STYLES: tuple[Callable[[str], str], ...] = (str.upper, str.lower, title_words)


@perturbation("case", family="case", paper="Niu 2020 §3", meaning="preserving", level=0.5, unit="share of sentences")
def change_case(text: str, level: float, rng: Stream) -> str | None:
    """Upper-, lower- or title-case the whole sentence with probability `level`; None where a script has no case."""
    if not has_case(text):
        return None
    return rng.choice(STYLES)(text) if rng.chance(level) else text
