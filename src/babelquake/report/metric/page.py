"""The metric study's page."""

from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.metric.charts import metric_views
from babelquake.report.metric.tables import metric_tables
from babelquake.report.page import Page

PAGE = Page(metric_tables, metric_views, EXAMPLES, compared=("delta", "darr", "kendall_like"))
