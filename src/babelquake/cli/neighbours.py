"""`babelquake neighbours`: word neighbours for attacks that swap words."""

import json
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option

neighbours = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)


@neighbours.callback()
def group() -> None:
    """Build the word neighbours that attacks swap words by.

    Example: babelquake neighbours build --vectors glove.txt --synonyms ppdb.txt --antonyms wordnet.txt --out mine
    """


@neighbours.command("build")
@guarded
def build(
    vectors: Annotated[Path, option("--vectors", "PATH", "Word vectors, as GloVe's.", exists=True, dir_okay=False)],
    out: Annotated[Path, option("--out -o", "PATH", "The folder for the neighbours and their card.")],
    synonyms: Annotated[
        list[Path] | None, option("--synonyms", "PATH", "Two words a line; repeatable.", exists=True)
    ] = None,
    antonyms: Annotated[
        list[Path] | None, option("--antonyms", "PATH", "Two words a line; repeatable.", exists=True)
    ] = None,
    similarity: Annotated[
        Path | None, option("--similarity", "PATH", "SimLex-999 file to evaluate the vectors with.", exists=True)
    ] = None,
    least: Annotated[int, option("--least", "N", "Keep at least this many neighbours per word.", min=1)] = 8,
    most: Annotated[int, option("--most", "N", "Keep at most this many neighbours per word.", min=1)] = 50,
    cosine: Annotated[
        float, option("--cosine", "X", "Minimum cosine of neighbours beyond --least.", min=-1, max=1)
    ] = 0.7,
) -> None:
    """Counter-fit word vectors to synonyms and antonyms (Mrkšić 2016), and keep each word's nearest.

    Example: babelquake neighbours build --vectors glove.txt --synonyms ppdb.txt --antonyms wordnet.txt --out mine
    """
    from babelquake.train.neighbours import build as made

    card = made(
        vectors, synonyms or [], antonyms or [], out, similarity=similarity, least=least, most=most, cosine=cosine
    )
    typer.echo(json.dumps(card["figures"], indent=2, ensure_ascii=False))
