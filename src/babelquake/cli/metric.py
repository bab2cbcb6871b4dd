"""`babelquake metric`: does a metric move for the right reasons?"""

from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import (
    AsJson,
    CacheFile,
    Columns,
    Config,
    Data,
    Examples,
    LanguagePair,
    Out,
    Replicates,
    Resamples,
    Restart,
    Scorers,
    Seed,
    Sort,
    Suites,
    columns_of,
    engine_of,
    read_data,
)


@guarded
def metric(
    data: Data,
    scorer: Scorers,
    out: Out,
    suite: Suites = None,
    side: Annotated[
        str, typer.Option("--side", help="What is perturbed: source (f(X′,X)), translation or reference.")
    ] = "translation",
    seed: Seed = 0,
    replicates: Replicates = None,
    sample: Annotated[int, typer.Option("--sample", min=1, help="Full-stop sentences to sample.")] = 1000,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, help="Human scores closer than this are no preference.")
    ] = 25.0,
    attacked: Annotated[
        bool, typer.Option("--attacked", help="Use the perturbed references that come with the data.")
    ] = False,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            "--tokenizer", help="Count unknown tokens: a tokenizer.json, its folder, or a .model; repeatable."
        ),
    ] = None,
    resamples: Resamples = 2000,
    columns: Columns = None,
    language_pair: LanguagePair = None,
    config: Config = None,
    cache: CacheFile = None,
    restart: Restart = False,
    examples: Examples = 0,
    sort: Sort = "drop",
    as_json: AsJson = False,
) -> None:
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """
    from babelquake.cli.results import show
    from babelquake.errors import UserError
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.metric import metric as study

    if side not in ("source", "translation", "reference"):
        raise UserError(f"--side {side}: expected source, translation or reference.")
    run = study(
        scorer, read_data(data, columns_of(columns), language_pair), out,
        suite_of(suite or ["jwalapuram2023"], replicates),
        side=side, seed=seed, replicates=replicates, sample=sample, threshold=threshold,  # type: ignore[arg-type]
        attacked=attacked, tokenizers=tokenizer or [], resamples=resamples, restart=restart, engine=engine_of(cache),
    )  # fmt: skip
    show(run, examples, sort, as_json)
