"""`babelquake metric`: does a metric move for the right reasons?"""

from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded


@guarded
def metric(
    data: opt.Data,
    scorer: opt.Scorers,
    out: opt.Out,
    suite: opt.Suites = None,
    side: Annotated[
        str, typer.Option("--side", help="What is perturbed: source (f(X′,X)), translation or reference.")
    ] = "translation",
    seed: opt.Seed = 0,
    replicates: opt.Replicates = None,
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
    resamples: opt.Resamples = 2000,
    columns: opt.Columns = None,
    language_pair: opt.LanguagePair = None,
    config: opt.Config = None,
    cache: opt.CacheFile = None,
    restart: opt.Restart = False,
    examples: opt.Examples = 0,
    sort: opt.Sort = "drop",
    as_json: opt.AsJson = False,
) -> None:
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """
    from babelquake.cli.results import remember, show
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.metric.material import Side
    from babelquake.studies.metric.study import metric as study

    named, suites = opt.columns_of(columns), suite or ["jwalapuram2023"]
    run = study(
        scorer,
        opt.read_data(data, named, language_pair),
        suite_of(suites, replicates),
        out=out,
        side=opt.one_of("--side", side, Side),
        seed=seed,
        sample=sample,
        threshold=threshold,
        attacked=attacked,
        tokenizers=tokenizer or [],
        resamples=resamples,
        restart=restart,
        engine=opt.engine_of(cache),
    )
    remember(run, data=data, columns=named, language_pair=language_pair, replicates=replicates, suite=suites)
    show(run, examples, sort, as_json)
