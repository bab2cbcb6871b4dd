"""Uncertainty and agreement: plain arrays and functions in, numbers out. Nothing here knows scorers, files or runs.

- `resampling`, `bootstrap`: chance keyed by segment; intervals for any function of summed statistics, on all cores
- `intervals`: by formula, where nothing is drawn
- `pvalues`, `testing`: one p-value, and the test of two sides that is honest for its number of segments
- `families`: several tests corrected together by step-down max-T
- `ranks`: rank tests, clusters of systems that they give, and what it would take to tell these apart
- `agreement`, `agreement_bootstrap`: metrics against human judgements, and the uncertainty of that
- `reliability`: people against each other, prompts against each other, marked errors against marked errors
"""
