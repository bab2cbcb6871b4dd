"""A study as a command: its options are read off the study's own dataclass, printing is the same for all.

`metric` and `qe` have a gate on what scorers must reach after the run, `check` one on failures and JUnit XML;
`challenge` builds challenge sets for metrics and measures what came back.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option, print_json, switch, warn
from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.studies.challenge import ChallengeOptions
from babelquake.studies.check import CheckOptions
from babelquake.studies.options import Entry, StudyOptions, entries

if TYPE_CHECKING:
    from babelquake.runs.run import Run
    from babelquake.studies.plan import Plan


@dataclass(frozen=True)
class Terminal:
    """What only the command line can be told: a file of options, other ways to name data, what to do and to print."""

    source: Annotated[str | None, option("--source", "SOURCE", "Sources, one a line, in place of --data.")] = None
    config: opt.Config = None
    dry_run: Annotated[bool, switch("--dry-run", "Count texts, characters and cost; send nothing.")] = False
    export: Annotated[
        Path | None,
        option("--export", "PATH", "Write the texts to be translated or scored elsewhere to this folder, and stop."),
    ] = None
    import_: Annotated[Path | None, option("--import", "PATH", "Read the answers from an exported folder.")] = None
    examples: opt.Examples = 0
    sort: opt.Sort = "drop"
    brief: opt.Brief = False
    as_json: opt.AsJson = False


def study_command(
    study: str,
    options: type[StudyOptions],
    afterwards: Callable[..., None] | None = None,
    further: Mapping[str, Any] | None = None,
    instead: Callable[..., bool] | None = None,
) -> Callable[..., None]:
    """The command of a study: parse, call the study, print.

    `afterwards` receives the run, and what was given for the `further` options that only this command has. `instead`
    receives the study's options and those before there is a run: it refuses what is wrong with them before anything is
    paid for, and says whether it did what was asked for.
    """

    def command(**given: Any) -> None:
        terminal = Terminal(**{field.name: given.pop(field.name) for field in fields(Terminal)})
        more = {name: given.pop(name) for name in further or ()}
        asked = made(options, given, terminal)
        if instead is not None and instead(asked, **more):
            return
        run = carry_out(study, asked, terminal)
        if afterwards is not None and run is not None:
            afterwards(run, **more)

    command.__name__, command.__doc__ = study, options.__doc__
    hints = get_type_hints(Terminal, include_extras=True)
    of_terminal = [_parameter(field.name, field.default, hints[field.name]) for field in fields(Terminal)]
    own = [_parameter(name, None, annotation) for name, annotation in (further or {}).items()]
    parameters = [*_of_study(options), *of_terminal, *own]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guarded(command)


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _of_study(options: type[StudyOptions]) -> Iterator[inspect.Parameter]:
    for entry in entries(options):
        if entry.kind is not None:
            kind: Any = list[str] if entry.kind is Mapping else entry.kind
            annotation: Any = Annotated[kind if kind is bool else kind | None, opt.written(entry)]
            yield _parameter(entry.name, _default(entry), annotation)


def _default(entry: Entry) -> Any:
    if entry.required:
        return None
    default = list(entry.default) if isinstance(entry.default, tuple) else entry.default
    if entry.kind == list[str]:
        return ([default] if isinstance(default, str) else default) or None
    return default


def made(options: type[StudyOptions], given: Mapping[str, Any], terminal: Terminal) -> StudyOptions:
    """The options as Python has them; what was left out keeps its default."""
    values = dict(given)
    references = values.pop("reference", None)
    data = list(values.get("data") or [])
    if terminal.source is not None:
        from babelquake.spec import Spec

        files = {f"reference{place if place > 1 else ''}": path for place, path in enumerate(references or [], 1)}
        data.append(str(Spec("parallel").with_options(source=terminal.source, **files)))
        references = None
    if not data:
        raise UserError("No data given. Use --data FILE, or --source FILE and --reference FILE.")
    if references and len(references) > 1:
        raise UserError("--reference names one of the references in --data, or goes with --source FILE.")
    values |= {"data": data, "columns": opt.columns_of(values["columns"]), "reference": (references or [None])[0]}
    known = {entry.name: entry for entry in entries(options)}
    for name in [name for name, value in values.items() if value is None or value == []]:
        if known[name].required:
            raise UserError(f"{known[name].flags[0]} is missing. {known[name].option.help}")
        del values[name]
    return options(**values)


def carry_out(study: str, options: StudyOptions, terminal: Terminal) -> "Run | None":
    """Do what was asked for: forecast, export, or make the run and print what it found."""
    from babelquake.models.loading import offline
    from babelquake.studies.card import STUDIES, function_of

    if terminal.import_ is not None:
        options = _with_imported(options, terminal.import_)
    card = STUDIES.get(study)
    with options.settings():
        if options.offline or (options.default_models_need_a_hub and offline()):
            opt.say_offline()
        if (terminal.export is not None or terminal.dry_run) and card.plan is not None:
            plan = card.plan(options)
            for note in () if options.quiet else plan.data.notes:
                warn(note)
            if terminal.export is not None:
                _export(plan, terminal.export)
            else:
                _forecast(plan, terminal.as_json, options.budget)
            return None
    if options.out is None and not options.quickly_made_again:
        raise UserError("No run folder given. Use --out DIR.")
    run = function_of(study)(**vars(options))
    show(run, options, terminal)
    if silent := silent_systems(run):
        raise UserError(f"{', '.join(silent)}: every translation is empty. Check the system; the run is kept.")
    return run


def silent_systems(run: "Run") -> list[str]:
    """Systems that translated every text to nothing: no result, however complete the run is."""
    import polars as pl

    if not run.has("translations"):
        return []
    spoken = pl.col("translation").fill_null("").str.strip_chars().ne("").any()
    found = run.scan("translations").group_by("system", maintain_order=True).agg(spoken).collect()
    return [str(name) for name in found.filter(~pl.col("translation"))["system"]]


def _with_imported(options: StudyOptions, folder: Path) -> StudyOptions:
    """The options with every system or scorer whose answers lie in a folder that was exported."""
    from babelquake.studies.exchange import imported_scorers, imported_systems
    from babelquake.studies.resolve import several

    known = {field.name for field in fields(options)}
    name, found = ("systems", imported_systems) if "systems" in known else ("scorers", imported_scorers)
    given = getattr(options, name)
    more: dict[str, Any] = {name: [*several(given), *found(folder)]}
    return replace(options, **more)


def _export(plan: "Plan", folder: Path) -> None:
    written, count = plan.export(folder)
    what, answers = ("texts", "scorer's scores") if plan.systems is None else ("sources", "system's translations")
    typer.echo(f"{count} distinct {what} in {written}. Put each {answers} beside it as NAME.txt,")
    typer.echo(f"line for line, then run the same command with --import {folder}.")


def _forecast(plan: "Plan", as_json: bool, budget: int | None) -> None:
    expected = plan.forecast()
    found = asdict(expected) | {"dollars": expected.dollars, "seconds": expected.seconds, "tokens": expected.tokens}
    print_json(found) if as_json else typer.echo(str(expected))
    if budget is not None:
        expected.keep_within(budget)


REQUIRE = Annotated[
    list[str] | None,
    option("--require", "LIMIT", "Exit with status 1 unless met, such as 'pitfalls_failed <= 0'; repeatable."),
]


SUBMIT = Annotated[
    Path | None,
    option("--submit", "DIR", "Write .seg.score and .sys.score as mt-metrics-eval reads them to DIR, and stop."),
]


def scoring_command(study: str, options: type[StudyOptions]) -> Callable[..., None]:
    """The command with the options of its study, requirements to the run, and scores for a shared task in its place."""

    def instead(asked: StudyOptions, require: list[str] | None, submit: Path | None) -> bool:
        from babelquake.studies.comparison import Requirement

        for limit in require or ():
            Requirement.parse(limit)
        if submit is None:
            return False
        from babelquake.studies.exchange import submit_scores

        with asked.settings():
            for path in submit_scores(asked, submit):
                typer.echo(str(path))
        return True

    def afterwards(run: "Run", require: list[str] | None, submit: Path | None) -> None:
        from babelquake.studies.comparison import require as required

        required(run, require or ())

    return study_command(study, options, afterwards, {"require": REQUIRE, "submit": SUBMIT}, instead)


FAIL_ON = Annotated[
    list[str] | None,
    option("--fail-on", "KIND[>RATE]", "Exit with status 1 if a kind occurs, or in over RATE per cent; repeatable."),
]
JUNIT = Annotated[Path | None, option("--junit", "FILE", "Write failures as JUnit XML, for build servers.")]


def check_command() -> Callable[..., None]:
    """The command with the options of its study, and those of what comes after the run."""

    def before(asked: CheckOptions, fail_on: list[str] | None, junit: Path | None) -> bool:
        from babelquake.studies.check.study import limited

        for limit in fail_on or ():
            limited(limit)
        return False

    def afterwards(run: "Run", fail_on: list[str] | None, junit: Path | None) -> None:
        if junit is not None:
            from babelquake.report.pages.check import write_junit

            write_junit(run, junit)
        if fail_on:
            from babelquake.studies.check.study import require

            require(run, fail_on)

    return study_command("check", CheckOptions, afterwards, {"fail_on": FAIL_ON, "junit": JUNIT}, before)


SENTENCES = 5


def show(run: "Run", options: StudyOptions, terminal: Terminal) -> None:
    """Print a finished run, the verdict first, and put its report into the run folder where that is kept."""
    keep = options.out is not None
    from babelquake.report.html import write_html

    page = run.folder / "report.html"
    if keep and not run.is_kept(page.name):
        write_html([run], page)
        run.keep(page.name)
        run.save()
    if options.quiet:
        return
    if terminal.as_json:
        print_json(described(run))
        for note in run.info.notes:
            warn(visible(note))
        return
    tell(run)
    if not terminal.brief:
        print_tables(run, "the report" if keep else "--json")
        if terminal.examples:
            from babelquake.cli.printing import print_table
            from babelquake.report.examples import example_table

            print_table(example_table(run, terminal.examples, terminal.sort))
    if keep:
        typer.echo(f"Run folder: {run.folder}")
        typer.echo(f"Report: {page}")


def described(run: "Run") -> dict[str, Any]:
    """The run for other programs: the verdict in words and as data, notes, measures."""
    from babelquake.report.verdict import verdict
    from babelquake.studies.card import findings_of

    return {
        "study": run.info.study,
        "verdict": verdict(run),
        "findings": [finding.model_dump(exclude_defaults=True) for finding in findings_of(run)],
        "notes": run.info.notes,
        "measures": json.loads(run.measures.write_json()),
    }


def tell(run: "Run") -> None:
    """The verdict in at most five lines, and what the reader must know."""
    from babelquake.cli.printing import print_text
    from babelquake.report.verdict import sentences

    found = sentences(run)
    for sentence in found[:SENTENCES]:
        print_text(sentence.text, "bold red" if sentence.weight == "alarm" else "")
    if len(found) > SENTENCES:
        typer.echo(f"({len(found) - SENTENCES} more in the report)")
    for flag in run.info.facts.flags:
        where = f" ({flag.language_pair})" if flag.language_pair else ""
        print_text(f"! {flag.scorer}{where} {flag.text}")
    for note in run.info.notes:
        print_text(f"Note: {note}")
    typer.echo()


def print_tables(run: "Run", elsewhere: str) -> None:
    """Its tables; what does not fit a narrow terminal is elsewhere."""
    from babelquake.cli.printing import print_table
    from babelquake.report.pages import audit_tables, tables

    for table in [*tables(run), *audit_tables(run)]:
        print_table(table, elsewhere)


challenge = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)


@challenge.callback()
def group() -> None:
    """Build challenge sets for metrics from a run, and measure what came back.

    Example: babelquake challenge score -d 1-submitted/condrift --returned 4-to_return/condrift --out runs/condrift
    """


@challenge.command("build")
@guarded
def build(
    run: Annotated[Path, option("--from", "RUN", "A run of metric, qe or attack.", exists=True, file_okay=False)],
    out: Annotated[Path, option("--out -o", "DIR", "The folder for the challenge set.")],
    layout: Annotated[str, option("--format", "FORMAT", "wmt25, wmt26 or contrastive.")] = "wmt25",
    name: Annotated[str, option("--name", "NAME", "What the set is called.")] = "challenge",
    seed: Annotated[int, option("--seed", "N", "Seed of the order of hypotheses.", min=0)] = 0,
) -> None:
    """Write the perturbed translations of a run as a challenge set for metrics.

    Example: babelquake challenge build --from runs/pitfalls --format wmt25 --out pitfalls --name pitfalls
    """
    from babelquake.studies.challenge.build import build_challenge

    count = build_challenge(run, layout, out, name=name, seed=seed)  # type: ignore[arg-type]
    typer.echo(f"{count:,} items in {out}. README: {out / f'{name}.README.txt'}")


challenge.command("score")(study_command("challenge", ChallengeOptions))
