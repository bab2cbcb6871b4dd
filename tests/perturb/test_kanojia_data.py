"""Kanojia's probes on the data the paper used (WMT20 QE, high-quality segments of dev and test)."""

from pathlib import Path

import pytest

from babelquake.data import read
from babelquake.perturb import Perturbation
from babelquake.text import words


def good(data: Path, pair: str) -> list[str]:
    files = [str(data / "mlqe-pe" / f"{part}.{pair}.df.short.tsv") for part in ("dev", "test20")]
    segments = read(files).segments
    return segments.filter(segments["score"] >= 70)["translation"].to_list()


@pytest.mark.parametrize(("pair", "found"), [("ruen", 161), ("eten", 107), ("neen", 3)])
def test_map1_applies_to_as_many_segments_as_in_the_paper(shared_data: Path, pair: str, found: int) -> None:
    """161 and 107 as published; of Nepali the paper says 4."""
    change = Perturbation("negation-remove")
    assert sum(change.apply(text, lang="en") is not None for text in good(shared_data, pair)) == found


def test_mpp5_and_mpp6_change_as_many_tokens_as_the_authors_did(shared_data: Path) -> None:
    """48 % of the tokens in upper case; 9.5 % in lower case. Tokens of spaCy are words and punctuation marks."""
    texts = good(shared_data, "ruen")
    for name, published in (("upper-words", 0.48), ("lower-words", 0.095)):
        change, changed, total = Perturbation(name), 0, 0
        for text in texts:
            pairs = list(zip(words(text), words(change.apply(text, lang="en") or text), strict=True))
            changed += sum(old.text != new.text for old, new in pairs)
            total += len(pairs)
        assert changed / total == pytest.approx(published, abs=0.02)
