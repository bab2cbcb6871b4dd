"""`babelquake correlate`: agreement of scores with human judgements."""

from pathlib import Path
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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the rows: .csv, .tsv, .parquet, .jsonl.")
    ] = None,
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
    as_json: opt.AsJson = False,
) -> None:
    """Measure how well scores agree with human judgements, and which differences between scorers are significant.

    Example: babelquake correlate -d wmt21.flores -m chrf -m 'scores[file=COMET.seg.score]' --json
    """
    from babelquake.errors import UserError
    from babelquake.studies.correlate.study import STATISTICS
    from babelquake.studies.correlate.study import correlate as study

    if by not in (None, "item", "system", "none"):
        raise UserError(f"--by {by}: expected item, system or none.")
    rows = study(
        scorer, opt.read_data(data, opt.columns_of(columns), language_pair), statistics=statistic or STATISTICS,
        threshold=threshold, by=by, resamples=resamples, draws=draws, seed=seed,  # type: ignore[arg-type]
        engine=opt.engine_of(cache),
    )  # fmt: skip
    if out is not None:
        from babelquake.data import write

        write(rows, out)
    if as_json:
        typer.echo(rows.write_json())
        return
    from babelquake.cli.printing import print_rows

    shown = rows.select("language_pair", "scorer", "measure", "value", "low", "high", "p_corrected", "n")
    print_rows([{**row, **{name: _round(row[name]) for name in ("value", "low", "high")}} for row in shown.to_dicts()])


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
