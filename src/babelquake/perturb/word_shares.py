"""A share of a text's words, counted as in the attacked references that Vu et al. 2022 published (see `zeroe`)."""

from collections.abc import Callable
from math import ceil

import regex

from babelquake.randomness import Stream

UNIT = regex.compile(
    r"\p{N}+(?:[.,]\p{N}+)*"
    r"|[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*(?:-[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*)*"
    r"|\p{P}"
)
"""Words (split at apostrophes), numbers and single punctuation marks: what a level is a share of."""


def _units(stretches: list[str]) -> list[int | tuple[int, int, int]]:
    """The units of a text parted at spaces: a plain word by its place, others by place, start and end in it."""
    units: list[int | tuple[int, int, int]] = []
    add = units.append
    for at, stretch in enumerate(stretches):
        if stretch.isalpha():
            add(at)
        elif (last := len(stretch) - 1) > 0 and stretch[last] in ".," and stretch[:last].isalpha():
            add((at, 0, last))
            add((at, last, last + 1))
        elif stretch.isdecimal():
            add(at)
        else:
            units += [(at, unit.start(), unit.end()) for unit in UNIT.finditer(stretch)]
    return units


def share_of_words(text: str, level: float, rng: Stream, change: Callable[[str], str | None]) -> str | None:
    """Change ⌈level · tokens⌉ of the words that can be attacked, drawn without replacement; None where none can.

    `change` returns None for a word that cannot be attacked.
    """
    stretches = text.split(" ")
    units = _units(stretches)
    left = len(units)
    wanted = ceil(level * left - 1e-9)
    draw = rng.random
    parts: list[tuple[int, int, int, str]] = []
    done = 0
    while left and done < wanted:
        drawn = int(draw() * left)
        unit = units[drawn]
        left -= 1
        units[drawn] = units[left]
        if isinstance(unit, int):
            if (new := change(stretches[unit])) is not None:
                stretches[unit] = new
                done += 1
        else:
            at, start, end = unit
            if (new := change(stretches[at][start:end])) is not None:
                parts.append((at, start, end, new))
                done += 1
    for at, start, end, new in sorted(parts, reverse=True):
        stretches[at] = stretches[at][:start] + new + stretches[at][end:]
    return " ".join(stretches) if done else None
