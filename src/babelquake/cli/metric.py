"""`babelquake metric`: does a metric move for the right reasons?"""

from typing import Annotated, Any

from babelquake.cli import options as opt
from babelquake.cli.options import option, switch
from babelquake.cli.shared import Shared, study_command


@study_command
def metric(
    shared: Shared,
    scorer: opt.ScorersOrImport = None,
    out: opt.MaybeOut = None,
    suite: opt.Suites = None,
    side: Annotated[
        str, option("--side", "SIDE", "What is perturbed: source (f(X′,X)), translation or reference.")
    ] = "translation",
    replicates: opt.Replicates = None,
    vocabulary: opt.Vocabulary = None,
    sample: Annotated[int, option("--sample", "N", "Full-stop sentences to sample.", min=1)] = 1000,
    deduplicate: Annotated[bool, switch("--deduplicate", "Keep the first of equal texts.")] = False,
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
    from babelquake.studies.metric.exchange import export_metric_texts
    from babelquake.studies.metric.material import Side
    from babelquake.studies.metric.study import metric as study

    suites = suite or ([] if attacked else ["jwalapuram2023"])
    perturbing: dict[str, Any] = {"suite": suites, "replicates": replicates, "vocabulary": vocabulary}
    texts: dict[str, Any] = {**perturbing, "suite": suites or None, "sample": sample, "attacked": attacked}
    texts |= {"side": opt.one_of("--side", side, Side), "deduplicate": deduplicate}
    if export:
        opt.told_exported(*export_metric_texts(folder=export, data=shared.read_aloud(), **texts, seed=shared.seed))
        return
    run = study(
        scorers=opt.judged_by(scorer, import_),
        data=shared.read(),
        **texts,
        out=opt.needed(out),
        threshold=threshold,
        tokenizers=tokenizer or [],
        resamples=resamples,
        **shared.how(),
    )
    shared.finish(run, **perturbing)
