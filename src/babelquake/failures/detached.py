"""Detached: a translation that has little or nothing to do with its source (Guerreiro et al. 2023).

Models say how near the two are: the cosine of cross-lingual sentence vectors and the rating of a quality estimation
model, both of which ship, and where it is named, the cosine of a second encoder. They are combined with the weights
below, repetition counts as a mild sign of the same, and a translation is flagged where all of them agree.

The weights give each model about the same say (they are near the ratios of the models' spreads on seven language
pairs; weights of 4 to 6 for the second encoder change an area under the curve by less than .01; 5 was taken
after a look at the hallucinations of Guerreiro et al.), and thresholds flag
fewer than 1 in 1,000 references of 56 translation directions (NTREX-128, lines that no model was trained on; WMT24).
What was tried beside and brought nothing in cross-validation: the nearest parts of the sentence in either direction, by
windows of four, six and nine words and by single words. `docs/results/failures-wmt24.md` has the figures.
"""

from math import exp

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import LANGUAGES
from babelquake.failures.pair import Pair, Views
from babelquake.failures.repetition import repetition
from babelquake.text import is_unspaced

FLAGGED = 0.5
"""The score from which a translation counts as detached."""
SUSPECT = 0.35
"""The cosine from which on the vectors alone say that a translation belongs to its source."""
FEWEST_WORDS = 5
"""Of source and translation: the shorter they are, the less vectors know."""
OF_LOOPS = 0.1
"""The score of a pure loop that is otherwise near its source: loops have their own detector."""
LOOP = 0.7
"""The repetition from which on a loop is pure."""


def _distance(views: Views) -> float:
    """How far models hold a translation to be from its source: positive where it is flagged."""
    if views.usem3 is None:
        return 2 * (-views.rating - 1.2 * views.cosine - 1.7)
    return -views.rating - 5 * views.usem3 - 0.8


def detachment(pair: Pair) -> float:
    """From 0, a good translation, to 1, one of something else; 0 where no model was asked."""
    if pair.views is None:
        return 0.0
    apart = 1 / (1 + exp(-max(-50.0, min(50.0, _distance(pair.views)))))
    return max(apart, OF_LOOPS * min(1.0, repetition(pair) / LOOP))


@detector(
    "detached",
    family="meaning",
    needs=("source", "source language", "target language", "vectors"),
    languages=LANGUAGES,
    cost="encoder",
    paper="Guerreiro 2023",
    score=detachment,
)
def detached(pair: Pair) -> Failure | None:
    """The translation has little or nothing to do with its source."""
    views = pair.views
    if views is None or views.cosine >= SUSPECT or is_short(pair) or (score := detachment(pair)) < FLAGGED:
        return None
    seen = [f"similarity {views.cosine:.2f}", *([] if views.usem3 is None else [f"and {views.usem3:.2f}"])]
    return Failure("detached", score, f"{' '.join(seen)}, rating {views.rating:.1f}: {pair.translation.text[:120]}")


def is_short(pair: Pair) -> bool:
    """Whether one of the two has hardly a word; in scripts without spaces characters count."""
    return any(
        len(side.words) < FEWEST_WORDS and not (is_unspaced(side.text) and len(side.prose) >= 2 * FEWEST_WORDS)
        for side in (pair.source, pair.translation)
    )
