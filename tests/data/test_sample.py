"""The bundled sample is as its README describes it."""

import re
from collections import Counter, defaultdict
from importlib.resources import files

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
