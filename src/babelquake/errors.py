"""What can go wrong, sorted by whose turn it is to act; each kind has its exit status."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

FLAGS = {
    "constraints": "constraint",
    "defences": "defence",
    "judges": "judge",
    "kinds": "kind",
    "recipes": "recipe",
    "runs": "from",
    "scorers": "scorer",
    "statistics": "statistic",
    "systems": "system",
    "targets": "as",
    "tokenizers": "tokenizer",
    "victims": "victim",
}
"""Options whose flag is not their name in Python with hyphens: most of them are repeated at the terminal."""
_terminals: list[None] = []
"""How many commands are under way in this process: messages are read at the terminal while one is."""


@contextmanager
def read_at_terminal() -> Iterator[None]:
    """Messages name options as the command line writes them; elsewhere they name Python's arguments."""
    _terminals.append(None)
    try:
        yield
    finally:
        _terminals.pop()


def setting(name: str, value: object = None, *, metavar: str = "") -> str:
    """An option in a message, as its reader writes it: `--max-queries 5` at the terminal, `max_queries=5` in Python.

    `name` is Python's; a switch has the value True, a mapping is written as `--columns source=a,reference=b`.
    `metavar` stands for a value that is up to the reader: `--data FILE`, `data=…`.
    """
    if not _terminals:
        shown = "…" if metavar else repr(str(value) if isinstance(value, Path) else value)
        return name if value is None and not metavar else f"{name}={shown}"
    flag = "--" + FLAGS.get(name, name).replace("_", "-")
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={item}" for key, item in value.items())
    return flag if (value is None or value is True) and not metavar else f"{flag} {metavar or value}"


class BabelquakeError(Exception):
    """Base of every error that is reported as one line instead of a traceback."""

    exit_status = 2


class UserError(BabelquakeError):
    """The input was wrong: the message names the file and line, or the option (`setting`), and says what would be
    right."""


class GateError(BabelquakeError):
    """A gate said no: the run is fine, its result is not."""

    exit_status = 1


class ResumableError(BabelquakeError):
    """Interrupted, with finished work kept: the same command continues where it stopped.

    `answers` is what was answered before the trouble, by text: whoever keeps results keeps these too.
    """

    exit_status = 3

    def __init__(self, message: str, answers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.answers: dict[str, str] = dict(answers or {})


class QuotaError(ResumableError):
    """The provider will take no more for now: finished work is kept and the same command continues later."""


class StoppedError(ResumableError):
    """The user stopped the process while something was waiting."""


class UnansweredError(ResumableError):
    """Some texts got no usable answer, though each was asked alone: `reasons` says why, by text; the rest is in
    `answers`."""

    def __init__(
        self, message: str, answers: Mapping[str, str] | None = None, reasons: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, answers)
        self.reasons: dict[str, str] = dict(reasons or {})


def as_list(given: Any) -> list[Any]:
    """Lists, generators, series of polars and pandas, arrays of NumPy and pyarrow as a list."""
    convert = next((how for how in ("to_list", "to_pylist", "tolist") if hasattr(given, how)), None)
    return list(given if convert is None else getattr(given, convert)())


def listed_texts(name: str, given: Any) -> list[Any]:
    """Texts as a list, from whatever `as_list` takes.

    A single text would be taken for a list of its letters, a table for a list of its columns, and None is not text.
    A list in the place of a text is left to those who take several references.
    """
    if isinstance(given, str):
        raise UserError(f"{name} must be a list of texts, one per segment: write [text] for a single one.")
    if isinstance(given, Mapping) or hasattr(given, "columns") or hasattr(given, "column_names"):
        raise UserError(f"{name} must be a list of texts, and this is a table. Use one of its columns.")
    found = as_list(given)
    for place, text in enumerate(found, 1):
        if not isinstance(text, str | list | tuple):
            raise UserError(f"{name} must be a list of texts; number {place} is {text!r}.")
    return found


def one_of(name: str, value: str, choices: Any) -> Any:
    """An option's word that must be one of a Literal's; otherwise the error names them all."""
    known = get_args(choices)
    if value not in known:
        raise UserError(f"{setting(name, value)}: expected {', '.join(known[:-1])} or {known[-1]}.")
    return value


MOST_NAMES = 20
"""Names that an error lists; of more only the nearest are named."""


def did_you_mean(wrong: str, known: Iterable[str], listing: str = "") -> str:
    """A hint for a misspelt name: the nearest known ones, or the whole choice when nothing is near.

    Of a long choice the three nearest are named all the same, and what lists them all (`listing`: perturbations).
    """
    choices = sorted(known)
    spelt = {name.casefold(): name for name in choices}
    asked = wrong.casefold()
    near = get_close_matches(asked, spelt, n=3, cutoff=0.6)
    near = near or [name for name in spelt if len(asked) > 2 and asked in name][:3]
    if near:
        return f"Did you mean {' or '.join(repr(spelt[name]) for name in near)}?"
    if len(choices) <= MOST_NAMES:
        return f"Available: {', '.join(choices)}." if choices else ""
    nearest = ", ".join(spelt[name] for name in get_close_matches(asked, spelt, n=3, cutoff=0.0))
    found = f"The nearest of {len(choices)} are {nearest}."
    return f"{found} See: babelquake list {listing}" if listing else found
