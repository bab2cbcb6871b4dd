"""`babelquake augment`: training data with noise."""

from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import LanguagePair, Seed, columns_of, option, switch, warn


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
    from babelquake.errors import UserError
    from babelquake.perturb.augmenting import augment_file

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
