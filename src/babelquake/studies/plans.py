"""`bq.plan.mt(…)`: what a study with these options will do, before it does it; the same arguments as `bq.mt(…)`."""

from babelquake.studies.attack import AttackOptions
from babelquake.studies.attack.study import plan as _attack
from babelquake.studies.challenge import ChallengeOptions
from babelquake.studies.challenge.study import plan as _challenge
from babelquake.studies.check import CheckOptions
from babelquake.studies.check.study import plan as _check
from babelquake.studies.correlate import CorrelateOptions
from babelquake.studies.correlate.study import plan as _correlate
from babelquake.studies.human import HumanOptions
from babelquake.studies.human.study import plan as _human
from babelquake.studies.metric import MetricOptions
from babelquake.studies.metric.study import plan as _metric
from babelquake.studies.mt import MtOptions
from babelquake.studies.mt.study import plan as _mt
from babelquake.studies.options import takes
from babelquake.studies.qe import QeOptions
from babelquake.studies.qe.study import plan as _qe

__all__ = ["attack", "challenge", "check", "correlate", "human", "metric", "mt", "qe"]

attack = takes(AttackOptions)(_attack)
challenge = takes(ChallengeOptions)(_challenge)
check = takes(CheckOptions)(_check)
correlate = takes(CorrelateOptions)(_correlate)
human = takes(HumanOptions)(_human)
metric = takes(MetricOptions)(_metric)
mt = takes(MtOptions)(_mt)
qe = takes(QeOptions)(_qe)
