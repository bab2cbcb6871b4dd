"""`babelquake report` and `babelquake compare`: read finished runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from babelquake.cli.guard import guarded, unread_is_no_verdict
from babelquake.cli.options import AsJson, one_of, option

if TYPE_CHECKING:
    from babelquake.report.comparison_heatmap import HeatMap
    from babelquake.report.table import Table
    from babelquake.runs.run import Run
    from babelquake.studies.compare import Change


@guarded
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    html: Annotated[
        Path | None, option("--html", "PATH", "Write one HTML file; default: report.html in the run.")
    ] = None,
    markdown: Annotated[Path | None, option("--markdown", "PATH", "Write the tables as Markdown.")] = None,
    latex: Annotated[Path | None, option("--latex", "PATH", "Write the tables as LaTeX (booktabs).")] = None,
    png: Annotated[Path | None, option("--png", "PATH", "Write every plot as PNG and SVG into a folder.")] = None,
    model_card: Annotated[
        Path | None, option("--model-card", "PATH", "Write model-index metadata and a section for a model card.")
    ] = None,
) -> None:
    """Turn finished runs into one HTML page, Markdown, LaTeX tables or pictures.

    Example: babelquake report runs/old runs/new --html both.html
    """
    from babelquake.runs.run import Run

    opened = [Run.open(folder) for folder in runs]
    for run in opened:
        _ = run.measures
    written: list[Path] = []
    if markdown:
        from babelquake.report.markdown import to_markdown

        written.append(_written(markdown, to_markdown(opened)))
    if latex:
        from babelquake.report.latex import to_latex

        written.append(_written(latex, to_latex(opened)))
    if png:
        from babelquake.report.plots import write_images

        written += write_images(opened, png)
    if model_card:
        from babelquake.report.model_card import to_model_card

        written.append(_written(model_card, to_model_card(opened)))
    if html or not (markdown or latex or png or model_card):
        from babelquake.report.html import write_html

        target = html or runs[0] / "report.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_html(opened, target, *_versus(opened))
        written.append(target)
    for path in written:
        typer.echo(str(path))


def _versus(runs: "list[Run]") -> "tuple[list[Table], list[HeatMap]]":
    """Two runs of one study are set against each other; where they have nothing in common, they just stand together."""
    from babelquake.errors import UserError
    from babelquake.report.comparison_heatmap import versus_heat
    from babelquake.report.comparison_page import versus_tables
    from babelquake.studies.compare import compare as study

    if len(runs) != 2 or runs[0].info.study != runs[1].info.study:
        return [], []
    try:
        changes = study(runs[0], runs[1])
    except UserError:
        return [], []
    return versus_tables(runs[0], runs[1], changes), versus_heat(runs[0], runs[1], changes)


@guarded
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The run to compare with.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The run in question.")],
    fail_on: Annotated[
        str | None,
        option("--fail-on", "FAIL-ON", "'regression': exit with status 1 when a measure got significantly worse."),
    ] = None,
    alpha: Annotated[float, option("--alpha", "X", "Significance level.", min=0, max=1)] = 0.05,
    min_drop: Annotated[float, option("--min-drop", "X", "Falls smaller than this are let pass.", min=0)] = 0.0,
    allow_untested: Annotated[
        bool, typer.Option("--allow-untested", help="Let pass what cannot be tested, such as changes of few segments.")
    ] = False,
    correction: Annotated[
        str, option("--correction", "CORRECTION", "max-t (within families), bh (over all comparisons) or none.")
    ] = "max-t",
    markdown: Annotated[Path | None, option("--markdown", "PATH", "Write a summary fit for a pull request.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs of the same study; with --fail-on regression, stop CI when robustness fell.

    Example: babelquake compare runs/main runs/branch --fail-on regression
    """
    import json
    from dataclasses import asdict

    from babelquake.errors import GateError, UserError
    from babelquake.report.comparing import comparison_markdown, comparison_table
    from babelquake.report.run_names import run_names
    from babelquake.runs.run import Run
    from babelquake.studies.compare import Correction
    from babelquake.studies.compare import compare as study

    if fail_on not in (None, "regression"):
        raise UserError(f"--fail-on {fail_on}: expected regression.")
    chosen = one_of("--correction", correction, Correction)
    runs = Run.open(old), Run.open(new)
    changes = study(*runs, alpha=alpha, min_drop=min_drop, correction=chosen)
    before, after = run_names(runs)
    if markdown:
        _written(markdown, comparison_markdown(changes, before, after, alpha, correction))
    with unread_is_no_verdict():
        if markdown and not as_json:
            typer.echo(str(markdown))
        if as_json:
            typer.echo(json.dumps([asdict(change) for change in changes], ensure_ascii=False))
        else:
            from babelquake.cli.printing import print_table

            table = comparison_table(changes, before, after, alpha, correction)
            print_table(table, "--json")
    fallen = [change for change in changes if change.regression]
    untested = [change for change in changes if not (change.testable or allow_untested)]
    if fallen and fail_on:
        worst = max(fallen, key=lambda change: abs(change.difference))
        raise GateError(
            f"{len(fallen)} of {len(changes)} measures got significantly worse; the most: {worst.measure.upper()} of "
            f"{_where(worst)} from {worst.old:.2f} to {worst.new:.2f} (p = {worst.p_corrected:.2g})."
        )
    if untested and fail_on:
        first = untested[0]
        raise GateError(
            f"{len(untested)} of {len(changes)} measures cannot be tested, so the gate cannot pass; the first: "
            f"{first.measure.upper()} of {_where(first)}: {first.note} More segments would tell; "
            "--allow-untested lets it pass."
        )


def _where(change: "Change") -> str:
    return " ".join(str(part) for part in (change.system, change.perturbation, change.scorer) if part)


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    from babelquake.files import store_text

    store_text(text, path)
    return path
