"""The numbers of the QE study."""

from babelquake.runs.measures import Kind
from babelquake.studies.agreement import PEARSON as PEARSON

SCORE_MT = Kind("score_mt", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MPP = Kind("score_mpp", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MAP = Kind("score_map", unit="score", paper="Kanojia 2021 Table 4")
DROP = Kind("drop", unit="score lost", paper="Kanojia 2021 Figure 1")
DISCRIMINATION = Kind("discrimination", unit="score, MPP − MAP", better="up", paper="Kanojia 2021 §6.3")
DISCRIMINATION_STANDARDISED = Kind("discrimination_standardised", unit="sd of the model's scores", better="up")
MPP_MINUS_MAP = Kind("mpp_minus_map", unit="difference of score drops", better="down", paper="Kanojia 2021 Figure 2")
ORDERED_RIGHT = Kind("ordered_right", unit="% of segments", better="up", paper="Kanojia 2021 §5")
RANK_MPP_MINUS_MAP = Kind("rank_mpp_minus_map", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_AGREEMENT_RAW = Kind("rank_agreement_raw", unit="Kendall's τ", better="up", paper="Kanojia 2021 §6.3")
RANK_DISCRIMINATION = Kind("rank_discrimination", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_PEARSON = Kind("rank_pearson", unit="rank", better="down", paper="Kanojia 2021 Figure 2")
RANK_AGREEMENT = Kind("rank_agreement", unit="Kendall's τ", better="up", paper="Kanojia 2021 §6.3")
