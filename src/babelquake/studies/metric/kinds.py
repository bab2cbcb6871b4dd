"""The numbers of the metric study, beside those of agreement."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACHIEVED_WORDS as ACHIEVED_WORDS
from babelquake.studies.kinds import DELTA as DELTA
from babelquake.studies.kinds import DETECTION_ACCURACY as DETECTION_ACCURACY
from babelquake.studies.kinds import SCORE as SCORE

SCORE_PERTURBED = Kind("score_perturbed", unit="score")
HARMLESS_COSTS_MORE = Kind("harmless_costs_more", unit="% of segments", better="down", paper="Jwalapuram 2023 Table 4")
REWARDS_HARMFUL = Kind("rewards_harmful", unit="% of segments", better="down")
ACES_SCORE = Kind("aces_score", unit="weighted Kendall-like τ of ten categories", better="up", paper="Amrhein 2022 §6")
CHANGE_RATIO = Kind("change_ratio", unit="share of an unrelated sentence's loss", paper="Karpinska 2022 §3")
BEST_OF = Kind("best_of", unit="sd of the judge's scores, against a random pick")
PICKED_HARMFUL = Kind("picked_harmful", unit="% of picks that a change made worse", better="down")
UNKNOWN_TOKENS = Kind("unknown_tokens", unit="per segment", paper="Vu 2022 Figure 1")
UNK_SHARE = Kind("unk_share", unit="% of tokens", paper="Vu 2022 Table 4")
