"""What can go wrong, sorted by whose turn it is to act; each kind has its exit status."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, get_args

FLAG = re.compile(r"--([a-z][a-z-]*[a-z])(?: ('[^']*'|[^\s;:,()]*[^\s;:,().]))?")
SWITCHES = frozenset({"attacked", "deduplicate", "fresh", "offline", "quiet", "restart"})
WORDY = re.compile(
    "by|check|constraint|defence|device|executor|fail-on|goal|masked-lm|on-error|reset|side|sort|statistic"
)
"""Options whose values are plain words."""
FOLLOWING = re.compile(
    "and|are|belongs|chooses|for|from|goes|if|in|is|leaves|makes|names|of|or|out|says|takes|to|where|with"
)
"""Words that continue a sentence after an option, rather than being its value."""
SEVERAL = re.compile("constraint|defence|recipe|scorer|statistic|system|tokenizer|victim")
"""Options that are repeated at the terminal and take a list in Python."""
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


def in_python(message: str) -> str:
    """A message in which `--max-queries 5` is `max_queries=5`."""
    return FLAG.sub(_argument, message)


def _argument(found: re.Match[str]) -> str:
    flag, value = found.group(1), found.group(2)
    name = flag.replace("-", "_") + ("s" if SEVERAL.fullmatch(flag) else "")
    if flag in SWITCHES:
        return f"{name}=True" + (f" {value}" if value else "")
    if value is None:
        return name
    ends = found.string[found.end() : found.end() + 1] in ("", ".", ";", ":", ",", ")")
    plain = re.fullmatch(r"[a-z-]+", value) is not None
    if FOLLOWING.fullmatch(value) or (plain and not ends and not WORDY.fullmatch(flag)):
        return f"{name} {value}"
    return f"{name}={value if re.fullmatch(r'[0-9.]+|.*[^a-z0-9_.-].*|[A-Z]+', value) else repr(value)}"


class BabelquakeError(Exception):
    """Base of every error that is reported as one line instead of a traceback."""

    exit_status = 2


class UserError(BabelquakeError):
    """The input was wrong: the message names the file and line, or the option, and says what would be right.

    Options are written as flags; who reads the message in Python reads the names of arguments.
    """

    def __str__(self) -> str:
        message = super().__str__()
        return message if _terminals else in_python(message)


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


def require_texts(**given: Iterable[object] | None) -> None:
    """Lists of texts, by name; a single text would be taken for a list of its letters, and None is not text.

    A list in the place of a text is left to those who take several references.
    """
    for name, texts in given.items():
        if isinstance(texts, str):
            raise UserError(f"{name} are a list of texts, one per segment: write [text] for a single one.")
        for place, text in enumerate(() if texts is None else texts, 1):
            if not isinstance(text, str | list | tuple):
                raise UserError(f"{name} are a list of texts; number {place} is {text!r}.")


def one_of(flag: str, value: str, choices: Any) -> Any:
    """A word that must be one of a Literal's; otherwise the error names them all."""
    known = get_args(choices)
    if value not in known:
        raise UserError(f"{flag} {value}: expected {', '.join(known[:-1])} or {known[-1]}.")
    return value


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: the nearest known ones, or the whole choice when nothing is near."""
    choices = sorted(known)
    spelt = {name.casefold(): name for name in choices}
    near = [spelt[name] for name in get_close_matches(wrong.casefold(), spelt, n=3, cutoff=0.6)]
    if near:
        return f"Did you mean {' or '.join(repr(name) for name in near)}?"
    return f"Known are: {', '.join(choices)}." if choices else ""
