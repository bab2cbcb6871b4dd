"""Where this user's files go."""

from pathlib import Path

from platformdirs import user_cache_dir


def user_cache() -> Path:
    """The folder for what can be computed again: `$XDG_CACHE_HOME/babelquake`, or as the system has it."""
    return Path(user_cache_dir("babelquake", appauthor=False))
