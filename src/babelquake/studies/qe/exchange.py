"""What the QE study judges, written out for quality-estimation models that run elsewhere."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from babelquake.data import Given, dataset
from babelquake.engine import Cache, Engine
from babelquake.perturb.suite import Suite
from babelquake.studies.exchange import export_questions, probed_questions
from babelquake.studies.probing import Material
from babelquake.studies.qe.options import QeOptions
from babelquake.studies.qe.selection import judged_segments, probes, select, target_language
from babelquake.studies.variants import vocabularies


def export_qe_texts(
    folder: Path | str,
    data: Given,
    suite: str | Suite | Sequence[str] = "kanojia2021",
    *,
    threshold: float = 70.0,
    masked_lm: str | None = None,
    seed: int = 0,
    replicates: int | None = None,
    vocabulary: str | None = None,
) -> tuple[Path, int]:
    """Write every distinct (source, translation) of the study, all clean ones and the probes of the good ones.

    References go with them where the data have some beside translations. Where they are, and how many there are.
    """
    given = dataset(data)
    everything = judged_segments(given)
    selected, _ = select(everything, threshold)
    chosen, _ = probes(
        QeOptions(data=(), suite=suite, masked_lm=masked_lm, replicates=replicates, vocabulary=vocabulary), everything
    )
    words = vocabularies(everything, "text", chosen, target_language)
    whole = Material(everything, "translation", "target")
    clean = whole.batch(everything, everything["text"].to_list())
    probed = probed_questions(Material(selected, "translation", "target"), chosen, seed, words, Engine(Cache()))
    references = given.has("references") and given.has("translation")
    return export_questions(folder, chain([clean], probed), references)
