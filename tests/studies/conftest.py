"""Small data sets for the metric and the QE study."""

from collections.abc import Callable
from pathlib import Path

import pytest

from babelquake.data import Dataset, read

SEGMENTS = [
    ("Der Zug fährt heute nicht nach Hamburg.", "The train does not go to Hamburg today.", 92),
    ("Drei Minister treten zurück", "Three ministers resign", 75),
    ("Der Preis stieg um 12 Prozent.", "The price rose by 12 per cent.", 88),
    ("Kommst du morgen?", "Are you coming tomorrow?", 71),
    ("Was für ein Tag!", "What a day!", 40),
    ("Sie sagte, sie habe nichts gewusst.", "She said that she had never known anything.", 95),
    ("Das Haus am See ist alt.", "The house by the lake is old.", 70),
    ("Er kauft ein Auto", "He is buying a car", 69.9),
]
"""Source, translation, human score."""

Write = Callable[..., Dataset]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Rows into a TSV file, read back as a data set."""

    def written(columns: str, rows: list[tuple[object, ...]], name: str = "news.de-en.tsv") -> Dataset:
        lines = ["\t".join(columns.split()), *("\t".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
        return read(str(tmp_path / name))

    return written


@pytest.fixture
def judged(write: Write) -> Dataset:
    """Translations with human scores: six of the eight have 70 or more."""
    return write("source translation score", list(SEGMENTS))
