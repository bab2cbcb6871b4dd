"""`babelquake perturb`: a Unix filter – text in, text out, line for line – or a table of a whole suite."""

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Replicates, Seed

BLOCK = 2000
"""Lines perturbed at a time in a table: bounds memory."""


@guarded
def perturb(
    name: Annotated[str, typer.Argument(help="A perturbation such as misspell, or a suite (with --table).")],
    file: Annotated[str, typer.Argument(help="A text file, one segment a line; - is standard input.")] = "-",
    level: Annotated[
        float | None, typer.Option("--level", help="The strength, in the perturbation's own unit.")
    ] = None,
    lang: Annotated[str | None, typer.Option("--lang", help="The text's language, e.g. de.")] = None,
    seed: Seed = 0,
    replicates: Replicates = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="Write line × perturbation × replicate to .parquet, .tsv, .csv, .jsonl."),
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="The lines' sources, for source-copy.")] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--blank", help="Where not applicable, print the line unchanged, or a blank line.")
    ] = True,
) -> None:
    """Perturb text, one segment a line; line n of the output belongs to line n of the input.

    Example: babelquake perturb misspell --level 0.1 --lang de --seed 7 < in.txt > out.txt
    """
    if table is not None:
        _write_table(name, level, file, lang, seed, replicates, table, source)
        return
    from babelquake.data import lines
    from babelquake.errors import UserError
    from babelquake.perturb import Perturbation
    from babelquake.perturb.suite import suite_names

    if name in suite_names():
        raise UserError(f"{name} is a suite: give --table FILE, or the name of one perturbation.")
    change = Perturbation(name, level=level)
    texts, vocabulary = lines(file), None
    if "vocabulary" in change.card.wants:
        texts, vocabulary = _with_vocabulary(file)
    sources = lines(source) if source else None
    skipped = count = 0
    for text in texts:
        count += 1
        origin = next(sources, None) if sources else None
        changed = change.apply(text, lang=lang, seed=seed, source=origin, vocabulary=vocabulary)
        if changed is None:
            skipped += 1
            changed = text if keep else ""
        sys.stdout.write(changed + "\n")
    sys.stdout.flush()
    if skipped:
        kept = "left unchanged" if keep else "left blank"
        typer.echo(
            f"babelquake: {change.name} does not apply to {skipped} of {count} lines; they were {kept}.", err=True
        )


def _with_vocabulary(file: str) -> tuple:  # type: ignore[type-arg]
    """The lines, and the words they are made of: the one case that needs the whole input at once."""
    from babelquake.data import lines
    from babelquake.perturb.linguistics import vocabulary_of

    texts = list(lines(file))
    return iter(texts), vocabulary_of(texts)


def _write_table(
    name: str,
    level: float | None,
    file: str,
    lang: str | None,
    seed: int,
    replicates: int | None,
    table: Path,
    source: str | None,
) -> None:
    import polars as pl

    from babelquake.data import lines, write
    from babelquake.errors import UserError
    from babelquake.perturb.linguistics import vocabulary_of
    from babelquake.perturb.suite import suite, suite_names

    if level is not None:
        if name in suite_names():
            raise UserError("--level belongs to one perturbation; a suite's levels are its own.")
        name = f"{name.removesuffix(']')},level={level}]" if name.endswith("]") else f"{name}[level={level}]"
    chosen = suite(name, replicates)
    texts = list(lines(file))
    sources = list(lines(source)) if source else None
    if sources is not None and len(sources) != len(texts):
        raise UserError(f"{file} has {len(texts)} lines but --source {source} has {len(sources)}.")
    vocabulary = vocabulary_of(texts)
    parts = []
    for start in range(0, len(texts), BLOCK):
        some = list(islice(texts, start, start + BLOCK))
        part = chosen.variants(
            [str(start + place + 1) for place in range(len(some))],
            some,
            lang=lang,
            seed=seed,
            sources=sources[start : start + BLOCK] if sources else None,
            vocabulary=vocabulary,
            first_row=start,
        )
        originals = part["row"].cast(pl.Int64).to_list()
        parts.append(
            part.select((pl.col("row") + 1).alias("line"), "perturbation", "level", "replicate", "text").with_columns(
                original=pl.Series([texts[row] for row in originals], dtype=pl.String), seed=pl.lit(seed)
            )
        )
    result = pl.concat(parts) if parts else pl.DataFrame()
    write(result.sort("line", maintain_order=True), table)
    typer.echo(f"babelquake: {result.height} rows in {table}", err=True)
