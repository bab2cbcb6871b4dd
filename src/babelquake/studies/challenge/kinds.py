"""The numbers of the challenge study."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACES_SCORE as ACES_SCORE
from babelquake.studies.kinds import DETECTION_ACCURACY as DETECTION_ACCURACY
from babelquake.studies.kinds import SCORE as SCORE

OUTRANKS_ALL = Kind(
    "outranks_all",
    "better translation ranked first",
    "% of sources whose better translation outranks every worse one",
    better="up",
)
SENSITIVITY = Kind(
    "sensitivity",
    "loss of worse translations",
    "standard deviations by which worse translations score lower",
    better="up",
)
