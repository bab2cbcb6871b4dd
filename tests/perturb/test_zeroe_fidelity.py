"""Our five attacks beside the published attacked references of Vu et al. 2022 (WMT19 lt-en)."""

import csv
import gzip
from functools import cache
from pathlib import Path

import pytest

from babelquake.models.shipped import folder, shipped
from babelquake.perturb import Perturbation
from babelquake.scorers import scorer
from babelquake.stats.agreement import darr

LEVELS = (0.1, 0.2, 0.3)
PUBLISHED_DARR = {"visual": 0.270, "intrude": 0.293, "disemvowel": 0.279, "keyboard-typo": 0.292, "phonetic": 0.285}
"""chrF's agreement with the human better/worse pairs under the published references at 0.3."""


@cache
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def attacked(name: str, level: float, references: list[str], seed: int) -> list[str]:
    """Our attack; a reference it does not apply to stays."""
    change = Perturbation(name, level=level)
    return [
        changed if (changed := change.apply(text, lang="en", seed=seed)) is not None else text for text in references
    ]


def share_changed(before: list[str], after: list[str]) -> float:
    """Words between spaces that differ, over the references whose words can be paired."""
    pairs = [
        pair
        for one, other in zip(before, after, strict=True)
        if len(one.split()) == len(other.split())
        for pair in zip(one.split(), other.split(), strict=True)
    ]
    return sum(a != b for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PUBLISHED_DARR)
def test_as_many_words_change_as_in_the_published_references(shared_data: Path, name: str, level: float) -> None:
    folder = shared_data / "wmt19-darr" / "lt-en"
    references = lines(folder / "references.txt")
    published = share_changed(references, lines(folder / "attacked" / name / f"{level}.txt"))
    assert share_changed(references, attacked(name, level, references, seed=1)) == pytest.approx(published, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED_DARR)
def test_chrf_agrees_with_people_as_under_the_published_attack(shared_data: Path, name: str) -> None:
    folder = shared_data / "wmt19-darr" / "lt-en"
    references = attacked(name, 0.3, lines(folder / "references.txt"), seed=1)
    with gzip.open(folder / "darr.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    judged = [(int(row["segment"]), row[side]) for side in ("better", "worse") for row in rows]
    unique = list(dict.fromkeys(judged))
    scores = scorer("chrf").segments([text for _, text in unique], [references[segment] for segment, _ in unique], None)
    by_text = dict(zip(unique, scores, strict=True))
    all_scores = [by_text[key] for key in judged]
    assert float(darr(all_scores[: len(rows)], all_scores[len(rows) :])) == pytest.approx(
        PUBLISHED_DARR[name], abs=0.02
    )


@pytest.mark.parametrize("level", LEVELS)
def test_visual_makes_as_many_unknown_tokens_as_the_published_references(shared_data: Path, level: float) -> None:
    """Share of [UNK] among the tokens of an uncased WordPiece tokenizer; the published ones have 12.8, 23.0, 31.7 %."""
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers: pip install 'babelquake[neural]'")
    if "minilm-en" not in shipped():
        pytest.skip("needs the models that ship: pip install ./packages/models")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder("minilm-en") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def unknown(texts: list[str]) -> tuple[float, float]:
        tokens = [encoding.tokens for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
        count = sum(some.count("[UNK]") for some in tokens)
        return count / sum(map(len, tokens)), count / len(texts)

    place = shared_data / "wmt19-darr" / "lt-en"
    references = lines(place / "references.txt")
    share, each = unknown(attacked("visual", level, references, seed=1))
    published_share, published_each = unknown(lines(place / "attacked" / "visual" / f"{level}.txt"))
    assert share == pytest.approx(published_share, abs=0.015)
    assert each == pytest.approx(published_each, rel=0.05)
