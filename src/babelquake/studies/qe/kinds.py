"""The numbers of the QE study."""

from babelquake.runs.measures import Kind
from babelquake.studies.agreement import PEARSON as PEARSON

SCORE_MT = Kind("score_mt", label="score of the translation", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MPP = Kind("score_mpp", label="score after harmless changes", unit="score", paper="Kanojia 2021 Table 4")
SCORE_MAP = Kind("score_map", label="score after harmful changes", unit="score", paper="Kanojia 2021 Table 4")
DROP = Kind("drop", label="score lost", unit="score lost", paper="Kanojia 2021 Figure 1")
DISCRIMINATION = Kind(
    "discrimination",
    label="harmless above harmful changes",
    unit="score, MPP − MAP",
    better="up",
    paper="Kanojia 2021 §6.3",
)
DISCRIMINATION_STANDARDISED = Kind(
    "discrimination_standardised",
    label="harmless above harmful changes, in standard deviations",
    unit="sd of the model's scores",
    better="up",
)
MPP_MINUS_MAP = Kind(
    "mpp_minus_map",
    label="loss by harmless less loss by harmful changes",
    unit="difference of score drops",
    better="down",
    paper="Kanojia 2021 Figure 2",
)
ORDERED_RIGHT = Kind(
    "ordered_right",
    label="harmful changes scored below harmless ones",
    unit="% of segments",
    better="up",
    paper="Kanojia 2021 §5",
)
RANK_MPP_MINUS_MAP = Kind(
    "rank_mpp_minus_map", label="rank by the two losses", unit="rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_AGREEMENT_RAW = Kind(
    "rank_agreement_raw",
    label="agreement of that rank with people's",
    unit="Kendall's τ",
    better="up",
    paper="Kanojia 2021 §6.3",
)
RANK_DISCRIMINATION = Kind(
    "rank_discrimination", label="rank without human labels", unit="rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_PEARSON = Kind(
    "rank_pearson", label="rank by agreement with people", unit="rank", better="down", paper="Kanojia 2021 Figure 2"
)
RANK_AGREEMENT = Kind(
    "rank_agreement", label="agreement of the two rankings", unit="Kendall's τ", better="up", paper="Kanojia 2021 §6.3"
)
