"""Options that several commands share, and a YAML file that can hold a whole command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from babelquake.errors import UserError, did_you_mean
from babelquake.errors import one_of as one_of


def option(flags: str, metavar: str | None, text: str, **more: Any) -> Any:
    """An option: its flags with blanks between them, what stands for its value in the help, and what it is for."""
    return typer.Option(*flags.split(), metavar=metavar, help=text, **more)


def switch(flags: str, text: str, **more: Any) -> Any:
    """An option without a value."""
    return typer.Option(*flags.split(), help=text, **more)


def read_config(context: typer.Context, file: str | None) -> str | None:
    """Take the options of a YAML file as defaults: what the command line says wins."""
    if not file or context.resilient_parsing:
        return file
    import yaml

    try:
        content: Any = yaml.safe_load(Path(file).read_text("utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{file} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise typer.BadParameter(f"{file} must map options to values, such as `seed: 5`.")
    names = {
        flag.lstrip("-").replace("-", "_"): parameter
        for parameter in context.command.params
        for flag in parameter.opts
        if flag.startswith("--")
    }
    defaults = {}
    for key, value in content.items():
        name = str(key).replace("-", "_")
        if name not in names:
            raise typer.BadParameter(f"{file}: no option is called '{key}'. {did_you_mean(name, names)}")
        parameter = names[name]
        if value is None:
            continue
        if getattr(parameter, "multiple", False):
            defaults[parameter.name] = _several(value)
        elif isinstance(value, list | dict):
            raise typer.BadParameter(f"{file}: {key} takes one value.")
        else:
            defaults[parameter.name] = value
    context.default_map = {**(context.default_map or {}), **defaults}
    return file


def _several(value: Any) -> list[str]:
    """A repeatable option's values: one, a list of them, or a mapping such as `columns: {source: src}`."""
    if isinstance(value, dict):
        return [f"{name}={given}" for name, given in value.items()]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


Config = Annotated[
    str | None,
    option("--config -c", "CONFIG", "A YAML file with this command's options.", is_eager=True, callback=read_config),
]
Data = Annotated[list[str] | None, option("--data -d", "DATA", "A file, folder or name of data; repeatable.")]
Source = Annotated[str | None, option("--source", "SOURCE", "Sources, one a line, in place of --data.")]
Reference = Annotated[
    list[str] | None,
    option(
        "--reference",
        "REFERENCE",
        "References for --source, line by line, repeatable; or which references of --data: a name, or all.",
    ),
]
Limit = Annotated[int | None, option("--limit", "N", "Take the first N segments only.", min=1)]
SCORER = option("--scorer -m", "SCORER", "A scorer, e.g. chrf or bleu[lowercase=true]; repeatable.")
Scorers = Annotated[list[str], SCORER]
ScorersOrImport = Annotated[list[str] | None, SCORER]
OUT = option("--out -o", "PATH", "The run folder to make or to continue.")
Out = Annotated[Path, OUT]
MaybeOut = Annotated[Path | None, OUT]
ExportTexts = Annotated[
    Path | None, option("--export", "PATH", "Write every text to judge to DIR/texts.jsonl and stop.")
]
ImportScores = Annotated[
    Path | None, option("--import", "PATH", "Take each file of scores beside DIR/texts.jsonl as one scorer.")
]
Suites = Annotated[
    list[str] | None, option("--suite -p", "SUITE", "A suite, a YAML file, or perturbations; repeatable.")
]
Vocabulary = Annotated[
    str | None,
    option(
        "--vocabulary",
        "shipped|data|FILE",
        "Words for word-insert and word-replace: lists that ship, the input's own, or a file's.",
    ),
]
Columns = Annotated[
    list[str] | None,
    option("--columns", "COLUMNS", "Names of columns: source=src,reference=ref, or translation:VENDOR=col."),
]
Targets = Annotated[
    str, option("--as", "WHAT", "What targets of XLIFF and TMX are: reference, or translation (by the file's vendor).")
]
LanguagePair = Annotated[
    str | None, option("--language-pair -l", "LANGUAGE-PAIR", "Languages such as de-en, where the data do not say.")
]
Seed = Annotated[int, option("--seed", "N", "The seed of all randomness.", min=0)]
Replicates = Annotated[
    int | None, option("--replicates", "N", "Repeat stochastic perturbations; default: as the papers did.", min=1)
]
Resamples = Annotated[int, option("--resamples", "N", "Bootstrap resamples.", min=100, max=1_000_000)]
Restart = Annotated[bool, switch("--restart", "Begin again, discarding what the run folder holds.")]
CacheFile = Annotated[
    str | None, option("--cache", "CACHE", "The result cache: a file, or none. Default: the user's cache folder.")
]
Executor = Annotated[
    str, option("--executor", "EXECUTOR", "Where costly calls run: local, or ray[address=…,actors=…,gpus=…].")
]
OnError = Annotated[
    str, option("--on-error", "WHAT", "Texts without a usable answer: keep (they count as empty) or stop.")
]


