"""The numbers of the challenge study."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACES_SCORE as ACES_SCORE
from babelquake.studies.kinds import DETECTION_ACCURACY as DETECTION_ACCURACY
from babelquake.studies.kinds import SCORE as SCORE

OUTRANKS_ALL = Kind(
    "outranks_all",
    label="better translation ranked first",
    unit="% of sources whose better translation outranks every worse one",
    better="up",
)
SENSITIVITY = Kind(
    "sensitivity",
    label="loss of worse translations",
    unit="standard deviations by which worse translations score lower",
    better="up",
)
