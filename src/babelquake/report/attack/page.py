"""The page of the attack study."""

from babelquake.report.attack.charts import attack_views
from babelquake.report.attack.examples import EXAMPLES
from babelquake.report.attack.tables import attack_tables
from babelquake.report.attack.verdict import attack_verdict
from babelquake.report.page import Page

PAGE = Page(attack_tables, attack_verdict, attack_views, EXAMPLES, compared=("success",))
