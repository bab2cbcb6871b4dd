"""Options that several commands share, and a YAML file that can hold a whole command."""

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from babelquake.errors import UserError, did_you_mean


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
    typer.Option(
        "--config", "-c", is_eager=True, callback=read_config, help="A YAML file with this command's options."
    ),
]
Data = Annotated[list[str], typer.Option("--data", "-d", help="A file, folder or name of data; repeatable.")]
Scorers = Annotated[
    list[str], typer.Option("--scorer", "-m", help="A scorer, e.g. chrf or bleu[lowercase=true]; repeatable.")
]
Suites = Annotated[
    list[str] | None, typer.Option("--suite", "-p", help="A suite, a YAML file, or perturbations; repeatable.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run folder to make or to continue.")]
Columns = Annotated[list[str] | None, typer.Option("--columns", help="Names of columns: source=src,reference=ref.")]
LanguagePair = Annotated[
    str | None, typer.Option("--language-pair", "-l", help="Languages such as de-en, where the data do not say.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of all randomness.")]
Replicates = Annotated[
    int | None, typer.Option("--replicates", min=1, help="Repeat stochastic perturbations; default: as the papers did.")
]
Resamples = Annotated[int, typer.Option("--resamples", min=100, help="Bootstrap resamples.")]
Restart = Annotated[bool, typer.Option("--restart", help="Begin again, discarding what the run folder holds.")]
CacheFile = Annotated[
    str | None, typer.Option("--cache", help="The result cache: a file, or none. Default: the user's cache folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Examples = Annotated[int, typer.Option("--examples", min=0, help="List this many examples behind the numbers.")]
Sort = Annotated[str, typer.Option("--sort", help="Order of examples: drop (largest damage first) or row.")]


def one_of(flag: str, value: str, choices: Any) -> Any:
    """A word that must be one of a Literal's; otherwise the error names them all."""
    known = get_args(choices)
    if value not in known:
        raise UserError(f"{flag} {value}: expected {', '.join(known[:-1])} or {known[-1]}.")
    return value


def columns_of(given: list[str] | None) -> dict[str, str]:
    """`["source=src,reference=ref"]` → a mapping."""
    chosen = {}
    for item in ",".join(given or []).split(","):
        if not item.strip():
            continue
        name, equals, column = item.partition("=")
        if not equals or not column.strip():
            raise UserError(f"--columns {item}: expected name=column, such as source=src.")
        chosen[name.strip()] = column.strip()
    return chosen


def read_data(data: list[str], columns: dict[str, str], language_pair: str | None) -> Any:
    """The data set; what its readers noticed is told."""
    from babelquake.data import read

    found = read(data, columns=columns, language_pair=language_pair)
    for note in found.notes:
        typer.echo(f"babelquake: {note}", err=True)
    return found


def engine_of(cache: str | None) -> Any:
    """An engine with the chosen cache; a damaged one is told about."""
    from babelquake.engine import Cache, Engine

    if cache == "none":
        return Engine()
    return Engine(Cache(cache, tell=lambda warning: typer.echo(f"babelquake: {warning}", err=True)))
