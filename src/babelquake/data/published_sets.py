"""Data sets with a name or a layout of their own: the sample, sacreBLEU's, MTNT, MLQE-PE, ACES and DEMETR.

- MTNT (Michel and Neubig 2018): noisy sentences of social media with translations, TSV without a header or quoting:
  `train|valid|test.SOURCE-TARGET.tsv` has number, source and translation; the test set of 2019,
  `SOURCE-TARGET.final.tsv`, has one more column between number and source.
- MLQE-PE (Fomicheva et al. 2022): direct assessments for quality estimation, as TSV without quoting. `mean` (0–100, of
  the annotators) becomes the score; `z_mean` and `model_scores` (the NMT model's log-probability) are kept, and
  `scores` and `z_scores` as lists of numbers.
- ACES (Amrhein et al. 2022): translations beside incorrect ones, by phenomenon, and its weighted score. A TSV file with
  `source`, `good-translation`, `incorrect-translation`, `reference`, `phenomena` and perhaps `langpair`; a file that
  ACES's own tool scored has `METRIC-good` and `METRIC-bad` for every metric too.
- DEMETR (Karpinska et al. 2022): translations with one error each, a JSON list.
"""

import re
from copy import copy
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset, Request
from babelquake.data.json_and_parquet import json_lines, json_list, objects_table
from babelquake.data.streams import existing, label, lines, only_file, stem, suffix
from babelquake.data.table import Table, Values, dataset_of, numbers, to_dataset
from babelquake.data.tsv_csv_xlsx import split_table, tsv_table
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.languages import LanguagePair, language_named
from babelquake.limits import json_of
from babelquake.paths import table_of_room
from babelquake.resource import SETTINGS

SAMPLES = ("sample", "sample:rated")
SACREBLEU = "sacrebleu:"


def read_sample(request: Request) -> Dataset:
    """`sample`: source and reference; `sample:rated`: the translations with the authors' own ratings."""
    if request.what not in SAMPLES:
        raise UserError(f"no bundled data set is called '{request.what}'. {did_you_mean(request.what, SAMPLES)}")
    with as_file(files("babelquake.data") / "sample") as folder:
        segments = split_table(folder / "de-en.tsv", ("id", "source", "reference"))
        table = segments
        if request.what == "sample:rated":
            rated = split_table(folder / "translations.tsv", ("id", "system", "translation", "score"))
            row_of = {key: row for row, key in enumerate(segments.columns["id"])}
            rows = [row_of[key] for key in rated.columns["id"]]
            columns: dict[str, Values] = {
                name: [values[row] for row in rows] for name, values in segments.columns.items()
            }
            table = Table(rated.label, "sample:rated", columns | rated.columns, rated.lines)
    table.name = request.what
    return to_dataset(table, None, default_pair="de-en")


def read_sacrebleu(request: Request) -> Dataset:
    """A test set such as `sacrebleu:wmt22/de-en`, through sacreBLEU's own download and cache."""
    from sacrebleu.dataset import DATASETS

    name, _, pair = request.what.removeprefix(SACREBLEU).rpartition("/")
    if not name or "-" not in pair:
        name, pair = request.what.removeprefix(SACREBLEU), request.language_pair or ""
    if name not in DATASETS:
        raise UserError(f"sacreBLEU has no test set '{name}'. {did_you_mean(name, DATASETS)}")
    known = list(DATASETS[name].langpairs)
    if pair not in known:
        wrong = f"sacreBLEU's {name} has no language pair '{pair}'." if pair else "Which language pair?"
        raise UserError(f"{wrong} Write {SACREBLEU}{name}/PAIR with one of: {', '.join(known)}.")
    test_set: Any = DATASETS[name]
    if SETTINGS.offline:
        test_set = _not_fetched(test_set)
    try:
        sources = list(test_set.source(pair))
        references = [[text.rstrip("\n") for text in some] for some in test_set.references(pair)]
    except (OSError, EOFError, SystemExit) as error:
        raise UserError(
            f"sacreBLEU cannot download {name}/{pair} ({error}). It needs the network once; afterwards its cache "
            "(the folder SACREBLEU names, ~/.sacrebleu by default) serves it."
        ) from None
    label = f"{SACREBLEU}{name}/{pair}"
    table = Table(label, f"{name}/{pair}", {"source": sources, "references": references}, range(1, len(sources) + 1))
    return to_dataset(table, None, default_pair=pair)


