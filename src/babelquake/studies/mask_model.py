"""Which masked language model mask-replace (Kanojia's MAP6) asks, and the note where it asks none."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from babelquake.languages import Language
from babelquake.models import masked
from babelquake.models.shipped import shipped
from babelquake.paths import install_line
from babelquake.perturb.suite import Suite

SHIPS = "minilm-en"
"""The masked language model that is asked unless another is named. It knows English alone."""
ITS_LANGUAGE = Language("en")
ENGLISH = f"The one that ships, {SHIPS}, knows English alone."
PAPER = "bert-base-uncased"
NONE = "none"
"""What `--masked-lm` says to leave MAP6 out."""


def with_masked_lm(suite: Suite, named: str | None, languages: Sequence[str | None]) -> tuple[Suite, list[str]]:
    """The suite with the model that was named, or the one that ships for texts in English; and what to say of it.

    `languages` are those of the texts that are perturbed.
    """
    if not suite.lacking:
        return suite, []
    if named and named != NONE:
        return suite.with_model(named), []
    others = sorted({code or "" for code in languages if Language.known(code) != ITS_LANGUAGE})
    reasons = _missing() if named is None else []
    english = any(Language.known(code) == ITS_LANGUAGE for code in languages)
    if reasons or not english or named == NONE:
        return suite.with_model(None), [_left_out(suite, reasons or ([] if named else [ENGLISH]))]
    said = [
        f"mask-replace (MAP6) asks {SHIPS}, the masked language model that ships (paper: {PAPER}); --masked-lm names "
        "another, --masked-lm none leaves it out."
    ]
    if others:
        where = ", ".join(code or "a language that is not known" for code in others)
        said.append(f"In {where}: {_left_out(suite, [ENGLISH])}")
    return suite.with_model(SHIPS, ITS_LANGUAGE.code), said


def without_masked_lm(suite: Suite) -> tuple[Suite, list[str]]:
    """The suite without what asks a model and names none; and that it was left out."""
    if not suite.lacking:
        return suite, []
    return suite.with_model(None), [f"{suite.lacking} Name one: mask-replace[model={PAPER}] or [model={SHIPS}]."]


def model_signatures(suite: Suite | None) -> dict[str, str]:
    """Name, content and precision of the models that perturbations ask, by the perturbation's label."""
    asking = [one for one in (suite.perturbations if suite else ()) if one.card.asks and one.options.get("model")]
    return {one.label: masked(str(one.options["model"])).signature for one in asking}


def _left_out(suite: Suite, reasons: Iterable[str]) -> str:
    return " ".join([suite.lacking, *reasons, f"--masked-lm {PAPER} names the paper's."])


def _missing() -> list[str]:
    """What the model that ships lacks to run here."""
    lacking = [name for name in ("torch", "transformers") if find_spec(name) is None]
    found = [f"The one that ships needs {' and '.join(lacking)}: {install_line('neural')}."] if lacking else []
    return found if SHIPS in shipped() else [*found, "One ships: pip install babelquake-models."]
