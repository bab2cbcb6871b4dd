"""Where this user's files go."""

import atexit
import shutil
import tempfile
from pathlib import Path

from platformdirs import user_cache_dir


def user_cache() -> Path:
    """The folder for what can be computed again: `$XDG_CACHE_HOME/babelquake`, or as the system has it."""
    return Path(user_cache_dir("babelquake", appauthor=False))


def passing_folder() -> Path:
    """A new folder that goes when the program ends."""
    made = Path(tempfile.mkdtemp(prefix="babelquake-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def install_line(extra: str) -> str:
    """The command that installs an extra: of the package from an index, or of the checkout that is running."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "src" / "babelquake").is_dir():
        return f"pip install -e '{checkout}[{extra}]'"
    return f"pip install 'babelquake[{extra}]'"
