"""What searches ask: questions of every kind, each to its resource, those to the same resource together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from babelquake.models.base import CausalLM, Encoder, MaskedLM
from babelquake.resource import Resource
from babelquake.scorers.base import Question, Questions, Scorer
from babelquake.systems.base import System

if TYPE_CHECKING:
    from babelquake.engine.engine import Engine


@dataclass(frozen=True)
class Ask:
    """One question of a search to a resource other than its scorer: a gap to fill, a text to encode or to weigh."""

    resource: Resource
    what: Any
    option: Any = None
    """`top` for a masked language model, the layers for an encoder."""


def answers(engine: "Engine", asked: Sequence[Any], scorer: Scorer | None, stored: bool) -> list[Any]:
    """Answers in order: to a `Question` the score that `scorer` gives, to an `Ask` what its resource says."""
    groups: dict[tuple[int, Any], list[int]] = {}
    for place, one in enumerate(asked):
        group = (id(one.resource), one.option) if isinstance(one, Ask) else (0, None)
        groups.setdefault(group, []).append(place)
    found: list[Any] = [None] * len(asked)
    for places in groups.values():
        first, some = asked[places[0]], [asked[place] for place in places]
        told = _told(engine, first, some, stored) if isinstance(first, Ask) else _scores(engine, scorer, some, stored)
        for place, answer in zip(places, told, strict=True):
            found[place] = answer
    return found


def _told(engine: "Engine", first: Ask, asks: Sequence[Ask], stored: bool) -> list[Any]:
    what = [ask.what for ask in asks]
    match first.resource:
        case Scorer() as scorer:
            return _scores(engine, scorer, what, stored)
        case MaskedLM() as masked:
            return engine.fill(masked, what, first.option or 50, stored)
        case CausalLM() as causal:
            return engine.log_probabilities(causal, what, stored)
        case Encoder() as encoder:
            vectors = engine.encode(encoder, what, first.option or (0,))
            return [vectors[text] for text in what]
        case System() as system:
            return engine.translate(system, what)
    raise TypeError(f"{first.resource!r} is nothing that can be asked")


def _scores(engine: "Engine", scorer: Scorer | None, questions: Sequence[Question], stored: bool) -> list[float]:
    if scorer is None:
        raise TypeError("a search asks questions, but no scorer was given")
    scores: list[float] = scorer.score_rows(engine.judge(scorer, Questions.of(questions), stored)).tolist()
    return scores