def _not_fetched(test_set: Any) -> Any:
    """The test set as far as it is on this disk: what sacreBLEU would have to fetch is refused."""
    archives = [Path(test_set._rawdir, test_set._get_tarball_filename(url)) for url in test_set.data]
    if all(archive.is_file() and archive.stat().st_size for archive in archives):
        return test_set

    def refuse() -> None:
        raise UserError(
            f"sacreBLEU's {test_set.name} is not in {test_set._outdir}, and {setting('offline', True)} forbids "
            "downloading it. Read it once while online, or use your own file."
        )

    kept = copy(test_set)
    kept.maybe_download = refuse
    return kept


MTNT_NAME = re.compile(r"(?:(?:train|valid|test)\.)?([a-z]{2}-[a-z]{2})(?:\.final)?\.tsv(?:\.gz|\.xz|\.bz2)?$")
MTNT_WIDTHS = (3, 4)


def is_mtnt(what: str) -> bool:
    """Whether a file has one of MTNT's names and its first line a number, a source and a translation."""
    found = MTNT_NAME.search(what.replace("\\", "/").rpartition("/")[2])
    if not found:
        return False
    cells = next(lines(what), "").split("\t")
    return len(cells) in MTNT_WIDTHS and cells[0].isdecimal()


def read_mtnt(request: Request) -> Dataset:
    """Sources and references, each with the data set's own number."""
    notes: list[str] = []
    ids, sources, references, numbers = [], [], [], []
    for number, line in enumerate(lines(request.path, notes), start=1):
        cells = line.split("\t")
        if len(cells) not in MTNT_WIDTHS:
            where = f"{label(request.path)} line {number}"
            raise UserError(f"{where}: {len(cells)} columns. Expected number, source and target.")
        ids.append(cells[0])
        sources.append(cells[-2])
        references.append(cells[-1])
        numbers.append(number)
    found = MTNT_NAME.search(request.path.name)
    pair = LanguagePair(found.group(1)) if found else None
    columns = {"id": ids, "source": sources, "reference": references}
    table = Table(label(request.path), stem(request.path), dict(columns), numbers, notes=notes)
    return to_dataset(table, None, request.language_pair, pair)


MLQE_COLUMNS = frozenset({"original", "translation", "mean", "z_scores"})
MLQE_LISTS = ("scores", "z_scores")
MLQE_NUMBERS = ("z_mean", "model_scores")


def is_mlqe(what: str) -> bool:
    """Whether a TSV file's header is MLQE-PE's."""
    if suffix(what) != ".tsv":
        return False
    first = next(lines(what), "")
    return set(first.split("\t")) >= MLQE_COLUMNS


def read_mlqe(request: Request) -> Dataset:
    """One of the task's files."""
    table = tsv_table(request)
    for name in MLQE_LISTS:
        if name in table.columns:
            table.columns[name] = [_numbers_in(table, row, name) for row in range(len(table.lines))]
    for name in MLQE_NUMBERS:
        if name in table.columns:
            table.columns[name] = numbers(table, name)
    return dataset_of(request, table)


def _numbers_in(table: Table, row: int, name: str) -> list[float]:
    text = table.columns[name][row]
    try:
        return [float(value) for value in json_of(text, name)]
    except (UserError, TypeError, ValueError):
        raise UserError(
            f"{table.where(row)}: {name} is '{text}' where a list is expected, such as [70, 85.5]."
        ) from None


ACES_NAMES = {
    "good-translation": "translation",
    "incorrect-translation": "translation_perturbed",
    "phenomena": "phenomenon",
    "langpair": "language_pair",
}
WEIGHTS: dict[str, float] = table_of_room("data", "aces")["weights"]
"""What the ten categories weigh in the ACES score."""
GOOD, BAD = "-good", "-bad"
"""How the columns of a metric's scores end."""
ACES_COLUMNS = frozenset({"source", "good-translation", "incorrect-translation", "phenomena"})


def is_aces(what: str) -> bool:
    """Whether a TSV file, or the only one in a folder, has ACES's columns."""
    file = only_file(what, ".tsv")
    return suffix(file) == ".tsv" and file.is_file() and set(next(lines(file), "").split("\t")) >= ACES_COLUMNS


