# ruff: noqa: I001 – one line for each module
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

if TYPE_CHECKING:  # the names below once more, for editors and type checkers; `as` says that they are ours to give
    from babelquake.data import Dataset as Dataset, dataset as dataset, read as read
    from babelquake.engine import Cache as Cache, Engine as Engine, workers as workers
    from babelquake.errors import GateError as GateError, UserError as UserError
    from babelquake.models.loading import configure as configure
    from babelquake.papers import reproduce as reproduce
    from babelquake.perturb import Perturbation as Perturbation, perturb as perturb, perturbation as perturbation
    from babelquake.perturb.noise import augment as augment, augment_file as augment_file
    from babelquake.perturb.suite import Suite as Suite, suite as suite
    from babelquake.perturb.table import perturb_table as perturb_table, write_perturb_table as write_perturb_table
    from babelquake.report.examples import example_table as example_table, examples as examples
    from babelquake.report.html import write_html as write_html
    from babelquake.report.images import write_images as write_images, write_slide as write_slide
    from babelquake.report.latex import to_latex as to_latex
    from babelquake.report.leaderboard import write_leaderboard as write_leaderboard
    from babelquake.report.markdown import to_markdown as to_markdown, to_model_card as to_model_card
    from babelquake.report.pages.check import write_junit as write_junit
    from babelquake.runs.run import Run as Run, runs_below as runs_below
    from babelquake.scorers import MeanScorer as MeanScorer, Questions as Questions, Scorer as Scorer, scorer as scorer
    from babelquake.studies import plans as plan
    from babelquake.studies.attack.study import attack as attack
    from babelquake.studies.challenge.build import build_challenge as build_challenge
    from babelquake.studies.challenge.study import challenge as challenge
    from babelquake.studies.check.study import check as check
    from babelquake.studies.compare import compare as compare
    from babelquake.studies.comparison import require as require
    from babelquake.studies.correlate.study import correlate as correlate
    from babelquake.studies.exchange import imported_scorers as imported_scorers, imported_systems as imported_systems
    from babelquake.studies.human.study import human as human
    from babelquake.studies.metric.study import metric as metric
    from babelquake.studies.mt.study import mt as mt
    from babelquake.studies.qe.study import qe as qe
    from babelquake.studies.rerun import rerun as rerun
    from babelquake.studies.similarities import similarities as similarities
    from babelquake.systems import System as System, system as system
    from babelquake.systems.defences import defence as defence

__version__ = VERSION

_MODULES = {"perturb": "babelquake.perturb", "plan": "babelquake.studies.plans"}
_PLACES = {
    name: module
    for module, names in {
        "babelquake.data": "Dataset dataset read",
        "babelquake.engine": "Cache Engine workers",
        "babelquake.errors": "GateError UserError",
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
        "babelquake.report.pages.check": "write_junit",
        "babelquake.report.images": "write_images write_slide",
        "babelquake.report.leaderboard": "write_leaderboard",
        "babelquake.runs.run": "Run runs_below",
        "babelquake.scorers": "MeanScorer Questions Scorer scorer",
        "babelquake.studies.attack.study": "attack",
        "babelquake.studies.challenge.build": "build_challenge",
        "babelquake.studies.challenge.study": "challenge",
        "babelquake.studies.check.study": "check",
        "babelquake.studies.compare": "compare",
        "babelquake.studies.comparison": "require",
        "babelquake.studies.correlate.study": "correlate",
        "babelquake.studies.exchange": "imported_scorers imported_systems",
        "babelquake.studies.human.study": "human",
        "babelquake.studies.metric.study": "metric",
        "babelquake.studies.mt.study": "mt",
        "babelquake.studies.qe.study": "qe",
        "babelquake.studies.rerun": "rerun",
        "babelquake.studies.similarities": "similarities",
        "babelquake.systems": "System system",
        "babelquake.systems.defences": "defence",
    }.items()
    for name in names.split()
}
"""Which module has what."""
__all__ = ["__version__", "plan", *sorted({"perturb", *_PLACES})]


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
    return __all__
