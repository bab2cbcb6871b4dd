"""`babelquake neighbours`: word neighbours for attacks that swap words."""

import json
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded

neighbours = typer.Typer(rich_markup_mode=None)


@neighbours.callback()
def group() -> None:
    """Word neighbours for attacks that swap words.

    Example: babelquake neighbours build --vectors glove.txt --synonyms ppdb.txt --antonyms wordnet.txt --out mine
    """


@neighbours.command("build")
@guarded
def build(
    vectors: Annotated[Path, typer.Option("--vectors", exists=True, dir_okay=False, help="Word vectors, as GloVe's.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the neighbours and their card.")],
    synonyms: Annotated[
        list[Path] | None, typer.Option("--synonyms", exists=True, help="Two words a line; repeatable.")
    ] = None,
    antonyms: Annotated[
        list[Path] | None, typer.Option("--antonyms", exists=True, help="Two words a line; repeatable.")
    ] = None,
    similarity: Annotated[
        Path | None, typer.Option("--similarity", exists=True, help="SimLex-999, to measure the vectors by.")
    ] = None,
    least: Annotated[int, typer.Option("--least", min=1, help="Neighbours a word has at least.")] = 8,
    most: Annotated[int, typer.Option("--most", min=1, help="Neighbours a word has at most.")] = 50,
    cosine: Annotated[float, typer.Option("--cosine", min=-1, max=1, help="How near the others must be.")] = 0.7,
) -> None:
    """Counter-fit word vectors to synonyms and antonyms (Mrkšić 2016), and keep each word's nearest.

    Example: babelquake neighbours build --vectors glove.txt --synonyms ppdb.txt --antonyms wordnet.txt --out mine
    """
    from babelquake.train.neighbours import build as made

    card = made(
        vectors, synonyms or [], antonyms or [], out, similarity=similarity, least=least, most=most, cosine=cosine
    )
    typer.echo(json.dumps(card["figures"], indent=2, ensure_ascii=False))
