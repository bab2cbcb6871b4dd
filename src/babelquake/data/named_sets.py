"""Data sets by name: the bundled sample and sacreBLEU's test sets."""

from copy import copy
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from babelquake.data.dataset import Dataset
from babelquake.data.delimited import split_table
from babelquake.data.request import Request
from babelquake.data.table import Table, Values, to_dataset
from babelquake.errors import UserError, did_you_mean, setting
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
