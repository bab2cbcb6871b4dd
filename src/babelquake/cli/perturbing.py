"""`babelquake perturb`: a Unix filter – text in, text out, line for line – or a table of a whole suite."""

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Replicates, Seed, Vocabulary, option, switch

if TYPE_CHECKING:
    from babelquake.data.one_column import Column
    from babelquake.languages import Language
    from babelquake.perturb.asking import Fillers


@guarded
def perturb(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A perturbation such as misspell, or a suite (with --table).")
    ],
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A text file, one segment a line; - is standard input.")
    ] = "-",
    level: Annotated[float | None, option("--level", "X", "The strength, in the perturbation's own unit.")] = None,
    lang: Annotated[str | None, option("--lang", "LANG", "The text's language, e.g. de.")] = None,
    seed: Seed = 0,
    replicates: Replicates = None,
    table: Annotated[
        Path | None, option("--table", "PATH", "Write line × perturbation × replicate to .parquet, .tsv, .csv, .jsonl.")
    ] = None,
    column: Annotated[
        str | None, option("--column", "NAME", "FILE is a table: perturb this column, print the table (or --table).")
    ] = None,
    source: Annotated[str | None, option("--source", "SOURCE", "The lines' sources, for source-copy.")] = None,
    vocabulary: Vocabulary = None,
    keep: Annotated[
        bool, switch("--keep/--blank", "Where not applicable, print the line unchanged, or a blank line.")
    ] = True,
) -> None:
    """Perturb text, one segment a line; line n of the output belongs to line n of the input.

    Example: babelquake perturb misspell --level 0.1 --lang de --seed 7 < in.txt > out.txt
    """
    if table is not None:
        _write_table(name, level, file, lang, seed, replicates, table, source, vocabulary, column)
        return
    from babelquake.errors import UserError
    from babelquake.perturb import Perturbation
    from babelquake.perturb.suite import suite_names

    if name in suite_names():
        raise UserError(f"{name} is a suite: give --table FILE, or the name of one perturbation.")
    if replicates is not None:
        raise UserError("--replicates makes several lines of one: give --table FILE too.")
    perturbation = Perturbation(name, level=level, vocabulary=vocabulary)
    language, fillers = _code(lang), _fillers() if perturbation.card.asks else None
    notes: list[str] = []
    given = _given(file, column, notes)
    texts, words = given.texts, None
    if perturbation.vocabulary == "data":
        texts, words = _with_vocabulary(given.texts, lang)
    if given.column is not None and sys.stdout.isatty() and file.endswith(".parquet"):
        raise UserError("a Parquet table is nothing to print: send it to a file with > FILE, or give --table FILE.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    skipped = count = 0
    written: list[str] = []
    for text, origin in _with_sources(texts, file, source, given.sources):
        count += 1
        changed = perturbation.apply(text, lang=language, seed=seed, source=origin, vocabulary=words, fillers=fillers)
        if changed is None:
            skipped += 1
            changed = text if keep else ""
        if given.column is None:
            sys.stdout.write(changed + "\n")
        else:
            written.append(changed)
    if given.column is not None:
        typer.echo(given.column.replaced(written), nl=False)
    sys.stdout.flush()
    if skipped:
        kept = "left unchanged" if keep else "left blank"
        notes.append(f"{perturbation.name} does not apply to {skipped} of {count} lines; they were {kept}.")
    for note in notes:
        typer.echo(f"babelquake: {note}", err=True)


def _code(lang: str | None) -> "Language | None":
    """The language as perturbations know it: `DE` and `deu` are `de`."""
    from babelquake.languages import Language

    return Language(lang) if lang else None


@dataclass(frozen=True)
class _Given:
    """The texts to perturb, line by line, and the table they are a column of."""

    texts: Iterator[str]
    sources: Iterable[str | None] | None = None
    column: "Column | None" = None


def _given(file: str, column: str | None, notes: list[str]) -> _Given:
    from babelquake.data import lines

    if column is None:
        return _Given(lines(file, notes))
    from babelquake.data.one_column import read_column

    found = read_column(file, column)
    notes.extend(found.notes)
    return _Given((text or "" for text in found.texts), found.sources, found)


def _with_sources(
    texts: Iterator[str], file: str, source: str | None, beside: Iterable[str | None] | None = None
) -> Iterator[tuple[str, str | None]]:
    """Each line with its source, as many as there are lines: of a file, or of a table's own column."""
    from babelquake.data import lines
    from babelquake.errors import UserError

    if source is None:
        yield from zip(texts, beside if beside is not None else repeat(None), strict=False)
        return
    for number, (text, origin) in enumerate(zip_longest(texts, lines(source)), 1):
        if text is None or origin is None:
            ended = source if origin is None else file
            raise UserError(f"{ended} ends before line {number}: --source needs a line for each line of {file}.")
        yield text, origin


def _with_vocabulary(texts: Iterator[str], lang: str | None) -> tuple[Iterator[str], Sequence[str]]:
    """The lines, and the words they are made of: the one case that needs the whole input at once."""
    from babelquake.perturb.vocabulary import vocabulary_of

    everything = list(texts)
    return iter(everything), vocabulary_of(everything, _code(lang))


def _fillers() -> "Fillers":
    from babelquake.engine import Cache, Engine
    from babelquake.studies.variants import fillers_of

    return fillers_of(Engine(Cache()))


def _write_table(
    name: str,
    level: float | None,
    file: str,
    lang: str | None,
    seed: int,
    replicates: int | None,
    table: Path,
    source: str | None,
    vocabulary: str | None,
    column: str | None,
) -> None:
    from babelquake.errors import UserError
    from babelquake.perturb.suite import suite, suite_names
    from babelquake.perturb.table import write_perturb_table

    if level is not None:
        if name in suite_names():
            raise UserError("--level belongs to one perturbation; a suite's levels are its own.")
        name = f"{name.removesuffix(']')},level={level}]" if name.endswith("]") else f"{name}[level={level}]"
    asked = suite(name, replicates).drawing_from(vocabulary)
    chosen = asked.with_model(None)
    notes: list[str] = []
    given = _given(file, column, notes)
    texts, words = given.texts, None
    if chosen.draws_from_data:
        texts, words = _with_vocabulary(texts, lang)
    fillers = _fillers() if chosen.asks else None
    paired = _with_sources(texts, file, source, given.sources)
    height = write_perturb_table(table, chosen, paired, lang=_code(lang), seed=seed, vocabulary=words, fillers=fillers)
    if not height:
        raise UserError(f"{file} is empty: there is nothing to perturb.")
    if asked.lacking:
        notes.append(f"{asked.lacking} Write mask-replace[model=…] to name one.")
    for note in [*notes, f"{height} rows in {table}"]:
        typer.echo(f"babelquake: {note}", err=True)
