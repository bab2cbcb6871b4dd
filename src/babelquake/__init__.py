"""babelquake: shake a translation stack and measure what breaks.

>>> import babelquake as bq
>>> bq.perturb("misspell", ["Das ist ein Test."], lang="de", level=0.1, seed=13)
>>> bq.scorer("chrf").segments(["a b"], ["a c"])
>>> bq.system("bundled[model=de-en-bpe]").translate(["Guten Tag."])
>>> run = bq.study.translation(systems=["command[cmd=cat]"], data="sample", suite="niu2020", scorers=["chrf"], out="r")

Importing the package imports none of its rooms; each is loaded when a name from it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from babelquake.version import VERSION

if TYPE_CHECKING:
    from babelquake import study
    from babelquake.data import read
    from babelquake.perturb import perturb
    from babelquake.perturb.suite import suite
    from babelquake.runs.run import Run
    from babelquake.scorers import scorer
    from babelquake.systems import system

__version__ = VERSION
__all__ = ["Run", "__version__", "perturb", "read", "scorer", "study", "suite", "system"]

_PLACES = {
    "Run": "babelquake.runs.run:Run",
    "perturb": "babelquake.perturb:",
    "read": "babelquake.data:read",
    "scorer": "babelquake.scorers:scorer",
    "study": "babelquake.study:",
    "suite": "babelquake.perturb.suite:suite",
    "system": "babelquake.systems:system",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'babelquake' has no attribute '{name}'")
    module, _, attribute = _PLACES[name].partition(":")
    found = import_module(module)
    value = getattr(found, attribute) if attribute else found
    globals()[name] = value
    return value
