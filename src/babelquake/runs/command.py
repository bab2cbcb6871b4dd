"""How a run was made: the command that makes it again, and the signatures of everything that took part."""

import shlex
from typing import Any

from babelquake.runs.run import Run


def command_line(run: Run) -> str:
    """The command line on one line."""
    return " ".join(command_lines(run))


def command_lines(run: Run) -> list[str]:
    """The command line, repeated options on lines of their own.

    It says what the user said where the command line made the run. A run made from Python kept its configuration only:
    data are called by their name then, and what came from the data or the suite rather than from an option is left out.
    """
    said = run.info.facts.command
    lines = [["babelquake", *(said.words if said is not None and said.words else [run.info.study])]]
    single: list[str] = []
    for key, value in _options(run).items():
        words = _flag("--" + key.replace("_", "-"), value)
        if len(words) > 2:
            lines.append(words)
        else:
            single += words
    return [shlex.join(words) for words in [*lines, [*single, "--out", run.folder.name or "RUN"]]]


def signatures(run: Run) -> dict[str, str]:
    """Who took part, data and version included."""
    named = dict(run.info.signatures)
    data = run.info.config.get("data")
    if data:
        named["data"] = ", ".join(map(str, data)) if isinstance(data, list) else str(data)
    named["babelquake"] = run.info.versions.get("babelquake", "")
    return {name: text for name, text in named.items() if text}


def _options(run: Run) -> dict[str, Any]:
    """Option → value, as the command line takes them."""
    config = dict(run.info.config)
    if (said := run.info.facts.command) is not None:
        if said.words:
            return {name: value for name, value in config.items() if name != "data"}
        suite = said.suite if config.get("suite") else None
        columns = ",".join(f"{field}={column}" for field, column in said.columns.items())
        given = {name: value for name, value in said.model_dump().items() if value is not None}
        return {
            **config,
            "language_pair": None,
            "replicates": None,
            **given,
            "suite": suite,
            "columns": columns or None,
        }
    data = config.get("data", [])
    pairs, replicates = config.get("language_pair"), config.get("replicates")
    return {
        **config,
        "data": [str(item).rsplit("#", 1)[0] for item in (data if isinstance(data, list) else [data])],
        "language_pair": _the_one(pairs),
        "replicates": _the_one(replicates),
    }


def _the_one(values: Any) -> Any:
    """The value itself, or the one that all of a list share; None where they differ."""
    if not isinstance(values, list):
        return values
    return values[0] if values and all(value == values[0] for value in values) else None


def _flag(flag: str, value: Any) -> list[str]:
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [flag]
    if isinstance(value, list):
        return [word for item in value for word in (flag, str(item))]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]
