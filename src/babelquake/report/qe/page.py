"""The QE study's page."""

from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.page import Page
from babelquake.report.qe.charts import qe_views
from babelquake.report.qe.tables import qe_tables

PAGE = Page(qe_tables, qe_views, EXAMPLES, compared=("drop",))
