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
