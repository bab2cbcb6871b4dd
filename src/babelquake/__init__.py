"""babelquake: shake a translation stack and measure what breaks."""

from babelquake.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
