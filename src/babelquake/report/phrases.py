"""Perturbations, lists and p-values in plain words."""

import re
from collections.abc import Sequence

from babelquake.errors import UserError
from babelquake.perturb.base import PERTURBATIONS, Card
from babelquake.runs.measures import CANNOT_BE_TESTED
from babelquake.runs.results import Row, is_significant
from babelquake.stats.pvalues import p_words

NOUNS = {"misspell": "typo", "keyboard-typo": "slipped key", "natural-typo": "common misspelling"}
"""What one changed word holds, where a noun says it better than the perturbation's name."""
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 10: "ten", 20: "twenty", 50: "fifty", 100: "a hundred"}


def card_of(perturbation: str) -> Card | None:
    """What is known of a perturbation; None for those that came with the data."""
    try:
        return PERTURBATIONS.get(perturbation.partition("[")[0])
    except UserError:
        return None


def in_words(perturbation: str, level: float | None) -> str:
    """`misspell` at 0.1 is 'one typo in ten words'; others are named with their level and its unit."""
    card = card_of(perturbation)
    if level is None:
        return perturbation
    unit = card.unit if card else ""
    share = unit.partition(";")[0].removeprefix("share of ") if unit.startswith("share of ") else None
    if share is None:
        return f"{perturbation} ({level_with_unit(perturbation, level) if unit else f'level {level:g}'})"
    every = round(1 / level) if level else 0
    if perturbation in NOUNS and share == "words" and every in COUNTS and abs(every * level - 1) < 1e-9:
        return f"one {NOUNS[perturbation]} in {COUNTS[every]} words"
    return f"{perturbation} ({'all' if level == 1 else f'{100 * level:g} % of'} {share})"


def with_level(perturbation: str, level: float | None) -> str:
    """A perturbation with its level and the level's unit: `misspell 0.1 of words`."""
    if level is None:
        return perturbation
    return f"{perturbation} {level_with_unit(perturbation, level)}"


def level_with_unit(perturbation: str, level: float) -> str:
    """A level and what it means: `0.3 of words`, `0.3 per letter`, `2 numbers`, `1 number`."""
    unit = unit_text(perturbation)
    if level == 1 and not unit.startswith(("of ", "per ")) and " and " not in unit:
        unit = re.sub(r"s(?= of |$)", "", unit, count=1)
    return f"{level:g} {unit}".strip()


def unit_text(perturbation: str) -> str:
    """What a perturbation's level counts: `of words`, `per letter`, `numbers`; empty where nobody says."""
    card = card_of(perturbation)
    unit = (card.unit if card else "").partition(";")[0].partition(",")[0]
    for said, short in (("share of ", "of "), ("probability ", "")):
        if unit.startswith(said):
            return f"{short}{unit.removeprefix(said)}"
    return unit


def usual_level(perturbation: str, levels: Sequence[float | None]) -> float | None:
    """The level to speak of: the one nearest to the papers', else the middle one."""
    given = sorted(level for level in levels if level is not None)
    if not given:
        return None
    card = card_of(perturbation)
    if card is None or card.level is None:
        return given[len(given) // 2]
    usual = card.level
    return min(given, key=lambda level: abs(level - usual))


def listed(items: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; long lists end in a count."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def p_text(row: Row) -> str:
    """The p-value that counts, in brackets."""
    p = row["p_corrected"] if row["p_corrected"] is not None else row["p"]
    if p is None:
        return ""
    return f" ({p_words(p)})"


def than_chance(row: Row | None) -> str:
    """Whether a difference is more than chance, or that it cannot be tested; empty where nothing was tested."""
    if row is None:
        return ""
    if row["verdict"] == CANNOT_BE_TESTED:
        return ", which cannot be tested"
    said = p_text(row)
    return f", {'more' if is_significant(row) else 'not more'} than chance{said}" if said else ""


def of_pair(pair: str | None, pairs: Sequence[str | None]) -> str:
    """Names the language pair where there are several."""
    return f"{pair}: " if pair and len(pairs) > 1 else ""
