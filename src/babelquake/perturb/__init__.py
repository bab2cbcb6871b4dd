"""Perturbations: named, seeded changes of one text. One module per family; suites name the papers' sets.

`babelquake.perturb` is this package and, called, its function of the same name: `bq.perturb("case", texts)`. Python
sets the attribute to the package whenever something imports it, so the package itself can be called.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from babelquake.errors import UserError, listed_texts
from babelquake.languages import Language
from babelquake.perturb.base import Perturbation
from babelquake.perturb.card import PERTURBATIONS, Card, Perturbs, perturbation

__all__ = ["PERTURBATIONS", "Card", "Perturbation", "Perturbs", "perturb", "perturbation"]


def perturb(
    name: str | Perturbation | Callable[..., Any] | Perturbs,
    texts: Iterable[str],
    *,
    lang: str | None = None,
    seed: int = 0,
    replicate: int = 0,
    **options: Any,
) -> list[str | None]:
    """Change each text; None where not applicable. `name` may be a function of a text, or an object with `perturb`.

    What can do nothing without the language of the texts is an error where `lang` is not given.

    >>> perturb("misspell", ["Das ist ein Test."], lang="de", level=0.1, seed=13)
    """
    given = options.pop("sources", None)
    texts = listed_texts("texts", texts)
    if isinstance(given, str):
        listed_texts("sources", given)
    sources: Sequence[str | None] = [None] * len(texts) if given is None else list(given)
    words = options.pop("vocabulary", None)
    if isinstance(words, str):
        options["vocabulary"], words = words, None
    fillers = options.pop("fillers", None)
    perturbation = _one(name, options)
    perturbation.require_language(lang)
    language = Language(lang) if lang else None
    return [
        perturbation.apply(
            text, lang=language, seed=seed, replicate=replicate, source=source, vocabulary=words, fillers=fillers
        )
        for text, source in zip(texts, sources, strict=True)
    ]


def _one(name: str | Perturbation | Callable[..., Any] | Perturbs, options: dict[str, Any]) -> Perturbation:
    """The perturbation of that name; a suite, which is several, is refused by name."""
    from babelquake.perturb.suite import is_suite, suite

    if isinstance(name, Perturbation):
        return Perturbation(name.spec, **options)
    if isinstance(name, str) and is_suite(name):
        each = ", ".join(dict.fromkeys(one.name for one in suite(name).perturbations))
        raise UserError(f"{name} is a suite: perturb_table takes it; here name one of its perturbations: {each}.")
    return Perturbation(name, **options)


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> list[str | None]:
        return perturb(*args, **options)


sys.modules[__name__].__class__ = _Callable
__signature__ = inspect.signature(perturb)
__doc__ = f"{inspect.getdoc(perturb)}\n\n{__doc__}"
