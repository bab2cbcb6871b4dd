"""`babelquake metric`: does a metric move for the right reasons?"""

from typing import Annotated

from babelquake.cli import options as opt
from babelquake.cli.options import option, switch
from babelquake.cli.shared import Shared, study_command


@study_command
def metric(
    shared: Shared,
    scorer: opt.ScorersOrImport = None,
    out: opt.OutOrExport = None,
    suite: opt.Suites = None,
    side: Annotated[
        str, option("--side", "SIDE", "What is perturbed: source (f(X′,X)), translation or reference.")
    ] = "translation",
    replicates: opt.Replicates = None,
    vocabulary: opt.Vocabulary = None,
    sample: Annotated[int, option("--sample", "N", "Full-stop sentences to sample.", min=1)] = 1000,
    threshold: Annotated[
        float, option("--threshold", "X", "Human scores closer than this are no preference.", min=0)
    ] = 25.0,
    attacked: Annotated[bool, switch("--attacked", "Use the perturbed references that come with the data.")] = False,
    tokenizer: Annotated[
        list[str] | None,
        option(
            "--tokenizer",
            "TOKENIZER",
            "Count unknown tokens: a tokenizer.json, its folder, a .model, or minilm-en; repeatable.",
        ),
    ] = None,
    resamples: opt.Resamples = 2000,
    export: opt.ExportTexts = None,
    import_: opt.ImportScores = None,
) -> None:
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """
    from babelquake.errors import UserError
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.metric.exchange import export_metric_texts
    from babelquake.studies.metric.material import Side
    from babelquake.studies.metric.study import metric as study

    suites = suite or ([] if attacked else ["jwalapuram2023"])
    chosen = suite_of(suites, replicates).drawing_from(vocabulary) if suites else None
    perturbed = opt.one_of("--side", side, Side)
    if export:
        opt.told_exported(
            *export_metric_texts(
                export, shared.read(), chosen, side=perturbed, seed=shared.seed, sample=sample, attacked=attacked
            )
        )
        return
    judges = opt.judged_by(scorer, import_)
    if out is None:
        raise UserError("no run folder is named: give --out DIR.")
    run = study(
        judges,
        shared.read(),
        chosen,
        out=out,
        side=perturbed,
        seed=shared.seed,
        sample=sample,
        threshold=threshold,
        attacked=attacked,
        tokenizers=tokenizer or [],
        resamples=resamples,
        restart=shared.restart,
        engine=shared.engine(),
    )
    shared.finish(run, replicates=replicates, suite=suites, vocabulary=vocabulary)
