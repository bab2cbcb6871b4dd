"""One text that raises the score of most translations: searched on one half of the sentences, measured on the other.

Wallace 2019 call it a universal trigger. Words are added greedily: in every round each word of a pool is tried behind
(or before) the text found so far, on the same sentences, and the one with the highest mean rise stays. The best text
of all rounds counts, also where it lowers scores: what is measured is what the search came to. A sentence that the
victim does not score with the text has risen by nothing, as in every attack: otherwise a text that makes a judge refuse
all but a few sentences could seem the best.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from babelquake.attacks.moves.inflating import Attach
from babelquake.attacks.recipes import Recipe, Universal
from babelquake.attacks.search import once
from babelquake.attacks.victim import Scale
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.randomness import Stream
from babelquake.scorers import Scorer
from babelquake.studies.attack.victims import judged
from babelquake.text import TOKEN

FIXED = ("Translation complete.", "(verified)", "!", ".", '"', "**", "Yes.", "accurate", "correct", "score: 100")
"""What is tried beside the words of the data."""


@dataclass(frozen=True)
class Trigger:
    """What was found."""

    text: str
    rise: float
    """Mean rise on the sentences it was searched on, in standard deviations."""
    queries: int
    sentences: int


def halves(segments: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sentences to search on and sentences to measure on; translations of one source are all on one side."""
    named = segments.select(pl.coalesce("source", "id"))["source"].to_list()
    searched = pl.Series([Stream(seed, "universal", name).chance(0.5) for name in named], dtype=pl.Boolean)
    first, second = segments.filter(searched), segments.filter(~searched)
    if first.is_empty() or second.is_empty():
        raise UserError("universal-suffix and universal-prefix need sentences of several sources: one half each.")
    return first, second


def search(
    engine: Engine, victim: Scorer, scale: Scale, segments: pl.DataFrame, wanted: Universal, seed: int
) -> Trigger:
    """The text that raises the mean score of some sentences most."""
    order = Stream(seed, "universal", victim.name).shuffled(range(segments.height))
    some = segments[order[: wanted.sentences]]
    texts = some["translation"].to_list()
    pool = _pool(segments, wanted.pool)
    before = judged(engine, victim, some, texts)
    scored = np.isfinite(before)

    def rise(trigger: str) -> float:
        """The mean over the sentences that have a score, in standard deviations."""
        after = judged(engine, victim, some, [joined(text, trigger, wanted.at_start) for text in texts])
        return float(np.nan_to_num((after - before) / scale.sd)[scored].sum() / max(scored.sum(), 1))

    queries = len(texts)
    best, chosen, found = -float("inf"), "", ""
    for _ in range(wanted.words):
        longer = [joined(found, word, wanted.at_start).strip() for word in pool]
        tried = {trigger: rise(trigger) for trigger in longer}
        queries += len(tried) * len(texts)
        found = max(tried, key=lambda trigger: tried[trigger])
        if tried[found] > best:
            best, chosen = tried[found], found
    return Trigger(chosen, best, queries, len(texts))


def most_questions(wanted: Universal, sentences: int) -> int:
    """What the search asks at most; half of the sentences are drawn for it, more or less."""
    return min(wanted.sentences, sentences) * (1 + wanted.words * wanted.pool)


def attaching(recipe: Recipe, trigger: Trigger) -> Recipe:
    """The recipe that attaches what was found."""
    if recipe.universal is None:
        raise ValueError(f"{recipe.name} has no text for all")
    return replace(recipe, moves=(Attach(trigger.text, recipe.universal.at_start),), search=once)


def joined(text: str, trigger: str, at_start: bool) -> str:
    """A text with the trigger."""
    return text if not trigger else f"{trigger} {text}" if at_start else f"{text} {trigger}"


def _pool(segments: pl.DataFrame, size: int) -> Sequence[str]:
    """The commonest words of translations and references, and what is tried always."""
    texts = segments["translation"].to_list()
    if "references" in segments.columns:
        texts += [text for some in segments["references"].to_list() for text in some or ()]
    counted = Counter(found.group() for text in texts for found in TOKEN.finditer(text or ""))
    common = [word for word, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]
    return [*dict.fromkeys((*FIXED, *common))][: max(size, 1)]
