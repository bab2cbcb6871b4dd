"""The bundled sample, sacreBLEU's test sets, and ACES."""

import re
from collections import Counter, defaultdict
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from babelquake.data import read
from babelquake.data.published_sets import WEIGHTS, category_of
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.studies.challenge.study import challenge
from babelquake.studies.metric.study import metric

SAMPLE = files("babelquake") / "data" / "sample"
NEGATION = re.compile(r"\b(nicht|nichts|kein\w*|nie|niemals|niemand\w*|ohne|weder)\b", re.IGNORECASE)
SYSTEMS = ("alder", "birch", "cedar")


def rows(name: str) -> list[dict[str, str]]:
    """The rows of one sample file by column name; a row of the wrong width is an error."""
    header, *lines = (SAMPLE / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def ending(text: str) -> str:
    return text[-1] if text[-1] in ".!?…«" else "none"


def test_segments_are_complete_and_unique() -> None:
    segments = rows("de-en.tsv")
    assert 290 <= len(segments) <= 310
    assert list(segments[0]) == ["id", "source", "reference", "topic"]
    for column in ("id", "source", "reference"):
        assert len({segment[column] for segment in segments}) == len(segments), column
    assert all(value and value == value.strip() for segment in segments for value in segment.values())


def test_endings_are_varied_and_agree_across_languages() -> None:
    segments = rows("de-en.tsv")
    share = {mark: count / len(segments) for mark, count in Counter(ending(s["source"]) for s in segments).items()}
    assert 0.55 <= share["."] <= 0.70
    assert min(share["!"], share["?"], share["none"]) >= 0.05
    for segment in segments:
        assert ending(segment["source"]).replace("«", "none") == ending(segment["reference"]), segment["id"]


def test_segments_hold_what_the_perturbations_need() -> None:
    segments = rows("de-en.tsv")
    assert sum(bool(NEGATION.search(segment["source"])) for segment in segments) >= 60
    assert sum(bool(re.search(r"\d", segment["source"])) for segment in segments) >= 60
    lengths = [len(segment["source"].split()) for segment in segments]
    assert sum(length <= 6 for length in lengths) >= 30
    assert sum(length >= 28 for length in lengths) >= 15


def test_a_number_in_the_source_is_in_the_reference() -> None:
    for segment in rows("de-en.tsv"):
        hours = re.search(r"\d Uhr", segment["source"])
        if hours is None:
            numbers = (re.findall(r"\d+", segment[column]) for column in ("source", "reference"))
            assert len({tuple(sorted(found)) for found in numbers}) == 1, segment["id"]


def test_a_hundred_segments_have_three_different_rated_translations() -> None:
    known = {segment["id"] for segment in rows("de-en.tsv")}
    translations = rows("translations.tsv")
    assert list(translations[0]) == ["id", "system", "translation", "score"]
    by_segment: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in translations:
        by_segment[row["id"]].append(row)
    assert len(by_segment) == 100
    assert set(by_segment) <= known
    for identifier, candidates in by_segment.items():
        assert tuple(row["system"] for row in candidates) == SYSTEMS, identifier
        assert len({row["translation"] for row in candidates}) == len(SYSTEMS), identifier
        assert all(0 <= int(row["score"]) <= 100 for row in candidates), identifier


def test_each_system_wins_somewhere() -> None:
    best: dict[str, tuple[int, str]] = {}
    for row in rows("translations.tsv"):
        best[row["id"]] = max(best.get(row["id"], (-1, "")), (int(row["score"]), row["system"]))
    winners = Counter(system for _, system in best.values())
    assert set(winners) == set(SYSTEMS)
    assert winners["alder"] > winners["birch"] > winners["cedar"]


PHENOMENA = {
    "addition": 1,
    "omission": 0.5,
    "hallucination-number-level-2": 1,
    "lexical-overlap": 0,
    "copy-source": 0.5,
    "do-not-translate": 1,
    "hyponym-replacement": 0,
    "hypernym-replacement": 1,
    "commonsense-only-ref-ambiguous": 0.5,
    "similar-language-low": 1,
    "punctuation:deletion_all": 0.5,
}
"""Phenomenon → in how many of its four items the good translation equals the reference."""


def written(folder: Path) -> Path:
    lines = ["source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair"]
    for place, (name, share) in enumerate(PHENOMENA.items()):
        for item in range(4):
            right, wrong = f"A good text {place} {item}.", f"Something else, {place}."
            texts = (right, wrong) if item < 4 * share else (wrong, right)
            lines.append(f"Quelle {place} {item}\t{texts[0]}\t{texts[1]}\t{right}\t{name}\tde-en")
    file = folder / "aces.tsv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_aces_is_read_as_a_challenge_set(tmp_path: Path) -> None:
    data = read(str(written(tmp_path)))
    assert data.segments.height == 44 and data.segments["language_pair"].unique().to_list() == ["de-en"]
    assert data.segments["phenomenon"].n_unique() == len(PHENOMENA)
    assert {"translation", "translation_perturbed"} <= set(data.segments.columns)


def test_the_score_is_aces_own(tmp_path: Path) -> None:
    """5 × addition + … as `comp_aces_score` adds up the means of τ over the phenomena of a category."""
    run = metric(
        scorers=["chrf"], data=str(written(tmp_path)), out=tmp_path / "run", resamples=100, engine=Engine(quiet=True)
    )
    taus: dict[str, list[float]] = {}
    for name, share in PHENOMENA.items():
        taus.setdefault(str(category_of(name)), []).append(2 * share - 1)
    expected = sum(WEIGHTS[category] * np.mean(some) for category, some in taus.items())
    assert run.measures.filter(measure="aces_score")["value"].item() == pytest.approx(expected)
    assert sum(WEIGHTS.values()) == pytest.approx(29.1)


def test_a_part_of_aces_has_no_score(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text("\n".join(line for line in file.read_text().splitlines() if "punctuation:" not in line) + "\n")
    run = metric(scorers=["chrf"], data=str(file), out=tmp_path / "run", resamples=100, engine=Engine(quiet=True))
    assert "aces_score" not in run.measures["measure"].to_list()


def test_scores_of_aces_own_tool_stand_beside_the_texts(tmp_path: Path) -> None:
    """`METRIC-good` and `METRIC-bad` as its command writes them: the same score as by its formula, ties discordant."""
    header, *rows = written(tmp_path).read_text().splitlines()
    lines = [f"{header}\tMine-good\tMine-bad\tTied-good\tTied-bad"]
    shares = iter([item < 4 * share for share in PHENOMENA.values() for item in range(4)])
    lines += [f"{row}\t{2 if next(shares) else 0}\t1\t0.5\t0.5" for row in rows]
    file = tmp_path / "aces.scored.tsv"
    file.write_text("\n".join(lines) + "\n")
    run = challenge(data=str(file), out=tmp_path / "run", resamples=100, engine=Engine(quiet=True))
    taus: dict[str, list[float]] = {}
    for name, share in PHENOMENA.items():
        taus.setdefault(str(category_of(name)), []).append(2 * share - 1)
    expected = sum(WEIGHTS[category] * np.mean(some) for category, some in taus.items())
    scores = dict(run.measures.filter(measure="aces_score").select("scorer", "value").rows())
    assert scores == pytest.approx({"Mine": expected, "Tied": -29.1})
    of_phenomenon = run.measures.filter(measure="detection_accuracy", scorer="Mine", perturbation="omission")
    assert of_phenomenon["value"].item() == 50


def test_a_set_without_scores_asks_for_some(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="returned="):
        challenge(data=str(written(tmp_path)), out=tmp_path / "run", engine=Engine(quiet=True))
