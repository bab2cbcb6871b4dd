"""Agreement with human judgements, by every definition the field uses."""

from babelquake.runs.measures import Kind

DARR = Kind("darr", unit="Kendall-like τ on better/worse pairs", better="up", paper="Vu 2022 §3")
KENDALL_LIKE = Kind("kendall_like", unit="Kendall-like τ", better="up", paper="Vu 2022 §3")
PEARSON = Kind("pearson", unit="Pearson's r", better="up")
SPEARMAN = Kind("spearman", unit="Spearman's ρ", better="up")
KENDALL = Kind("kendall", unit="Kendall's τ", better="up")
ACCURACY = Kind("accuracy", unit="pairwise accuracy with tie calibration", better="up", paper="Deutsch 2023")
AGREEMENTS = {kind.name: kind for kind in (DARR, KENDALL_LIKE, PEARSON, SPEARMAN, KENDALL, ACCURACY)}
