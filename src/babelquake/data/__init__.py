"""Readers and writers for the field's formats, and the bundled sample."""

from babelquake.data.dataset import SCHEMA, Dataset

__all__ = ["SCHEMA", "Dataset"]
