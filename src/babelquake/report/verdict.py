"""The verdict: what a run found, in plain sentences built from its measures alone."""

from collections.abc import Callable

from babelquake.report.metric.verdict import metric_verdict
from babelquake.report.mt.verdict import translation_verdict
from babelquake.report.qe.verdict import quality_verdict
from babelquake.runs.run import Run

VERDICTS: dict[str, Callable[[Run], list[str]]] = {
    "translation": translation_verdict,
    "metric": metric_verdict,
    "quality": quality_verdict,
}


def verdict(run: Run) -> list[str]:
    """Sentences, the most important first."""
    make = VERDICTS.get(run.info.study)
    return (make(run) if make else []) or ["There is nothing to report: the run holds no measures."]
