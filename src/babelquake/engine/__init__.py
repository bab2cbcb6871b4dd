"""The engine makes costly calls cheap and safe: duplicates, batches, cache, resume, local or elsewhere."""

from babelquake.engine.cache import Cache
from babelquake.engine.engine import Engine, in_turn, sharing
from babelquake.engine.executor import Local, Workers, workers
from babelquake.engine.memory import Memory
from babelquake.engine.progress import Progress
from babelquake.engine.searches import Ask, pool
from babelquake.engine.worker import build

__all__ = [
    "Ask",
    "Cache",
    "Engine",
    "Local",
    "Memory",
    "Progress",
    "Workers",
    "build",
    "in_turn",
    "pool",
    "sharing",
    "workers",
]
