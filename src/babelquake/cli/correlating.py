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
    data: opt.Data,
    scorer: opt.Scorers,
    statistic: Annotated[
        list[str] | None,
        typer.Option("--statistic", help="darr, kendall_like, pearson, spearman, kendall, accuracy; default: all."),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option("--threshold", min=0, help="Human scores closer than this are no preference (kendall_like)."),
    ] = 25.0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The run folder to make or to continue.")] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Correlate within groups: item, system or none; default: as is usual.")
    ] = None,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    draws: Annotated[int, typer.Option("--draws", min=10, help="Permutations for differences between scorers.")] = 1000,
    columns: opt.Columns = None,
    language_pair: opt.LanguagePair = None,
    config: opt.Config = None,
    cache: opt.CacheFile = None,
    restart: opt.Restart = False,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how well scores agree with human judgements, and which differences between scorers are significant.

    Example: babelquake correlate -d wmt21.flores -m chrf -m 'scores[file=COMET.seg.score]' --json
    """
    from babelquake.cli.results import remember, show
    from babelquake.stats.groups import By
    from babelquake.studies.correlate.study import STATISTICS
    from babelquake.studies.correlate.study import correlate as study

    with ExitStack() as stack:
        folder = out if out is not None else Path(stack.enter_context(TemporaryDirectory())) / "correlate"
        run = study(
            scorer,
            opt.read_data(data, opt.columns_of(columns), language_pair),
            out=folder,
            statistics=statistic or STATISTICS,
            threshold=threshold,
            by=None if by is None else opt.one_of("--by", by, By),
            resamples=resamples,
            draws=draws,
            seed=seed,
            restart=restart,
            engine=opt.engine_of(cache),
        )
        remember(run, data=data, columns=opt.columns_of(columns), language_pair=language_pair)
        show(run, 0, "drop", as_json, keep=out is not None)
