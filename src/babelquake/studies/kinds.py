"""Kinds of numbers that several studies make."""

from dataclasses import replace

from babelquake.runs.measures import Kind

DELTA = Kind("delta", unit="score, better is up", better="up", paper="Jwalapuram 2023 §3.1")
"""What an error rate gained counts as a loss."""

ACHIEVED_WORDS = Kind("achieved_words", unit="% of words changed")
"""By a perturbation, beside the level that was asked for."""


def over_changed(kind: Kind) -> Kind:
    """The same number over the texts that the perturbation really changed: `robust` → `robust_changed`."""
    return replace(kind, name=f"{kind.name}_changed", unit=f"{kind.unit}, changed texts only")


FAILURES = Kind("failures", unit="% of translations", better="down")
"""Translations with a failure; the column `scorer` names its kind, `any` for at least one."""

FAILURES_PERTURBED = Kind("failures_perturbed", unit="% of translations", better="down")
"""The same over the translations of all perturbed sources together; what two runs are compared by."""
SCORE = Kind("score", unit="score")
DETECTION_ACCURACY = Kind("detection_accuracy", unit="% of triples", better="up", paper="Karpinska 2022 §3")
