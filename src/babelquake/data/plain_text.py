"""Plain text: one segment a line, alone or as parallel files."""

from collections.abc import Sequence
from pathlib import Path

from babelquake.data.dataset import Dataset, Request
from babelquake.data.markup import is_markup, sgm_segments
from babelquake.data.streams import STDIN, label, lines, opened, stem, suffix
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import pair_in_path, pair_of_endings
from babelquake.spec import parse

PARALLEL = "parallel"
FIELDS = ("source", "reference", "translation", "system")


def read_text(request: Request) -> Dataset:
    """A file of source sentences."""
    notes: list[str] = []
    refuse_markup(request.path)
    texts = text_lines(request.path, notes)
    table = Table(label(request.path), stem(request.path), {"source": texts}, range(1, len(texts) + 1), notes=notes)
    return to_dataset(table, None, request.language_pair, pair_in_path(request.path))


def read_parallel(request: Request) -> Dataset:
    """Files that belong together line by line: `parallel[source=a.de,reference=a.en,translation=out.txt]`.

    Further references are reference2, reference3 and so on; `system` names who made the translation, which is
    otherwise the name of its file.
    """
    options = dict(parse(request.what).options)
    system = options.pop("system", None)
    for key in options:
        if key.rstrip("0123456789") not in FIELDS[:3] or (key[-1].isdigit() and not key.startswith("reference")):
            raise UserError(f"'{request.what}' has no part '{key}'. {did_you_mean(key, FIELDS)}")
    if not options:
        raise UserError("parallel needs files: write parallel[source=a.de,reference=a.en].")
    notes: list[str] = []
    columns: dict[str, list[str]] = {key: text_lines(path, notes) for key, path in sorted(options.items())}
    first = "source" if "source" in options else next(iter(options))
    main, count = options[first], len(columns[first])
    for key, path in options.items():
        same_length(main, columns[first], path, columns[key])
    if "translation" in options:
        columns["system"] = [system or stem(options["translation"])] * count
    pair = pair_of_endings(options.get("source", ""), options.get("reference", options.get("translation", "")))
    detected = pair or next((found for path in options.values() if (found := pair_in_path(path))), None)
    return to_dataset(
        Table(main, stem(main), dict(columns), range(1, count + 1), notes=notes), None, request.language_pair, detected
    )


def same_length(first: str | Path, left: Sequence[object], second: str | Path, right: Sequence[object]) -> None:
    """Refuse files that belong together but differ in length."""
    if len(left) != len(right):
        raise UserError(
            f"Unequal line counts: {len(left)} in {first}, {len(right)} in {second}. "
            "Expected one line per segment in both."
        )


def refuse_markup(path: str | Path) -> None:
    """Mark-up, JSON and packed files are not sentences, one a line."""
    if str(path) == STDIN:
        return
    with opened(path) as stream:
        start = stream.read(4096)
    if is_markup(start):
        raise UserError(
            f"{label(path)} contains mark-up, not sentences. Known kinds end in .tmx, .xlf, .sgm or .xml (WMT)."
        )
    if start.startswith((b"PK\x03\x04", b"PAR1", b"SQLite format 3", b"%PDF")):
        raise UserError(f"{label(path)} is not text. Expected one sentence a line.")


def text_lines(path: str | Path, notes: list[str]) -> list[str]:
    """All lines of a file that must have some; of SGML, its segments."""
    texts = sgm_segments(str(path)) if suffix(path) in (".sgm", ".sgml") else list(lines(path, notes))
    if not texts:
        raise UserError(f"{label(path)} is empty. Expected one segment a line.")
    return texts
