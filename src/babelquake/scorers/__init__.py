"""Scorers judge (source, translation, reference): one file per metric, one line per name."""

from typing import Any

from babelquake.models.settings import SETTINGS
from babelquake.registry import Registry
from babelquake.scorers.base import Array, MeanScorer, Question, Questions, Scorer, VectorScorer
from babelquake.spec import Spec, bind, parameters, parse

__all__ = ["SCORERS", "Array", "MeanScorer", "Question", "Questions", "Scorer", "VectorScorer", "scorer"]

SCORERS: Registry[type[Scorer]] = Registry(
    "scorer",
    "babelquake.scorers",
    {
        "bertscore": "babelquake.scorers.bertscore:BertScore",
        "bleu": "babelquake.scorers.strings.bleu:Bleu",
        "bleurt": "babelquake.scorers.bleurt:Bleurt",
        "chrf": "babelquake.scorers.strings.chrf:ChrF",
        "chrf++": "babelquake.scorers.strings.chrf:ChrFPlusPlus",
        "comet": "babelquake.scorers.comet:Comet",
        "cross-encoder": "babelquake.scorers.cross_encoder:CrossEncoder",
        "embedding-similarity": "babelquake.scorers.embedding_similarity:EmbeddingSimilarity",
        "llm-judge": "babelquake.scorers.llm_judge:LlmJudge",
        "metricx": "babelquake.scorers.metricx:MetricX",
        "openkiwi": "babelquake.scorers.openkiwi:OpenKiwi",
        "perplexity": "babelquake.scorers.perplexity:Perplexity",
        "ridge-qe": "babelquake.scorers.ridge_qe:RidgeQE",
        "scores": "babelquake.scorers.scores:Scores",
        "sentsim": "babelquake.scorers.sentsim:SentSim",
        "ter": "babelquake.scorers.strings.ter:Ter",
        "transquest": "babelquake.scorers.transquest:TransQuest",
    },
)


def scorer(what: str | Spec | Scorer, **options: Any) -> Scorer:
    """The scorer of that name, options in brackets or as keywords: `scorer("chrf[order=4]")`.

    Offline, a scorer without a `model` takes the one that ships, and its name and signature say so.
    """
    if isinstance(what, Scorer):
        return what
    spec = (parse(what) if isinstance(what, str) else what).with_options(**options)
    kind = SCORERS.get(spec.name)
    if SETTINGS.offline and kind.ships is not None and "model" not in dict(spec.options):
        spec = spec.with_options(model=kind.ships)
    made = kind(**bind(spec, parameters(kind), "scorer"))
    made.spec = spec
    return made
