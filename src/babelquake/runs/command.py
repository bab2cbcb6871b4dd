"""How a run was made: the command that makes it again, and the signatures of everything that took part."""

import shlex
from typing import Any

from babelquake.runs.run import Run


def command_line(run: Run) -> str:
    """The command line on one line."""
    return " ".join(command_lines(run))


def command_lines(run: Run) -> list[str]:
    """The command line, repeated options on separate lines."""
    lines = [["babelquake", *(run.info.words or [run.info.study])]]
    single: list[str] = []
    for key, value in run.info.options.items():
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


def _flag(flag: str, value: Any) -> list[str]:
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [flag]
    if isinstance(value, list):
        return [word for item in value for word in (flag, str(item))]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]
