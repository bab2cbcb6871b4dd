"""`babelquake perturb`: a Unix filter – text in, text out, line for line – or a table of a whole suite.

`babelquake augment` makes training data noisy.
"""

import io
import sys
from collections.abc import Iterable, Iterator
from itertools import repeat, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import (
    Device,
    Executor,
    LanguagePair,
    Offline,
    Replicates,
    Seed,
    Vocabulary,
    columns_of,
    option,
    switch,
    warn,
)
from babelquake.errors import UserError
from babelquake.studies.options import StudyOptions

if TYPE_CHECKING:
    from babelquake.data.writing import Column
    from babelquake.perturb.suite import Suite


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
    executor: Executor = "local",
    device: Device = None,
    offline: Offline = False,
) -> None:
    """Perturb text, one segment a line; line n of the output belongs to line n of the input.

    Example: babelquake perturb misspell --level 0.1 --lang de --seed 7 < in.txt > out.txt
    """
    from babelquake.data import lines
    from babelquake.data.writing import read_column
    from babelquake.languages import Language
    from babelquake.perturb.table import without_unnamed_models, write_perturb_table
    from babelquake.perturb.vocabulary import vocabulary_of

    asked = _asked_for(name, level, replicates, vocabulary, table is not None)
    chosen = asked if table is None else without_unnamed_models(asked)
    language = Language(lang) if lang else None
    chosen.require_language(language)
    notes: list[str] = []
    found = None if column is None else read_column(file, column)
    texts = lines(file, notes) if found is None else (text or "" for text in found.texts)
    notes += found.notes if found is not None else []
    how: dict[str, Any] = {"lang": language, "seed": seed, "vocabulary": None, "fillers": None}
    if chosen.draws_from_data:
        everything = list(texts)
        texts, how["vocabulary"] = iter(everything), vocabulary_of(everything, language)
    if chosen.asks:
        from babelquake.studies.variants import fillers_of

        how["fillers"] = fillers_of(StudyOptions(data=(), executor=executor).made_engine())
    paired = _with_sources(texts, file, source, found.sources if found is not None else None)
    if table is None:
        notes += _printed(chosen, paired, found, keep, file, how)
    else:
        if not (height := write_perturb_table(table, chosen, paired, **how)):
            raise UserError(f"{file} is empty: there is nothing to perturb.")
        notes += [f"{asked.lacking} Write mask-replace[model=…] to name one."] if asked.lacking else []
        notes.append(f"{height} rows in {table}")
    for note in notes:
        warn(note)


def _asked_for(name: str, level: float | None, replicates: int | None, vocabulary: str | None, tabled: bool) -> "Suite":
    """The perturbations that were named: of a suite only into a table, where one line becomes several."""
    from babelquake.perturb import Perturbation
    from babelquake.perturb.suite import Suite, is_suite, suite

    if not tabled:
        if is_suite(name):
            raise UserError(f"{name} is a suite. Use --table FILE, or the name of one perturbation.")
        if replicates is not None:
            raise UserError("--replicates makes several lines from each one. Use it with --table FILE.")
        return Suite("", (Perturbation(name, level=level, vocabulary=vocabulary),))
    if level is not None:
        if is_suite(name):
            raise UserError("--level works with a single perturbation; a suite has its own levels.")
        name = f"{name.removesuffix(']')},level={level}]" if name.endswith("]") else f"{name}[level={level}]"
    return suite(name, replicates, vocabulary)


def _with_sources(
    texts: Iterator[str], file: str, source: str | None, beside: Iterable[str | None] | None
) -> Iterator[tuple[str, str | None]]:
    """Each line with its source, as many as there are lines: of a file, or of a table's own column."""
    from babelquake.data import lines

    if source is None:
        yield from zip(texts, beside if beside is not None else repeat(None), strict=False)
        return
    for number, (text, origin) in enumerate(zip_longest(texts, lines(source)), 1):
        if text is None or origin is None:
            ended = source if origin is None else file
            raise UserError(f"{ended} ends before line {number}: --source needs a line for each line of {file}.")
        yield text, origin


def _printed(
    chosen: "Suite",
    paired: Iterator[tuple[str, str | None]],
    column: "Column | None",
    keep: bool,
    file: str,
    how: dict[str, Any],
) -> list[str]:
    """Print each line as it is made, or the table whose column they are; what there is to say of it."""

    (perturbation,) = chosen.perturbations
    if column is not None and sys.stdout.isatty() and file.endswith(".parquet"):
        raise UserError("a Parquet table cannot be printed. Redirect it with > FILE, or use --table FILE.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    skipped = count = 0
    written: list[str] = []
    for text, origin in paired:
        count += 1
        changed = perturbation.apply(text, source=origin, **how)
        if changed is None:
            skipped += 1
            changed = text if keep else ""
        if column is None:
            sys.stdout.write(changed + "\n")
        else:
            written.append(changed)
    if column is not None:
        typer.echo(column.replaced(written), nl=False)
    sys.stdout.flush()
    kept = "left unchanged" if keep else "left blank"
    return [f"{perturbation.name} does not apply to {skipped} of {count} lines; they were {kept}."] if skipped else []


@guarded
def augment(
    data: Annotated[str, option("--data -d", "DATA", "The training data: a TSV, JSONL or text file, or any format.")],
    out: Annotated[Path, option("--out -o", "PATH", "The file to write; .gz, .xz and .bz2 compress it.")],
    suite: Annotated[
        str, option("--suite -p", "SUITE", "A suite, or perturbations such as misspell,case.")
    ] = "everyday",
    share: Annotated[float, option("--share", "X", "The share of texts to change, from 0 to 1.")] = 0.3,
    strength: Annotated[
        str, option("--strength", "LOW:HIGH", "Draw each level between these multiples of the suite's.")
    ] = "0.5:1.5",
    side: Annotated[str, option("--side", "SIDE", "What to change: source, reference or translation.")] = "source",
    add: Annotated[
        bool, switch("--add/--replace", "Keep every clean line and add the noisy ones, or change lines in place.")
    ] = False,
    lang: Annotated[str | None, option("--lang", "LANG", "The language of the texts, e.g. de.")] = None,
    language_pair: LanguagePair = None,
    columns: Annotated[
        list[str] | None, option("--columns", "COLUMNS", "Names or numbers of columns: source=src,reference=ref.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Make training data noisy: a share of the texts, each changed by one perturbation drawn from a suite.

    The same options and seed give the same file. TSV, JSONL and text files of any size stream through.

    Example: babelquake augment --data train.de-en.tsv --suite everyday --share 0.3 --out noisy.de-en.tsv
    """
    from babelquake.perturb.noise import augment_file

    low, colon, high = strength.partition(":")
    try:
        drawn = (float(low), float(high if colon else low))
    except ValueError:
        raise UserError(f"--strength {strength}: expected two numbers such as 0.5:1.5.") from None
    done = augment_file(
        data,
        out,
        suite,
        share=share,
        strength=drawn,
        side=side,
        add=add,
        columns=columns_of(columns) or None,
        language_pair=language_pair,
        lang=lang,
        seed=seed,
    )
    for note in done.notes:
        warn(note)
    typer.echo(f"{done.changed.total():,} of {done.texts:,} texts changed ({100 * done.share:.1f} %), in {out}")
    for name, count in done.changed.most_common():
        typer.echo(f"  {count:>9,}  {name}")
