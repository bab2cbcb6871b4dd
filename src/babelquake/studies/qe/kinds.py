"""The numbers of the QE study."""

from babelquake.runs.measures import Kind
from babelquake.studies.agreement import PEARSON as PEARSON

SCORE_MT = Kind("score_mt", "score of the translation", "score", paper="Kanojia 2021 Table 4")
SCORE_MPP = Kind("score_mpp", "score after harmless changes", "score", paper="Kanojia 2021 Table 4")
SCORE_MAP = Kind("score_map", "score after harmful changes", "score", paper="Kanojia 2021 Table 4")
DROP = Kind("drop", "score lost", "score lost", paper="Kanojia 2021 Figure 1")
DISCRIMINATION = Kind(
    "discrimination", "harmless above harmful changes", "score, MPP − MAP", better="up", paper="Kanojia 2021 §6.3"
)
DISCRIMINATION_STANDARDISED = Kind(
    "discrimination_standardised",
    "harmless above harmful changes, in standard deviations",
    "sd of the model's scores",
    better="up",
)
MPP_MINUS_MAP = Kind(
    "mpp_minus_map",
    "loss by harmless less loss by harmful changes",
    "difference of score drops",
    better="down",
    paper="Kanojia 2021 Figure 2",
)
ORDERED_RIGHT = Kind(
    "ordered_right", "harmful changes scored below harmless ones", "% of segments", better="up", paper="Kanojia 2021 §5"
)
RANK_MPP_MINUS_MAP = Kind(
    "rank_mpp_minus_map", "rank by the two losses", "rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_AGREEMENT_RAW = Kind(
    "rank_agreement_raw", "agreement of that rank with people's", "Kendall's τ", better="up", paper="Kanojia 2021 §6.3"
)
RANK_DISCRIMINATION = Kind(
    "rank_discrimination", "rank without human labels", "rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_PEARSON = Kind(
    "rank_pearson", "rank by agreement with people", "rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_AGREEMENT = Kind(
    "rank_agreement", "agreement of the two rankings", "Kendall's τ", better="up", paper="Kanojia 2021 §6.3"
)
