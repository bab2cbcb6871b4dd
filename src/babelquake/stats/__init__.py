"""Uncertainty and agreement: plain arrays and functions in, numbers out.

`resampling` and `bootstrap` give intervals for any function of summed statistics, `paired` and `ranks` compare two
systems, `corrections` adjust families of p-values, `agreement`, `kendall`, `tied_accuracy` and `permutation` measure
metrics against human judgements. Nothing here knows scorers, files or runs.
"""
