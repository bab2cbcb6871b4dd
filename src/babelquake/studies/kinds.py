"""Kinds of numbers that several studies make."""

from dataclasses import replace

from babelquake.runs.measures import CHANGED, Kind

DELTA = Kind("delta", "change of the score", "score, better is up", better="up", paper="Jwalapuram 2023 §3.1", head="Δ")
"""What an error rate gained counts as a loss."""

ACHIEVED_WORDS = Kind("achieved_words", "words changed", "% of words changed")
"""By a perturbation, beside the level that was asked for."""


def over_changed(kind: Kind) -> Kind:
    """The same number over the texts that the perturbation really changed: `robust` → `robust_changed`."""
    unit, label = (f"{said}, changed texts only" for said in (kind.unit, kind.label))
    return replace(kind, name=f"{kind.name}{CHANGED}", unit=unit, label=label, head="")


FAILURES = Kind("failures", "failures", "% of translations", better="down")
"""Translations with a failure; the column `scorer` names its kind, `any` for at least one."""

FAILURES_PERTURBED = Kind("failures_perturbed", "failures under noise", "% of translations", better="down")
"""The same over the translations of all perturbed sources together; what two runs are compared by."""
SCORE = Kind("score", "score", "score")
DETECTION_ACCURACY = Kind(
    "detection_accuracy", "good above bad translation", "% of triples", better="up", paper="Karpinska 2022 §3"
)
ACES_SCORE = Kind(
    "aces_score", "ACES score", "weighted Kendall-like τ of ten categories", better="up", paper="Amrhein 2022 §6"
)
