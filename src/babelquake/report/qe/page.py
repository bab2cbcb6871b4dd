"""The page of the QE study."""

from babelquake.report.judged import EXAMPLES
from babelquake.report.page import Page
from babelquake.report.qe.charts import qe_views
from babelquake.report.qe.tables import qe_tables
from babelquake.report.qe.verdict import qe_verdict

PAGE = Page(qe_tables, qe_verdict, qe_views, EXAMPLES, compared=("drop",))
