"""Challenge sets of the WMT evaluation task, as submitted and as returned with metrics' scores.

Submitted: `NAME/NAME.PAIR.src.txt`, `NAME.PAIR.hyp-1.txt` … and perhaps `.ref.txt` and `.meta.txt` (domain, document),
line by line; what the authors keep for themselves may lie beside it: `.internal` (a category a line) or `.key.tsv`
(columns `category`, `better`, `expected`), as `babelquake challenge build` writes it.

Returned: `NAME/{primary,secondary,baseline}/METRIC.tsv` with `segment_id`, `system_id`, languages and `overall`; the
texts are looked for under `1-submitted` beside the returned folder, and every metric's scores become a column of its
name. `FOLDER:PAIR` takes one language pair.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.data.dataset import Dataset, Request, join
from babelquake.data.metrics_eval import spelt_pair
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.streams import lines
from babelquake.data.table import Table, number, to_dataset
from babelquake.data.tsv_csv_xlsx import split_table
from babelquake.errors import UserError
from babelquake.languages import LanguagePair

SOURCE = ".src.txt"
HYPOTHESIS = re.compile(r"\.(hyp-?\d+)\.txt$")
RETURNED = ("segment_id", "source_lang", "target_lang", "system_id", "overall")
"""The columns of returned scores that are read."""
SUBMITTED = "1-submitted"
KEY = ".key.tsv"
KEY_COLUMNS = ("category", "better", "expected")
LINE = re.compile(r"\d+$")
"""The line of a source, with which its id ends."""


def is_challenge_set(what: str) -> bool:
    """Whether a folder, perhaps with a language pair behind a colon, holds a challenge set."""
    folder, _ = _parted(what)
    return bool(_sources(folder)) or (bool(_scores(folder)) and bool(_sources(_submitted(folder))))


def read_challenge_set(request: Request) -> Dataset:
    """One row per hypothesis; hypotheses are called as their files are."""
    folder, wanted = _parted(request.what)
    texts = folder if _sources(folder) else _submitted(folder)
    files = _sources(texts)
    if (asked := wanted or request.language_pair) is not None:
        wanted = spelt_pair(folder, asked, list(files))
    scores = _scores(folder) if texts != folder else {}
    parts = [_read(texts, pair, file, scores) for pair, file in files.items() if wanted in (None, pair)]
    return parts[0] if len(parts) == 1 else join(parts, one_set=True)


def _parted(what: str) -> tuple[Path, str | None]:
    folder, colon, pair = what.rpartition(":")
    return (Path(folder), pair) if colon and Path(folder).is_dir() else (Path(what), None)


def _sources(folder: Path) -> dict[str, Path]:
    """Language pair → its file of sources, of sets that have hypotheses."""
    found = {}
    for file in sorted(folder.glob(f"*{SOURCE}")) if folder.is_dir() else []:
        pair = file.name.removesuffix(SOURCE).rpartition(".")[2]
        if any(HYPOTHESIS.search(other.name) for other in folder.glob(f"{file.name.removesuffix(SOURCE)}.hyp*.txt")):
            found[pair] = file
    return found


def _submitted(returned: Path) -> Path:
    return returned.parent.parent / SUBMITTED / returned.name


def _read(folder: Path, pair: str, file: Path, scores: dict[str, Path]) -> Dataset:
    notes: list[str] = []
    start = file.name.removesuffix(SOURCE)
    sources = text_lines(file, notes)
    hypotheses = {}
    for other in sorted(folder.glob(f"{start}.hyp*.txt")):
        if found := HYPOTHESIS.search(other.name):
            hypotheses[found.group(1)] = text_lines(other, notes)
            same_length(file, sources, other, hypotheses[found.group(1)])
    count, copies = len(sources), len(hypotheses)
    columns: dict[str, Any] = {
        "id": [f"{start}:{line}" for line in range(1, count + 1)] * copies,
        "source": sources * copies,
        "translation": [text for texts in hypotheses.values() for text in texts],
        "system": [name for name in hypotheses for _ in sources],
        "language_pair": [pair] * (count * copies),
    }
    beside = {"reference": ".ref.txt", "meta": ".meta.txt", "category": ".internal"}
    if not (folder / f"{start}.meta.txt").is_file():
        beside["meta"] = ".meta.tsv"
    known = {name: folder / f"{start}{ending}" for name, ending in beside.items()}
    given = {name: text_lines(path, notes) for name, path in known.items() if path.is_file()}
    if "doc_id" in given.get("meta", [""])[0].split("\t"):
        del given["meta"][0]
    for name, texts in given.items():
        same_length(file, sources, known[name], texts)
    if "reference" in given:
        columns["reference"] = given["reference"] * copies
    if "meta" in given:
        columns["domain"] = [line.partition("\t")[0] for line in given["meta"]] * copies
        columns["document"] = [line.partition("\t")[2] for line in given["meta"]] * copies
    if "category" in given:
        columns["category"] = given["category"] * copies
    key = key_of(folder / f"{start}{KEY}", file, range(count))
    columns |= {name: [*told.values()] * copies for name, told in key.items()}
    for metric, path in scores.items():
        table = _returned(path).get(LanguagePair.known(pair) or pair, {})
        columns[metric] = [table.get((name, line)) for name in hypotheses for line in range(1, count + 1)]
    numbers = list(range(1, count + 1)) * copies
    return to_dataset(Table(str(file), f"{folder.name}:{pair}", columns, numbers, notes=notes))


def key_of(path: Path, file: Path, lines: Sequence[int]) -> dict[str, dict[int, str | None]]:
    """What the authors of a set know of each line: its category, which hypothesis is better, what is expected.

    Column → line → what it says; nothing where there is no key.
    """
    if not path.is_file():
        return {}
    header, *rows = (line.split("\t") for line in text_lines(path, []))
    if len(rows) != len(lines):
        raise UserError(f"{path} has {len(rows)} rows below its header where {file} has {len(lines)} lines.")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise UserError(f"{path} line {line}: {len(row)} columns where the header has {len(header)}.")
    places = {name: header.index(name) for name in KEY_COLUMNS if name in header}
    return {
        name: {line: row[place] or None for line, row in zip(lines, rows, strict=True)}
        for name, place in places.items()
    }


def read_returned(folder: str | Path, data: Dataset) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Returned scores of a set that was read: metric → a score per row of it, NaN where there is none.

    The folder has `METRIC.tsv`, perhaps in `primary`, `secondary` and `baseline`. A row of scores belongs to the
    hypothesis `system_id` of line `segment_id` of its language pair.
    """
    files = _scores(Path(folder))
    if not files:
        raise UserError(f"{folder} has no returned scores: expected METRIC.tsv with {', '.join(RETURNED)}.")
    rows = list(data.segments.select("id", "system", "language_pair").iter_rows())
    lines_of = [LINE.search(name) for name, _, _ in rows]
    for metric, file in files.items():
        found, values = _returned(file), []
        for (_, system, pair), line in zip(rows, lines_of, strict=True):
            score = found.get(pair, {}).get((system, int(line[0]))) if line else None
            values.append(np.nan if score is None else score)
        if np.isnan(values).all():
            raise UserError(f"{file}: no row belongs to a hypothesis of {data.name}, by language pair, line and name.")
        yield metric, np.array(values)


def _scores(folder: Path) -> dict[str, Path]:
    """Metric → its file of returned scores."""
    files = sorted([*folder.glob("*.tsv"), *folder.glob("*/*.tsv")]) if folder.is_dir() else []
    return {file.stem: file for file in files if set(RETURNED) <= set(next(lines(file), "").split("\t"))}


def _returned(file: Path) -> dict[str, dict[tuple[str, int], float | None]]:
    """A metric's scores: language pair → hypothesis and line → score."""
    table = split_table(file, RETURNED)
    found: dict[str, dict[tuple[str, int], float | None]] = {}
    for row, cells in enumerate(zip(*(table.columns[name] for name in RETURNED), strict=True)):
        segment, source, target, system, score = cells
        if segment.isdecimal():
            mine = found.setdefault(f"{source}-{target}", {})
            mine[system, int(segment)] = number(score, f"{table.where(row)}: overall")
    return {LanguagePair.known(pair) or pair: scores for pair, scores in found.items()}
