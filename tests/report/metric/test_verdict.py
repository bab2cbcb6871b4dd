"""The metric study's verdict claims nothing that was not tested."""

from pathlib import Path

import babelquake as bq
from babelquake.report.verdict import verdict

PAIRS = [("The dog sleeps.", "The dog is asleep."), ("He does not come.", "He is not coming.")]


def said(out: Path, perturbation: str) -> str:
    data = out.with_suffix(".en-en.tsv")
    rows = [f"{reference}\t{reference}\t{translation}" for reference, translation in PAIRS]
    data.write_text("\n".join(["source\treference\ttranslation", *rows]) + "\n", "utf-8")
    return " ".join(verdict(bq.metric(scorers="chrf", data=str(data), suite=perturbation, out=out)))


def test_too_few_segments_are_not_called_unmoved(tmp_path: Path) -> None:
    found = said(tmp_path / "few", "lower-words")
    assert "cannot be tested" in found and "does not move" not in found


def test_harmful_changes_alone_say_nothing_of_harmless_ones(tmp_path: Path) -> None:
    assert "not tested with any harmless change" in said(tmp_path / "harmful", "word-repeat")
