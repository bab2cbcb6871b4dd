"""MTNT (Michel and Neubig 2018): noisy sentences of social media with translations, as published.

TSV without a header or quoting: `train|valid|test.SOURCE-TARGET.tsv` has number, source and translation; the test set
of 2019, `SOURCE-TARGET.final.tsv`, has one more column between number and source.
"""

import re

from babelquake.data.dataset import Dataset
from babelquake.data.request import Request
from babelquake.data.streams import label, lines, stem
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError
from babelquake.languages import LanguagePair

NAME = re.compile(r"(?:(?:train|valid|test)\.)?([a-z]{2}-[a-z]{2})(?:\.final)?\.tsv(?:\.gz|\.xz|\.bz2)?$")
WIDTHS = (3, 4)


def is_mtnt(what: str) -> bool:
    """Whether a file has one of MTNT's names and its first line a number, a source and a translation."""
    found = NAME.search(what.replace("\\", "/").rpartition("/")[2])
    if not found:
        return False
    cells = next(lines(what), "").split("\t")
    return len(cells) in WIDTHS and cells[0].isdecimal()


def read_mtnt(request: Request) -> Dataset:
    """Sources and references, each with the data set's own number."""
    notes: list[str] = []
    ids, sources, references, numbers = [], [], [], []
    for number, line in enumerate(lines(request.path, notes), start=1):
        cells = line.split("\t")
        if len(cells) not in WIDTHS:
            where = f"{label(request.path)} line {number}"
            raise UserError(f"{where}: {len(cells)} columns. Expected number, source and target.")
        ids.append(cells[0])
        sources.append(cells[-2])
        references.append(cells[-1])
        numbers.append(number)
    found = NAME.search(request.path.name)
    pair = LanguagePair(found.group(1)) if found else None
    columns = {"id": ids, "source": sources, "reference": references}
    table = Table(label(request.path), stem(request.path), dict(columns), numbers, notes=notes)
    return to_dataset(table, None, request.language_pair, pair)