def set_device(device: str | None) -> str | None:
    """Where models run from here on."""
    from babelquake.models.settings import configure

    configure(device=device)
    return device


def set_offline(offline: bool) -> bool:
    """No network from here on; that other models stand in for the defaults is said at once."""
    if offline:
        from babelquake.models.settings import configure

        configure(offline=True)
        say_offline()
    return offline


def say_offline() -> None:
    """The first line of a command whose default models are those that ship."""
    typer.echo("babelquake: offline: default models become those that ship, as names and signatures say.", err=True)


Device = Annotated[
    str | None, option("--device", "DEVICE", "Where models run: auto, cpu, cuda or cuda:1.", callback=set_device)
]
Offline = Annotated[
    bool, switch("--offline", "No network: default models become those that ship.", callback=set_offline)
]
Budget = Annotated[
    int | None,
    option("--budget", "N", "The most characters remote systems and judges may get; checked while sending too.", min=0),
]
Memory = Annotated[
    float,
    option("--memory", "GIB", "Room for vectors of texts that come again; more of it saves time.", min=0),
]
AsJson = Annotated[bool, switch("--json", "Print JSON.")]
Examples = Annotated[int, option("--examples", "N", "List this many examples behind the numbers.", min=0)]
Brief = Annotated[bool, switch("--brief", "Print the verdict, no tables.")]
Quiet = Annotated[bool, switch("--quiet -q", "Print nothing but errors, and no progress.")]
Sort = Annotated[str, option("--sort", "SORT", "Order of examples: drop (largest damage first) or row.")]


def columns_of(given: list[str] | None) -> dict[str, str]:
    """`["source=src,reference=ref"]` → a mapping."""
    chosen: dict[str, str] = {}
    for item in ",".join(given or []).split(","):
        if not item.strip():
            continue
        name, equals, column = item.partition("=")
        if not equals or not column.strip():
            raise UserError(f"--columns {item}: expected name=column, such as source=src.")
        if name.strip() in chosen:
            raise UserError(f"--columns names {name.strip()} twice: {chosen[name.strip()]} and {column.strip()}.")
        chosen[name.strip()] = column.strip()
    return chosen


def needed(out: Path | None) -> Path:
    """The run folder, which only --export and --dry-run do without."""
    if out is None:
        raise UserError("no run folder is named: give --out DIR.")
    return out


def warn(warning: str) -> None:
    """One line beside the output."""
    typer.echo(f"babelquake: {warning}", err=True)


def judged_by(scorer: list[str] | None, folder: Path | None) -> list[str]:
    """The scorers that were named, and those whose scores were imported."""
    from babelquake.studies.exchange import imported_scorers

    named = [*(scorer or []), *(imported_scorers(folder) if folder else [])]
    if not named:
        raise UserError("no scorer is named: give --scorer, e.g. --scorer chrf, or --import DIR.")
    return named


def told_exported(written: Path, count: int) -> None:
    """Say what was written, and what to do with it."""
    typer.echo(f"{count} distinct texts to judge in {written}, and in texts.tsv. Put each scorer's scores beside it as")
    typer.echo(f"NAME.txt, one for each line, then run the same command with --import {written.parent}.")
