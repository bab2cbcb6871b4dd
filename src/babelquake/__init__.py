"""babelquake: shake a translation stack and measure what breaks.

>>> import babelquake as bq
>>> bq.perturb("misspell", ["Das ist ein Test."], lang="de", level=0.1, seed=13)
>>> bq.scorer("chrf").segments(["a b"], ["a c"])
>>> bq.system("bundled[model=de-en-bpe]").translate(["Guten Tag."])
>>> run = bq.mt(systems=["command[cmd=cat]"], data="sample", suite="niu2020", scorers=["chrf"], out="runs/typos")

Importing the package imports none of its rooms; each is loaded when a name from it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from babelquake.version import VERSION

if TYPE_CHECKING:
    from babelquake.data import Dataset, dataset, read
    from babelquake.engine import Cache, Engine, workers
    from babelquake.errors import UserError
    from babelquake.models.loading import configure
    from babelquake.papers import reproduce
    from babelquake.perturb import Perturbation, perturb, perturbation
    from babelquake.perturb.noise import augment, augment_file
    from babelquake.perturb.suite import Suite, suite
    from babelquake.perturb.table import perturb_table, write_perturb_table
    from babelquake.report.examples import example_table, examples
    from babelquake.report.html import write_html
    from babelquake.report.images import write_images
    from babelquake.report.latex import to_latex
    from babelquake.report.markdown import to_markdown, to_model_card
    from babelquake.runs.run import Run, runs_below
    from babelquake.scorers import MeanScorer, Questions, Scorer, scorer
    from babelquake.studies import plans as plan
    from babelquake.studies.attack.study import attack
    from babelquake.studies.challenge.study import challenge
    from babelquake.studies.check.study import check
    from babelquake.studies.compare import compare
    from babelquake.studies.correlate.study import correlate
    from babelquake.studies.exchange import imported_scorers, imported_systems
    from babelquake.studies.human.study import human
    from babelquake.studies.metric.study import metric
    from babelquake.studies.mt.study import mt
    from babelquake.studies.qe.study import qe
    from babelquake.studies.similarities import similarities
    from babelquake.systems import System, system
    from babelquake.systems.defences import defence

__version__ = VERSION

_MODULES = {"perturb": "babelquake.perturb", "plan": "babelquake.studies.plans"}
_PLACES = {
    name: module
    for module, names in {
        "babelquake.data": "Dataset dataset read",
        "babelquake.engine": "Cache Engine workers",
        "babelquake.errors": "UserError",
        "babelquake.models.loading": "configure",
        "babelquake.papers": "reproduce",
        "babelquake.perturb": "Perturbation perturbation",
        "babelquake.perturb.noise": "augment augment_file",
        "babelquake.perturb.suite": "Suite suite",
        "babelquake.perturb.table": "perturb_table write_perturb_table",
        "babelquake.report.examples": "example_table examples",
        "babelquake.report.html": "write_html",
        "babelquake.report.latex": "to_latex",
        "babelquake.report.markdown": "to_markdown to_model_card",
        "babelquake.report.images": "write_images",
        "babelquake.runs.run": "Run runs_below",
        "babelquake.scorers": "MeanScorer Questions Scorer scorer",
        "babelquake.studies.attack.study": "attack",
        "babelquake.studies.challenge.study": "challenge",
        "babelquake.studies.check.study": "check",
        "babelquake.studies.compare": "compare",
        "babelquake.studies.correlate.study": "correlate",
        "babelquake.studies.exchange": "imported_scorers imported_systems",
        "babelquake.studies.human.study": "human",
        "babelquake.studies.metric.study": "metric",
        "babelquake.studies.mt.study": "mt",
        "babelquake.studies.qe.study": "qe",
        "babelquake.studies.similarities": "similarities",
        "babelquake.systems": "System system",
        "babelquake.systems.defences": "defence",
    }.items()
    for name in names.split()
}
"""Which module has what; below, the same for editors and type checkers."""
__all__ = [
    "Cache",
    "Dataset",
    "Engine",
    "MeanScorer",
    "Perturbation",
    "Questions",
    "Run",
    "Scorer",
    "Suite",
    "System",
    "UserError",
    "__version__",
    "attack",
    "augment",
    "augment_file",
    "challenge",
    "check",
    "compare",
    "configure",
    "correlate",
    "dataset",
    "defence",
    "example_table",
    "examples",
    "human",
    "imported_scorers",
    "imported_systems",
    "metric",
    "mt",
    "perturb",
    "perturb_table",
    "perturbation",
    "plan",
    "qe",
    "read",
    "reproduce",
    "runs_below",
    "scorer",
    "similarities",
    "suite",
    "system",
    "to_latex",
    "to_markdown",
    "to_model_card",
    "workers",
    "write_html",
    "write_images",
    "write_perturb_table",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(_MODULES[name])
    elif name in _PLACES:
        value = getattr(import_module(_PLACES[name]), name)
    else:
        raise AttributeError(f"module 'babelquake' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
