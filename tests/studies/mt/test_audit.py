"""What a test set looks like before anything is translated."""

import polars as pl

from babelquake.data.dataset import SCHEMA
from babelquake.studies.mt.study import audit


def segments(rows: list[tuple[str | None, list[str] | None]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [str(number) for number in range(len(rows))],
            "source": [source for source, _ in rows],
            "references": [references for _, references in rows],
            "language_pair": ["de-en"] * len(rows),
        },
        schema={name: SCHEMA[name] for name in ("id", "source", "references", "language_pair")},
    )


def test_shares_in_per_cent() -> None:
    found = audit(
        segments(
            [
                ("Gut.", ["Good."]),
                ("Gut", ["Good."]),
                ("Gut?", ["Good!", "Good?"]),
                ("良い。", ["Good."]),
                ("Τι κάνεις;", ["How are you?"]),
                ("« Bon. »", ["Good."]),
                ("Gut.", None),
                ("  ", ["Good."]),
            ]
        )
    )
    assert found.model_dump() == {
        "segments": 8,
        "mismatched_endings": 33.333,
        "duplicate_sources": 12.5,
        "blank_sources": 12.5,
        "endings": {"none": 2, "question": 2, "stop": 4},
    }


def test_without_references_there_is_nothing_to_mismatch() -> None:
    found = audit(segments([("Gut.", None), (None, [])]))
    assert found.mismatched_endings is None and found.blank_sources == 50
