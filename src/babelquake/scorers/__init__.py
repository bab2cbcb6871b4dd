"""Scorers judge (source, translation, reference): one file per metric, one line per name."""

import inspect
from collections.abc import Callable
from typing import Any

from babelquake.registry import Registry
from babelquake.resource import SETTINGS
from babelquake.scorers.base import Array, MeanScorer, Question, Questions, Scorer, VectorScorer
from babelquake.scorers.user_scorer import Adapted, Judges
from babelquake.spec import Spec, bind, parameters, parse
from babelquake.user_code import PLACE, at, name_of

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
        "embedding-similarity": "babelquake.scorers.similarity:EmbeddingSimilarity",
        "failure": "babelquake.scorers.failure:FailureScorer",
        "llm-judge": "babelquake.scorers.llm_judge:LlmJudge",
        "metricx": "babelquake.scorers.metricx:MetricX",
        "openkiwi": "babelquake.scorers.openkiwi:OpenKiwi",
        "perplexity": "babelquake.scorers.perplexity:Perplexity",
        "qe-multi": "babelquake.scorers.qe_multi:MultilingualQE",
        "ridge-qe": "babelquake.scorers.ridge_qe:RidgeQE",
        "scores": "babelquake.scorers.scores:Scores",
        "sentsim": "babelquake.scorers.similarity:SentSim",
        "ter": "babelquake.scorers.strings.ter:Ter",
        "transquest": "babelquake.scorers.transquest:TransQuest",
    },
)


def scorer(what: str | Spec | Scorer | Judges | Callable[..., Any], **options: Any) -> Scorer:
    """The scorer of that name, options in brackets or as keywords: `scorer("chrf[char_order=4]")`.

    Offline, a scorer whose models are not named takes those that ship, and its name and signature say so. Every scorer
    takes `name`, which tables show in place of its spec. A function of translations, references and sources is a scorer
    too, and so is `module:function`.
    """
    if isinstance(what, Scorer):
        if not hasattr(what, "spec"):
            what.spec = Spec(name_of(what))
        return what
    if not isinstance(what, str | Spec):
        return Adapted(what)
    spec = (parse(what) if isinstance(what, str) else what).with_options(**options)
    kind: Any = at(spec.name) if PLACE.fullmatch(spec.name) else SCORERS.get(spec.name)
    if SETTINGS.offline:
        ships = getattr(kind, "ships", None)
        stand_ins = {"model": ships} if isinstance(ships, str) else ships or {}
        spec = spec.with_options(**{key: name for key, name in stand_ins.items() if key not in dict(spec.options)})
    made = _made(kind, spec)
    made.spec = spec
    made.label = dict(spec.options).get("name")
    return made


def _made(kind: Any, spec: Spec) -> Scorer:
    if inspect.isroutine(kind) or not inspect.isclass(kind):
        return Adapted(kind, spec.name, **bind(spec.without("name"), parameters(_of_a_function), "scorer"))
    accepted = parameters(kind)
    given = spec if "name" in accepted else spec.without("name")
    found = kind(**bind(given, accepted, "scorer"))
    return found if isinstance(found, Scorer) else Adapted(found, spec.name)


def _of_a_function(higher: bool | None = None) -> None:
    """The options of a scorer that is a function: whether higher scores are better."""
