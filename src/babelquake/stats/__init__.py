"""Uncertainty and agreement: plain arrays and functions in, numbers out. Nothing here knows scorers, files or runs.

- `resampling`, `bootstrap`: chance keyed by segment; intervals for any function of summed statistics, on all cores
- `units`: rows by segment; `intervals`: by formula, where nothing is drawn
- `pvalues`, `testing`, `skewness`: one p-value, and the test that is honest for its number of segments
- `families`: several tests corrected together by step-down max-T
- `paired`: single comparisons of two sides; `ranks`: rank tests, clusters of systems that they give, and what it would
  take to tell these apart; `superiority`: rank tests within a family
- `agreement`, `kendall`, `accuracy`: metrics against human judgements, grouped as in `groups`
- `raters`: people against each other
- `agreement_bootstrap`, `rank_bootstrap`: the uncertainty of an agreement
"""
