"""Every kind of number the studies make: its unit, which way is better, and the paper that defined it.

Percentages are as in the papers: ROBUST 94.0, not 0.94. Δ is "better is up" for every scorer: what an error rate gained
counts as a loss.
"""

from dataclasses import replace

from babelquake.runs.measures import Kind

QUALITY = Kind("quality", unit="score", better="up", paper="Niu 2020 §2")
QUALITY_PERTURBED = Kind("quality_perturbed", unit="score", better="up", paper="Niu 2020 §2")
DELTA = Kind("delta", unit="score, better is up", better="up", paper="Jwalapuram 2023 §3.1")
ROBUST = Kind("robust", unit="% of clean quality", better="up", needs="ratio scale", paper="Niu 2020 §2.1")
CONSIS = Kind("consis", unit="% agreement", better="up", needs="ratio scale", paper="Niu 2020 §2.2")
INCONSISTENT = Kind("inconsistent", unit="% of translations", better="down", paper="Jwalapuram 2023 §4.1")
RANK = Kind("rank", unit="rank, 1 is the sturdiest", better="down")
OVERALL_ROBUST = Kind("overall_robust", unit="% of clean quality, mean over perturbations", better="up")
OVERALL_CONSIS = Kind("overall_consis", unit="% agreement, mean over perturbations", better="up")
OVERALL_DELTA = Kind("overall_delta", unit="score, better is up, mean over perturbations", better="up")
OVERALL_RANK = Kind("overall_rank", unit="mean rank over perturbations, 1 is the sturdiest", better="down")
ROBUST_CONSIS = Kind("robust_consis_correlation", unit="Pearson's r", paper="Niu 2020 Figure 1")

SCORE = Kind("score", unit="score")
SCORE_PERTURBED = Kind("score_perturbed", unit="score")
HARMLESS_COSTS_MORE = Kind("harmless_costs_more", unit="% of segments", better="down", paper="Jwalapuram 2023 Table 4")
DETECTION_ACCURACY = Kind("detection_accuracy", unit="% of triples", better="up", paper="Karpinska 2022 §3")
CHANGE_RATIO = Kind("change_ratio", unit="share of an unrelated sentence's loss", paper="Karpinska 2022 §3")
UNKNOWN_TOKENS = Kind("unknown_tokens", unit="per segment", paper="Vu 2022 Figure 1")
UNK_SHARE = Kind("unk_share", unit="% of tokens", paper="Vu 2022 Table 4")

DARR = Kind("darr", unit="Kendall-like τ on better/worse pairs", better="up", paper="Vu 2022 §3")
KENDALL_LIKE = Kind("kendall_like", unit="Kendall-like τ", better="up", paper="Vu 2022 §3")
PEARSON = Kind("pearson", unit="Pearson's r", better="up")
SPEARMAN = Kind("spearman", unit="Spearman's ρ", better="up")
KENDALL = Kind("kendall", unit="Kendall's τ", better="up")
ACCURACY = Kind("accuracy", unit="pairwise accuracy with tie calibration", better="up", paper="Deutsch 2023")

SCORE_MT = Kind("score_mt", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MPP = Kind("score_mpp", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MAP = Kind("score_map", unit="score", paper="Kanojia 2021 Table 4")
DROP = Kind("drop", unit="score lost", paper="Kanojia 2021 Figure 1")
DISCRIMINATION = Kind("discrimination", unit="score, MPP − MAP", better="up", paper="Kanojia 2021 §6.3")
DISCRIMINATION_STANDARDISED = Kind("discrimination_standardised", unit="sd of the model's scores", better="up")
MPP_MINUS_MAP = Kind("mpp_minus_map", unit="difference of score drops", better="down", paper="Kanojia 2021 Figure 2")
RANK_MPP_MINUS_MAP = Kind("rank_mpp_minus_map", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_AGREEMENT_RAW = Kind("rank_agreement_raw", unit="Kendall's τ", better="up", paper="Kanojia 2021 §6.3")
RANK_DISCRIMINATION = Kind("rank_discrimination", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_PEARSON = Kind("rank_pearson", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_AGREEMENT = Kind("rank_agreement", unit="Kendall's τ", better="up", paper="Kanojia 2021 §6.3")

AGREEMENTS = {kind.name: kind for kind in (DARR, KENDALL_LIKE, PEARSON, SPEARMAN, KENDALL, ACCURACY)}


def changed(kind_of_change: str) -> Kind:
    """The share of translations that changed in a certain way: `changed_negation`."""
    return Kind(f"changed_{kind_of_change}", unit="% of translations")


def over_changed(kind: Kind) -> Kind:
    """The same number over the texts that the perturbation really changed: `robust` → `robust_changed`."""
    return replace(kind, name=f"{kind.name}_changed", unit=f"{kind.unit}, changed texts only")
