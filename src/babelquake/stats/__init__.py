"""Uncertainty and agreement: plain arrays and functions in, numbers out. Nothing here knows scorers, files or runs.

- `resampling`, `bootstrap`: intervals for any function of summed statistics
- `paired`, `ranks`: is one system better than another?
- `corrections`: families of p-values
- `agreement`, `kendall`, `accuracy`: metrics against human judgements, grouped as in `groups`
- `agreement_errors`, `permutation`: the uncertainty of an agreement, and of the difference of two
"""
