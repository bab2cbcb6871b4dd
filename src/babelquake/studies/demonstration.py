"""The demo: the three studies on the bundled sample and models, as one story."""

from collections.abc import Iterator
from pathlib import Path

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.runs.run import Run
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import translation
from babelquake.studies.qe.study import quality

MODELS = ("de-en-bpe", "de-en-bpe-dropout", "de-en-sentencepiece")


def demonstrate(out: Path, restart: bool = False) -> Iterator[tuple[str, Run]]:
    """Runs as they are finished, each with a line that says what it shows. Nothing leaves the machine or is cached."""
    engine = Engine()
    sample, rated = read("sample"), read("sample:rated")
    yield (
        "Three German–English models, trained alike but for how they cut words, under everyday noise:",
        translation(
            [f"bundled[model={name}]" for name in MODELS], sample, "everyday", ["bleu[lowercase=true]", "chrf"],
            out / "mt", restart=restart, engine=engine,
        ),
    )  # fmt: skip
    yield (
        "What a single final mark costs in three metrics, f(X′, X):",
        metric(["bleu", "chrf", "ter"], sample, out / "metric", "jwalapuram2023", side="source", restart=restart,
               engine=engine),
    )  # fmt: skip
    yield (
        "Do the same metrics tell harmless from harmful changes of a translation?",
        quality(["bleu", "chrf", "ter"], rated, out / "probes", "kanojia2021", replicates=5, restart=restart,
                engine=engine),
    )  # fmt: skip
