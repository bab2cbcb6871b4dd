"""Weights and cards of the models that ship with babelquake: one folder each, found by `babelquake.models.shipped`."""
