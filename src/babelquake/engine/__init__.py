"""The engine makes costly calls cheap and safe: duplicates, batches, cache, resume, local or elsewhere."""

from babelquake.engine.cache import Cache
from babelquake.engine.engine import Engine
from babelquake.engine.executor import Local, Workers
from babelquake.engine.pool import pool
from babelquake.engine.progress import Progress

__all__ = ["Cache", "Engine", "Local", "Progress", "Workers", "pool"]
