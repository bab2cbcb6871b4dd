"""babelquake: shake a translation stack and measure what breaks."""

from babelquake.version import VERSION as __version__

__all__ = ["__version__"]
