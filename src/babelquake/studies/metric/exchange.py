"""What the metric study judges, written out for metrics that run elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from babelquake.data import Given, dataset
from babelquake.engine import Cache, Engine
from babelquake.perturb.suite import Suite
from babelquake.studies.exchange import export_questions, probed_questions
from babelquake.studies.metric.agreement import attacked_texts, suite_for
from babelquake.studies.metric.challenge import triples
from babelquake.studies.metric.material import material_of, mode_of
from babelquake.studies.metric.options import MetricOptions, Side
from babelquake.studies.variants import vocabularies


def export_metric_texts(
    folder: Path | str,
    data: Given,
    suite: str | Suite | Sequence[str] | None = None,
    *,
    side: Side = "translation",
    seed: int = 0,
    replicates: int | None = None,
    vocabulary: str | None = None,
    sample: int = 1000,
    deduplicate: bool = False,
    attacked: bool = False,
) -> tuple[Path, int]:
    """Write every distinct (source, translation, reference) of the study; where they are, and how many there are."""
    given = dataset(data)
    options = MetricOptions(data=given, suite=suite, attacked=attacked, replicates=replicates, vocabulary=vocabulary)
    mode = mode_of(given, side)
    if mode == "challenge":
        _, asked = triples(given.segments)
        return export_questions(folder, asked.values())
    chosen = suite_for(given, options).with_model(None)
    material = material_of(given, side, mode, sample, seed, deduplicate)
    if attacked:
        material = replace(material, given=attacked_texts(given, chosen))
    words = vocabularies(material.segments, "text", chosen, material.lang)
    return export_questions(folder, probed_questions(material, chosen, seed, words, Engine(Cache())))
