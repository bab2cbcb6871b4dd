"""Where this user's files go."""

import os
import tempfile
from pathlib import Path


def user_cache() -> Path:
    """The folder for what can be computed again: `$XDG_CACHE_HOME/babelquake` or `~/.cache/babelquake`.

    Where there is no home, a folder in the system's place for temporary files that carries the user's number.
    """
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "babelquake"
    try:
        return Path.home() / ".cache" / "babelquake"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"babelquake-{os.getuid()}"
