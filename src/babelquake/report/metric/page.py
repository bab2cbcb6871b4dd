"""The page of the metric study."""

from babelquake.report.judged import EXAMPLES
from babelquake.report.metric.charts import metric_views
from babelquake.report.metric.tables import metric_tables
from babelquake.report.metric.verdict import metric_verdict
from babelquake.report.page import Page

PAGE = Page(metric_tables, metric_verdict, metric_views, EXAMPLES, compared=("delta", "darr", "kendall_like"))
