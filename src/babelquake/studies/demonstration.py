"""The demo: the three studies on the bundled sample and models, as one story."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.models.shipped import shipped
from babelquake.runs.run import Run
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe

LEARNED = {"minilm-en": "bertscore[model=minilm-en]", "judge-en": "cross-encoder[model=judge-en]"}
"""Metrics over the English models that ship."""
SEGMENTS = 100
"""Of the sample that are translated: enough for its verdicts, and half a minute on two cores."""
MODELS = ("de-en-bpe", "de-en-bpe-dropout", "de-en-sentencepiece")


def demonstrate(out: Path, restart: bool = False, engine: Engine | None = None) -> Iterator[tuple[str, Run]]:
    """Runs as they are finished, each with a line that says what it shows. Nothing leaves the machine or is cached."""
    how: dict[str, Any] = {"restart": restart, "engine": engine or Engine()}
    sample, rated = read("sample"), read("sample:rated")
    yield (
        "Three German–English models, trained alike but for how they cut words, under everyday noise:",
        mt(
            systems=[f"bundled[model={name}]" for name in MODELS],
            data=sample,
            suite="everyday",
            limit=SEGMENTS,
            scorers=["bleu[lowercase=true]", "chrf"],
            out=out / "mt",
            **how,
        ),
    )
    metrics, learned = ["bleu", "chrf", "ter"], neural_metrics()
    named = "three metrics" if not learned else "string metrics, BERTScore and a learned metric"
    yield (
        f"What a single final mark of an English sentence costs in {named}, f(X′, X):",
        metric(
            scorers=[*metrics, *learned],
            data=sample,
            suite="jwalapuram2023",
            out=out / "metric",
            side="reference",
            **how,
        ),
    )
    yield (
        "Do the string metrics tell harmless from harmful changes of a translation?",
        qe(scorers=metrics, data=rated, out=out / "probes", masked_lm="none", replicates=5, **how),
    )


def neural_metrics() -> list[str]:
    """The metrics that need torch and transformers, where both and the models are installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return []
    return [spec for name, spec in LEARNED.items() if name in shipped()]
