"""The options that every study has, said once: a command receives them as one value and finishes through it."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.errors import UserError

if TYPE_CHECKING:
    from babelquake.data import Dataset
    from babelquake.engine import Engine
    from babelquake.runs.run import Run


@dataclass(frozen=True)
class Shared:
    """Which data, how to call models, what to print."""

    data: opt.Data = None
    source: opt.Source = None
    reference: opt.Reference = None
    limit: opt.Limit = None
    columns: opt.Columns = None
    targets: opt.Targets = "reference"
    language_pair: opt.LanguagePair = None
    seed: opt.Seed = 0
    config: opt.Config = None
    cache: opt.CacheFile = None
    executor: opt.Executor = "local"
    device: opt.Device = None
    offline: opt.Offline = False
    on_error: opt.OnError = "keep"
    budget: opt.Budget = None
    memory: opt.Memory = 1
    restart: opt.Restart = False
    examples: opt.Examples = 0
    sort: opt.Sort = "drop"
    brief: opt.Brief = False
    quiet: opt.Quiet = False
    as_json: opt.AsJson = False

    def read(self) -> "Dataset":
        """The data set: from --data, or from files of lines as --source and --reference name them."""
        from babelquake.data import read
        from babelquake.data.request import Targets
        from babelquake.spec import Spec

        named, references = list(self.data or []), self.reference or []
        if references and self.source is None and (not named or len(references) > 1):
            raise UserError("--reference goes with --source, or names one of the references of --data.")
        if self.source is not None:
            files = {f"reference{place if place > 1 else ''}": path for place, path in enumerate(references, 1)}
            named.append(str(Spec("parallel").with_options(source=self.source, **files)))
        if not named:
            raise UserError("no data are named: give --data, or --source and --reference.")
        chosen = references[0] if references and self.source is None else None
        columns = opt.columns_of(self.columns)
        targets = opt.one_of("--as", self.targets, Targets)
        found = read(named, columns=columns, language_pair=self.language_pair, reference=chosen, targets=targets)
        return found if self.limit is None else found.first(self.limit)

    def read_aloud(self) -> "Dataset":
        """The data set, and what there is to say of it beside the output: for what leaves no run that says it."""
        found = self.read()
        for note in [] if self.quiet else found.notes:
            opt.warn(note)
        return found

    def engine(self) -> "Engine":
        """The engine that was asked for; a damaged cache is told about."""
        from babelquake.engine import Cache, Engine, workers

        store = None if self.cache == "none" else Cache(self.cache, tell=opt.warn)
        on_error = opt.one_of("--on-error", self.on_error, Literal["keep", "stop"])
        room = int(self.memory * 2**30)
        run_by = workers(self.executor)
        return Engine(store, self.quiet, workers=run_by, on_error=on_error, budget=self.budget, memory_bytes=room)

    def how(self, engine: "Engine | None" = None) -> dict[str, Any]:
        """What every study is told beside its own options."""
        return {"seed": self.seed, "restart": self.restart, "engine": engine or self.engine()}

    def finish(self, run: "Run", keep: bool = True, **said: Any) -> None:
        """Keep what the user said with the run, and print what it found; `keep` is false for a run that passes."""
        from babelquake.cli.results import remember, show

        remember(
            run,
            data=self.data or [],
            source=self.source,
            reference=self.reference,
            limit=self.limit,
            columns=opt.columns_of(self.columns),
            language_pair=self.language_pair,
            **({} if self.targets == "reference" else {"as": self.targets}),
            **said,
        )
        show(run, self, keep)


def study_command(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the shared options behind its own; the function receives them as `shared`."""
    hints = get_type_hints(Shared, include_extras=True)
    common = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(Shared)
        if field.default is not MISSING
    ]
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items()
        if name != "shared"
    ]
    names = {parameter.name for parameter in common}

    @functools.wraps(function)
    def command(**given: Any) -> None:
        shared = Shared(**{name: value for name, value in given.items() if name in names})
        function(shared, **{name: value for name, value in given.items() if name not in names})

    required_first = sorted([*own, *common], key=lambda parameter: parameter.default is not parameter.empty)
    command.__signature__ = inspect.Signature(required_first)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in required_first}
    return guarded(command)
