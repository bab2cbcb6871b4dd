"""Searches for the small edits that a metric punishes too hard, or judges inconsistently (Huang & Baldwin 2023).

An attack on one sentence is a generator that asks (`requests`) and gets answers; it calls no model. Its parts are small
and replaceable: `victim`, `goal`, `constraints`, `moves`, `search`; `recipes` puts them together as the paper did.
"""
