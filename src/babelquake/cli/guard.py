"""How the program ends: 0 done, 1 a gate said no, 2 wrong input, 3 interrupted but resumable, 70 internal error.

A gate's "no" is the one thing that status 1 ever means. Whatever else happens – a fault in the program, a closed
terminal, a pipe that nobody reads, memory that runs out – has its own status.
"""

import errno
import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer

from babelquake.errors import BabelquakeError, UserError, read_at_terminal
from babelquake.escape import visible
from babelquake.interrupts import RESUMABLE, check, ignore_signals, stopping
from babelquake.paths import user_cache

P = ParamSpec("P")
R = TypeVar("R")
FAULT = 70
"""The status of an unexpected error (EX_SOFTWARE of sysexits.h)."""
UNTOLD = 130
"""What typer returns where it caught a KeyboardInterrupt itself."""
LIGHT, SMALL, ROOM = frozenset({"perturb", "list_things", "cache"}), 800_000_000, 1_700_000_000
"""Commands that need fewer libraries, and the bytes of addresses that they and the others want on two cores."""
TRACKERS = ("issues", "bug tracker", "tracker")
"""What packages call the address for reports."""


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """A command that reports errors the way the command line promises."""

    @functools.wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with read_at_terminal():
            return guard(*args, **kwargs)

    def guard(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _require_addresses(SMALL if command.__name__ in LIGHT else ROOM)
            done = command(*args, **kwargs)
            check()
            return done
        except BabelquakeError as error:
            _say(str(error))
            raise typer.Exit(error.exit_status) from error
        except KeyboardInterrupt:
            _say(f"interrupted.{_promise(kwargs)}")
            raise typer.Exit(RESUMABLE) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if full:
                _discard_output()
            where = f"{error.filename}: " if error.filename else ""
            _say(f"{where}{error.strerror or error}.")
            raise typer.Exit(RESUMABLE if full else 2) from error

    return call


def _require_addresses(wanted: int) -> None:
    """Refuse a limit on addresses that ends the process within some library: OpenBLAS says 1, which is a gate's no."""
    try:
        limits = Path("/proc/self/limits").read_text("utf-8")
    except OSError:  # not Linux
        return
    allowed = next((line.split()[3] for line in limits.splitlines() if line.startswith("Max address space")), "")
    if allowed.isdecimal() and int(allowed) < wanted:
        raise UserError(
            f"`ulimit -v` limits addresses to {int(allowed) // 10**6:,} MB, but numerical libraries need "
            f"{wanted // 10**6:,} MB. Raise it: ulimit -v unlimited."
        )


def _promise(options: Mapping[str, Any]) -> str:
    """What an interrupted command keeps, and nothing that it does not."""
    if options.get("out") is None:
        return ""
    if options.get("cache") == "none":
        return " Finished tables are kept, single answers are not (--cache none): the same command continues."
    return " What is finished is kept: the same command continues."


@contextmanager
def unread_is_no_verdict() -> Iterator[None]:
    """Print for a reader who may have gone (`| head -1`): what follows – a gate's answer – is still given."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _discard_output()


def enter(app: typer.Typer) -> NoReturn:
    """Run the program and end the process with the status that belongs to what happened."""
    _open_streams()
    status = _status_of(app)
    ignore_signals(status)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        _discard_output()
    except (OSError, ValueError):
        status = status or 3
        _discard_output()
    raise SystemExit(status)


def _status_of(app: typer.Typer) -> int:
    told = 0
    try:
        check()
        with read_at_terminal():
            told = app(standalone_mode=False)
        if told == UNTOLD and stopping():  # typer's word for a KeyboardInterrupt outside of a command
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted.")
        return RESUMABLE
    except BrokenPipeError:
        _discard_output()
        return 0
    except SystemExit as end:
        return 0 if end.code in (0, None) or isinstance(end.__context__, BrokenPipeError) else FAULT
    except BabelquakeError as error:  # an option's own, before its command begins
        _say(str(error))
        return error.exit_status
    except MemoryError:
        _say("out of memory. Use fewer segments, perturbations or texts at once. Finished tables are kept.")
        return FAULT
    except BaseException as error:  # a panic in a library written in Rust is not an Exception
        return _misused(error) if hasattr(error, "show") and hasattr(error, "exit_code") else _fault(error)
    return told if isinstance(told, int) else 0


def _misused(error: Any) -> int:
    """A command line that cannot be parsed explains itself."""
    with suppress(OSError, ValueError):
        error.show()
    return 2


def _fault(error: BaseException) -> int:
    """One line for the user, everything else into a file that can be sent to us."""
    what = traceback.format_exception_only(error)[-1].strip()
    log = _logged("".join(traceback.format_exception(error)))
    where = f" Details are in {log}." if log else ""
    _say(f"internal error: {what[:300]}.{where} {_whom_to_tell()}")
    return FAULT


def _whom_to_tell() -> str:
    """Where the package as installed says that faults are reported, if it says so."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        named = [line.partition(", ") for line in metadata("babelquake").get_all("Project-URL", [])]
    except PackageNotFoundError:
        named = []
    address = next((url for label, _, url in named if label.lower() in TRACKERS), None)
    return f"Please report it at {address}." if address else "Please report it with that file."


def _logged(trace: str) -> Path | None:
    import platform
    import tempfile

    from babelquake.version import VERSION

    now = datetime.now(UTC)
    head = f"babelquake {VERSION}, Python {platform.python_version()}, {platform.platform()}, {now.isoformat()}\n"
    name = f"error-{now:%Y%m%d-%H%M%S}-{os.getpid()}.log"
    for folder in (user_cache() / "errors", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(head + trace, encoding="utf-8", errors="backslashreplace")
            return folder / name
        except OSError:
            continue
    return None


def _open_streams() -> None:
    """Give the process three streams that take any character, whatever it was started with."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - open for as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(message: str) -> None:
    """One line to the user, in which nothing can move the cursor."""
    with suppress(OSError, ValueError):
        typer.echo("babelquake: " + "\n".join(visible(line) for line in message.split("\n")), err=True)


def _discard_output() -> None:
    """Nobody takes what is still to be written: do not try again as the program ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
