"""`babelquake correlate`: agreement of scores with human judgements."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded


@guarded
def correlate(
    scorer: opt.Scorers,
    data: opt.Data = None,
    limit: opt.Limit = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            "--statistic",
            metavar="STATISTIC",
            help="darr, kendall_like, pearson, spearman, kendall, accuracy; default: all.",
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", min=0, metavar="X", help="Human scores closer than this are no preference (kendall_like)."
        ),
    ] = 25.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="PATH", help="The run folder to make or to continue.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="BY", help="Correlate within groups: item, system or none; default: as is usual."),
    ] = None,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    draws: Annotated[
        int, typer.Option("--draws", min=10, metavar="N", help="Permutations for differences between scorers.")
    ] = 1000,
    columns: opt.Columns = None,
    language_pair: opt.LanguagePair = None,
    config: opt.Config = None,
    cache: opt.CacheFile = None,
    executor: opt.Executor = "local",
    restart: opt.Restart = False,
    brief: opt.Brief = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how well scores agree with human judgements, and which differences between scorers are significant.

    Example: babelquake correlate -d wmt21.flores -m chrf -m 'scores[file=COMET.seg.score]' --json
    """
    from babelquake.cli.results import Printed, remember, show
    from babelquake.stats.groups import By
    from babelquake.studies.correlate.study import STATISTICS
    from babelquake.studies.correlate.study import correlate as study

    with ExitStack() as stack:
        folder = out if out is not None else Path(stack.enter_context(TemporaryDirectory())) / "correlate"
        run = study(
            scorer,
            opt.read_data(data, opt.columns_of(columns), language_pair, limit=limit),
            out=folder,
            statistics=statistic or STATISTICS,
            threshold=threshold,
            by=None if by is None else opt.one_of("--by", by, By),
            resamples=resamples,
            draws=draws,
            seed=seed,
            restart=restart,
            engine=opt.engine_of(cache, quiet, executor),
        )
        remember(run, data=data or [], limit=limit, columns=opt.columns_of(columns), language_pair=language_pair)
        show(run, Printed(as_json=as_json, brief=brief, quiet=quiet), keep=out is not None)