def read_aces(request: Request) -> Dataset:
    """Every good translation with its incorrect one; `phenomenon` is what is wrong."""
    file = only_file(request.what, ".tsv")
    table = tsv_table(replace(request, what=str(file)), header=True)
    columns: dict[str, Values] = {ACES_NAMES.get(name, name): values for name, values in table.columns.items()}
    columns["id"] = [f"{stem(file)}:{number}" for number in range(1, len(table.lines) + 1)]
    return to_dataset(replace(table, columns=columns), None, request.language_pair)


def scored_metrics(segments: pl.DataFrame) -> dict[str, tuple[pl.Series, pl.Series]]:
    """Metric → its scores of the good and of the incorrect translations, of a file that ACES's own tool scored."""
    names = [name.removesuffix(GOOD) for name in segments.columns if name.endswith(GOOD) and name != GOOD]
    paired = [name for name in names if f"{name}{BAD}" in segments.columns]
    sides = {name: (segments[f"{name}{GOOD}"], segments[f"{name}{BAD}"]) for name in paired}
    return {name: both for name, both in sides.items() if all(side.dtype.is_numeric() for side in both)}


def category_of(phenomenon: str) -> str | None:
    """The category of one of ACES's phenomena; None for a name that it does not have."""
    known = table_of_room("data", "aces")
    begins = (category for beginning, category in known["beginnings"].items() if phenomenon.startswith(beginning))
    return known["names"].get(phenomenon) or next(begins, None)


DEMETR = {
    "src_sent": "source",
    "eng_sent": "reference",
    "mt_sent": "translation",
    "pert_sent": "translation_perturbed",
    "pert_name": "phenomenon",
    "pert_check": "applied",
}
"""DEMETR's fields and ours; `severity`, `pert_desc`, `data_source` and `lang_tag` keep their names."""


def is_demetr(what: str) -> bool:
    """Whether a JSON or JSONL file, or the first in a folder, has DEMETR's fields near its start."""
    files = _demetr_files(Path(what))
    if not files or not files[0].is_file():
        return False
    with files[0].open("rb") as stream:
        start = stream.read(4096)
    return b'"src_sent"' in start and b'"pert_sent"' in start


def _demetr_files(path: Path) -> list[Path]:
    """The file, or those in a folder; one object a line (.jsonl) or a list of them (.json)."""
    endings = (".json", ".jsonl")
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in found if file.suffix in endings]


def read_demetr(request: Request) -> Dataset:
    """DEMETR: what a metric should notice. `translation_perturbed` has one error, `phenomenon` is its kind.

    Where `applied` is false the phenomenon did not occur in the sentence and both translations are equal.
    """
    path = existing(request.path)
    files = _demetr_files(path)
    columns: dict[str, list[Any]] = {}
    rows = 0
    for file in files:
        found = json_lines(file, []) if file.suffix == ".jsonl" else list(enumerate(json_list(file), start=1))
        items = [item for _, item in found]
        table = objects_table(file, items, [number for number, _ in found], "item", [])
        missing = [name for name in DEMETR if name not in table.columns]
        if missing:
            raise UserError(f"{file} has no field {missing[0]}, which DEMETR files have.")
        for name, values in table.columns.items():
            columns.setdefault(name, [None] * rows).extend(values)
        rows += len(items)
        columns = {name: values + [None] * (rows - len(values)) for name, values in columns.items()}
    named: dict[str, Values] = {DEMETR.get(name, name): values for name, values in columns.items()}
    named["id"] = [f"{kind}:{number}" for kind, number in zip(columns["pert_name"], columns["id"], strict=True)]
    tags = columns.get("lang_tag", [None] * rows)
    codes = [language_named(tag) if isinstance(tag, str) else None for tag in tags]
    named["language_pair"] = [LanguagePair.of(code, "en") if code else None for code in codes]
    idle = sum(not applied for applied in columns["pert_check"])
    name = stem(request.path)
    notes = [f"{name}: in {idle} of {rows} items the phenomenon does not occur (applied is false)"] if idle else []
    table = Table(request.what, name, named, range(1, rows + 1), unit="item", notes=notes)
    return to_dataset(table, request.columns, request.language_pair)
