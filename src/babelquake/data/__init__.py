"""Readers and writers for the field's formats, and the bundled sample."""

from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.formats import FORMATS, Format
from babelquake.data.joining import join
from babelquake.data.metrics_eval import metric_scores, segment_scores
from babelquake.data.python_data import Given, dataset
from babelquake.data.reading import read, require
from babelquake.data.streams import lines
from babelquake.data.writing import write

__all__ = [
    "FORMATS",
    "SCHEMA",
    "Dataset",
    "Format",
    "Given",
    "dataset",
    "join",
    "lines",
    "metric_scores",
    "read",
    "require",
    "segment_scores",
    "write",
]
