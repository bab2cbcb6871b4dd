"""Readers and writers for the field's formats, and the bundled sample."""

from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.metrics_eval import segment_scores
from babelquake.data.reading import FORMATS, Given, dataset, read, require
from babelquake.data.streams import lines
from babelquake.data.writing import write

__all__ = [
    "FORMATS",
    "SCHEMA",
    "Dataset",
    "Given",
    "dataset",
    "lines",
    "read",
    "require",
    "segment_scores",
    "write",
]
