"""Options that several commands share, and a YAML file that can hold a whole command."""

import json
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from babelquake.errors import UserError, did_you_mean
from babelquake.limits import text_of, yaml_of
from babelquake.studies.options import Entry, PerturbingOptions, entries


class Group(TyperGroup):
    """Commands under one name."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a wrong value is called wrong without the word that pydantic puts before it."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Every command with its whole summary, on as many lines as it takes."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _summary(command)) for name, command in commands if command is not None and not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").strip().split("\n\n", 1)[0].split())


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
    try:
        content: Any = yaml_of(text_of(file), file)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error
    except UserError as error:
        raise typer.BadParameter(str(error)) from error
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


def written(entry: Entry, **more: Any) -> Any:
    """An option of a study, as typer takes it."""
    about = entry.option
    limits: dict[str, Any] = {"min": about.low, "max": about.high} if entry.kind in (int, float) else {}
    make: Any = typer.Option
    return make(*entry.flags, metavar=entry.metavar, help=about.help, **limits, **more)


STUDIES_OPTIONS = {entry.name: entry for entry in entries(PerturbingOptions)}


def of_studies(name: str, **more: Any) -> Any:
    """An option that studies have, for other commands too."""
    return written(STUDIES_OPTIONS[name], **more)


Limit = Annotated[int | None, of_studies("limit")]
Vocabulary = Annotated[str | None, of_studies("vocabulary")]
LanguagePair = Annotated[str | None, of_studies("language_pair")]
Seed = Annotated[int, of_studies("seed")]
Replicates = Annotated[int | None, of_studies("replicates")]
Restart = Annotated[bool, of_studies("restart")]
CacheFile = Annotated[str | None, of_studies("cache")]
Executor = Annotated[str, of_studies("executor")]
Quiet = Annotated[bool, of_studies("quiet")]


def set_device(device: str | None) -> str | None:
    """Where models run from here on."""
    from babelquake.models.loading import configure

    configure(device=device)
    return device


def set_offline(offline: bool) -> bool:
    """No network from here on; a message says at once which models replace the defaults."""
    if offline:
        from babelquake.models.loading import configure

        configure(offline=True)
        say_offline()
    return offline


def say_offline() -> None:
    """The first line of a command whose default models are those that ship."""
    typer.echo(
        "babelquake: offline: the bundled models replace default models; names and signatures show which.", err=True
    )


Device = Annotated[str | None, of_studies("device", callback=set_device)]
Offline = Annotated[bool, of_studies("offline", callback=set_offline)]
AsJson = Annotated[bool, switch("--json", "Print JSON.")]
Examples = Annotated[int, option("--examples", "N", "List this many examples behind the numbers.", min=0)]
Brief = Annotated[bool, switch("--brief", "Print only the verdict, without tables.")]
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


def print_json(value: Any, indent: int | None = None) -> None:
    """An answer for other programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=indent))


def warn(warning: str) -> None:
    """One line beside the output."""
    typer.echo(f"babelquake: {warning}", err=True)
