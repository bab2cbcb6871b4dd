"""`babelquake metric`: does a metric move for the right reasons?"""

from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded


@guarded
def metric(
    scorer: opt.Scorers,
    out: opt.Out,
    suite: opt.Suites = None,
    side: Annotated[
        str,
        typer.Option("--side", metavar="SIDE", help="What is perturbed: source (f(X′,X)), translation or reference."),
    ] = "translation",
    seed: opt.Seed = 0,
    replicates: opt.Replicates = None,
    sample: Annotated[int, typer.Option("--sample", min=1, metavar="N", help="Full-stop sentences to sample.")] = 1000,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, metavar="X", help="Human scores closer than this are no preference.")
    ] = 25.0,
    attacked: Annotated[
        bool, typer.Option("--attacked", help="Use the perturbed references that come with the data.")
    ] = False,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            "--tokenizer",
            metavar="TOKENIZER",
            help="Count unknown tokens: a tokenizer.json, its folder, or a .model; repeatable.",
        ),
    ] = None,
    resamples: opt.Resamples = 2000,
    data: opt.Data = None,
    source: opt.Source = None,
    reference: opt.Reference = None,
    limit: opt.Limit = None,
    columns: opt.Columns = None,
    language_pair: opt.LanguagePair = None,
    config: opt.Config = None,
    cache: opt.CacheFile = None,
    executor: opt.Executor = "local",
    restart: opt.Restart = False,
    examples: opt.Examples = 0,
    sort: opt.Sort = "drop",
    brief: opt.Brief = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """
    from babelquake.cli.results import Printed, remember, show
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.metric.material import Side
    from babelquake.studies.metric.study import metric as study

    named, suites = opt.columns_of(columns), suite or ["jwalapuram2023"]
    run = study(
        scorer,
        opt.read_data(data, named, language_pair, source=source, references=reference, limit=limit),
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
        engine=opt.engine_of(cache, quiet, executor),
    )
    remember(
        run,
        data=data or [],
        source=source,
        reference=reference,
        limit=limit,
        columns=named,
        language_pair=language_pair,
        replicates=replicates,
        suite=suites,
    )
    show(run, Printed(examples, sort, as_json, brief, quiet))
