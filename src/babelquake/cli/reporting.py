"""`babelquake report`, `compare` and `rerun`: read finished runs, and make one again to compare."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from babelquake.cli.guard import guarded, unread_is_no_verdict
from babelquake.cli.options import AsJson, Device, Offline, option, print_json, switch
from babelquake.errors import GateError, UserError, one_of
from babelquake.escape import visible

if TYPE_CHECKING:
    from babelquake.runs.run import Run
    from babelquake.studies.comparison import Comparison


@guarded
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    html: Annotated[
        Path | None, option("--html", "PATH", "Write one HTML file; default: report.html in the run.")
    ] = None,
    markdown: Annotated[Path | None, option("--markdown", "PATH", "Write the tables as Markdown.")] = None,
    latex: Annotated[Path | None, option("--latex", "PATH", "Write the tables as LaTeX (booktabs).")] = None,
    png: Annotated[Path | None, option("--png", "PATH", "Write every plot as PNG and SVG into a folder.")] = None,
    intervals: Annotated[bool, switch("--intervals", "Keep the columns of 95 % intervals in LaTeX tables.")] = False,
    leaderboard: Annotated[
        Path | None,
        option("--leaderboard", "PATH", "Compare scorers over all runs: LaTeX or Markdown table, PNG or SVG chart."),
    ] = None,
    mine: Annotated[
        list[str] | None, option("--mine", "SCORER", "Mark this scorer on the leaderboard; repeatable.")
    ] = None,
    summary: Annotated[
        Path | None, option("--summary", "PATH", "Write one slide (16:9, PNG or SVG): the answer, one chart, examples.")
    ] = None,
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

        written.append(_written(latex, to_latex(opened, intervals)))
    if png:
        from babelquake.report.images import write_images

        written += write_images(opened, png)
    if leaderboard:
        from babelquake.report.leaderboard import write_leaderboard

        written.append(write_leaderboard(opened, leaderboard, mine or ()))
    if summary:
        from babelquake.report.images import write_slide

        if len(opened) != 1:
            raise UserError(f"--summary shows one run, but {len(opened)} are given.")
        written.append(write_slide(opened[0], summary))
    if model_card:
        from babelquake.report.markdown import to_model_card

        written.append(_written(model_card, to_model_card(opened)))
    if html or not (markdown or latex or png or leaderboard or summary or model_card):
        from babelquake.report.html import write_html

        target = html or runs[0] / "report.html"
        write_html(opened, target, _compared(opened))
        written.append(target)
    for path in written:
        typer.echo(str(path))


def _compared(runs: "list[Run]") -> "Comparison | None":
    """Two runs of one study are set against each other; where they have nothing in common, they just stand together."""
    from babelquake.studies.compare import compare as study

    if len(runs) != 2 or runs[0].info.study != runs[1].info.study:
        return None
    try:
        return study(*runs)
    except UserError:
        return None


@guarded
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The run to compare with.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The run to judge.")],
    fail_on: Annotated[
        str | None,
        option("--fail-on", "FAIL-ON", "'regression': exit with status 1 when a measure got significantly worse."),
    ] = None,
    require: Annotated[
        list[str] | None,
        option("--require", "LIMIT", "What NEW must reach, such as 'quality[chrf] >= 50'; repeatable."),
    ] = None,
    confident: Annotated[
        bool,
        typer.Option("--confident", help="Require the whole 95 % interval to meet --require, not only the figure."),
    ] = False,
    alpha: Annotated[float, option("--alpha", "X", "Significance level of the comparison, between 0 and 1.")] = 0.05,
    min_drop: Annotated[float, option("--min-drop", "X", "Ignore drops smaller than this.", min=0)] = 0.0,
    correction: Annotated[
        str, option("--correction", "CORRECTION", "max-t or bh (both over the whole comparison) or none.")
    ] = "max-t",
    html: Annotated[Path | None, option("--html", "PATH", "Write the comparison as one HTML page.")] = None,
    markdown: Annotated[Path | None, option("--markdown", "PATH", "Write a summary fit for a pull request.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs of the same study; with --fail-on regression or --require, stop CI when the new one is worse.

    Example: babelquake compare runs/main runs/branch --fail-on regression --require 'quality[chrf] >= 50'
    """

    from babelquake.report.comparison import comparison_markdown, comparison_table
    from babelquake.report.verdict import in_words
    from babelquake.runs.run import Run, run_names
    from babelquake.studies.compare import Correction
    from babelquake.studies.compare import compare as study

    if fail_on not in (None, "regression"):
        raise UserError(f"--fail-on {fail_on}: expected regression.")
    if confident and not require:
        raise UserError("--confident only works with --require.")
    chosen = one_of("correction", correction, Correction)
    runs = Run.open(old), Run.open(new)
    found = study(*runs, alpha=alpha, min_drop=min_drop, correction=chosen, require=require or (), confident=confident)
    names = run_names(runs)
    if markdown:
        _written(markdown, comparison_markdown(found, *names))
    if html:
        from babelquake.report.html import write_html

        write_html(runs, html, found)
    with unread_is_no_verdict():
        for path in () if as_json else filter(None, (markdown, html)):
            typer.echo(str(path))
        if as_json:
            said = {
                "verdict": [sentence.text for sentence in in_words(found.findings)],
                "findings": [finding.model_dump(exclude_defaults=True) for finding in found.findings],
                "failures": [sentence.text for sentence in in_words(found.failures)],
                "changes": [one.row() for one in found],
            }
            print_json(said)
        else:
            from babelquake.cli.printing import print_table, print_text

            for sentence in in_words(found.findings):
                print_text(sentence.text, "bold red" if sentence.weight == "alarm" else "")
            table = comparison_table(found, *names)
            print_table(table, "--json") if table.rows else typer.echo(table.note)
    stops = [finding for finding in found.failures if fail_on or finding.what == "requirement"]
    if stops:
        raise GateError(f"the gate is closed: {' '.join(sentence.text for sentence in in_words(stops))}")


