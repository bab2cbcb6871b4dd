"""What a run was made with and what a command says now, in words."""

import pytest

from babelquake.runs.differing import differing

MADE = {"data": ["a.tsv#11"], "seed": 0, "suite": "everyday", "limit": None}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({}, ""),
        ({"seed": 7}, "was made with --seed 0; this command says --seed 7"),
        ({"limit": 5}, "was made with no --limit; this command says --limit 5"),
        ({"data": ["b.tsv#22"]}, "was made with --data a.tsv#11; this command says --data b.tsv#22"),
        ({"data": ["a.tsv#22"]}, "was made with other segments of a.tsv: they have changed, or the options that "),
        ({"by": ["x" * 80]}, "was made with no --by; this command says --by " + "x" * 59 + "…"),
    ],
)
def test_the_first_difference_is_said(now: dict[str, object], words: str) -> None:
    said = differing(MADE, MADE | now)
    assert said.startswith(words) and bool(said) == bool(words)


def test_an_option_that_is_gone_is_a_difference() -> None:
    assert differing(MADE | {"by": "year"}, MADE) == "was made with --by year; this command says no --by"
