"""The numbers of the metric study, beside those of agreement."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACES_SCORE as ACES_SCORE
from babelquake.studies.kinds import ACHIEVED_WORDS as ACHIEVED_WORDS
from babelquake.studies.kinds import DELTA as DELTA
from babelquake.studies.kinds import DETECTION_ACCURACY as DETECTION_ACCURACY
from babelquake.studies.kinds import SCORE as SCORE

SCORE_PERTURBED = Kind("score_perturbed", "score of the changed text", "score")
HARMLESS_COSTS_MORE = Kind(
    "harmless_costs_more",
    "harmless costs more than harmful",
    "% of segments",
    better="down",
    paper="Jwalapuram 2023 Table 4",
)
REWARDS_HARMFUL = Kind("rewards_harmful", "harmful change raises the score", "% of segments", better="down")
CHANGE_RATIO = Kind(
    "change_ratio",
    "loss beside that of an unrelated sentence",
    "share of an unrelated sentence's loss",
    paper="Karpinska 2022 §3",
)
BEST_OF = Kind("best_of", "gain of the best candidate", "sd of the judge's scores, against a random pick")
PICKED_HARMFUL = Kind(
    "picked_harmful", "picks that a change made worse", "% of picks that a change made worse", better="down"
)
UNKNOWN_TOKENS = Kind("unknown_tokens", "unknown tokens", "per segment", paper="Vu 2022 Figure 1")
UNK_SHARE = Kind("unk_share", "share of unknown tokens", "% of tokens", paper="Vu 2022 Table 4")
