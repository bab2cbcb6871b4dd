"""The demo: the three studies on the bundled sample and models, as one story."""

from collections.abc import Iterator
from pathlib import Path

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.runs.run import Run
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe

MODELS = ("de-en-bpe", "de-en-bpe-dropout", "de-en-sentencepiece")


def demonstrate(out: Path, restart: bool = False) -> Iterator[tuple[str, Run]]:
    """Runs as they are finished, each with a line that says what it shows. Nothing leaves the machine or is cached."""
    engine = Engine()
    sample, rated = read("sample"), read("sample:rated")
    yield (
        "Three German–English models, trained alike but for how they cut words, under everyday noise:",
        mt(
            [f"bundled[model={name}]" for name in MODELS],
            sample,
            "everyday",
            ["bleu[lowercase=true]", "chrf"],
            out=out / "mt",
            restart=restart,
            engine=engine,
        ),
    )
    metrics = ["bleu", "chrf", "ter"]
    yield (
        "What a single final mark costs in three metrics, f(X′, X):",
        metric(metrics, sample, "jwalapuram2023", out=out / "metric", side="source", restart=restart, engine=engine),
    )
    yield (
        "Do the same metrics tell harmless from harmful changes of a translation?",
        qe(metrics, rated, "kanojia2021", out=out / "probes", replicates=5, restart=restart, engine=engine),
    )
