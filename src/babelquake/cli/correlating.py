"""`babelquake correlate`: agreement of scores with human judgements."""

from typing import Annotated

from babelquake.cli import options as opt
from babelquake.cli.options import option
from babelquake.cli.shared import Shared, study_command


@study_command
def correlate(
    shared: Shared,
    scorer: opt.Scorers,
    statistic: Annotated[
        list[str] | None,
        option("--statistic", "STATISTIC", "darr, kendall_like, pearson, spearman, kendall, accuracy; default: all."),
    ] = None,
    threshold: Annotated[
        float, option("--threshold", "X", "Human scores closer than this are no preference (kendall_like).", min=0)
    ] = 25.0,
    out: opt.MaybeOut = None,
    by: Annotated[
        str | None, option("--by", "BY", "Correlate within groups: item, system or none; default: as is usual.")
    ] = None,
    resamples: opt.Resamples = 10_000,
) -> None:
    """Measure how well scores agree with human judgements, and which differences between scorers are significant.

    Example: babelquake correlate -d wmt21.flores -m chrf -m 'scores[file=COMET.seg.score]' --json
    """
    from babelquake.stats.groups import By
    from babelquake.studies.correlate.study import STATISTICS
    from babelquake.studies.correlate.study import correlate as study

    run = study(
        scorers=scorer,
        data=shared.read(),
        out=out,
        statistics=statistic or STATISTICS,
        threshold=threshold,
        by=None if by is None else opt.one_of("--by", by, By),
        resamples=resamples,
        **shared.how(),
    )
    shared.finish(run, keep=out is not None)
