"""The MT study's page."""

from babelquake.report.mt.charts import mt_lead, mt_views
from babelquake.report.mt.examples import EXAMPLES
from babelquake.report.mt.tables import mt_tables
from babelquake.report.page import Page
from babelquake.report.remedies import against_noise

PAGE = Page(
    mt_tables,
    mt_views,
    EXAMPLES,
    views_by="Judged by",
    lead=mt_lead,
    compared=("robust", "consis", "inconsistent"),
    advice=against_noise,
)