def _written(path: Path, text: str) -> Path:
    from babelquake.files import deliver

    deliver(text, path)
    return path


SHOWN = 20
"""Differences that are printed."""


@guarded
def rerun(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder to repeat.")],
    out: Annotated[Path | None, option("--out -o", "PATH", "Run folder for the repetition.")] = None,
    fresh: Annotated[bool, switch("--fresh", "Ask every system and scorer again: use no cache.")] = False,
    executor: Annotated[
        str | None, option("--executor", "EXECUTOR", "Where to run models: local, or ray[address=…].")
    ] = None,
    device: Device = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Repeat a run and say whether the numbers match and, if not, which version or file differs.

    Example: babelquake rerun runs/everyday
    """
    from babelquake.runs.run import Run
    from babelquake.studies.rerun import rerun as again

    old = Run.open(run)
    given: dict[str, Any] = {}
    if old.info.words[:1] == ["annotate"]:  # whose ratings may stand in a project
        from babelquake.annotate.analyse import ratings_in

        given["data"] = ratings_in(old.info.words[-1])
    found = again(old, out, fresh=fresh, executor=executor, **given)
    if as_json:
        print_json(asdict(found) | {"same": found.same})
    else:
        count = "1 measure" if found.measures == 1 else f"{found.measures} measures"
        typer.echo(f"{count} compared: {'all the same' if found.same else 'they differ'}.")
        for line in [*found.causes, *found.numbers[:SHOWN]]:
            typer.echo(f"  {visible(line)}")
        if len(found.numbers) > SHOWN:
            typer.echo(f"  and {len(found.numbers) - SHOWN} more")
    if not found.same:
        raise GateError(f"{len(found.numbers)} numbers of {run} differ when it is repeated.")
