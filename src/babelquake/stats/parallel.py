"""All cores for arithmetic: NumPy lets go of the interpreter while it computes, so threads are enough.

Work is cut into pieces that do not depend on the number of cores, so results do not either. A piece that is itself
worked on in a thread of ours is not cut again.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_here = threading.local()


def cores() -> int:
    """Cores this process may use; the environment variable `BABELQUAKE_CORES` lowers it."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("BABELQUAKE_CORES", "")
    return max(1, min(allowed, int(wanted))) if wanted.isdigit() else allowed


MANY_SEGMENTS = 50_000


def in_parallel(function: Callable[[T], R], items: Iterable[T], segments: int = 0) -> Iterator[R]:
    """`map` on all cores, results in order; no more than a few pieces are under way or waiting at once.

    Pieces of many `segments` each go one by one, so that memory does not grow with cores; they are cut further inside.
    """
    workers = cores()
    if workers == 1 or segments > MANY_SEGMENTS or getattr(_here, "working", False):
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="stats", initializer=_mark) as pool:
        rest = iter(items)
        under_way: list[Future[R]] = [pool.submit(function, item) for item in islice(rest, 2 * workers)]
        try:
            while under_way:
                done = under_way.pop(0).result()
                under_way += [pool.submit(function, item) for item in islice(rest, 1)]
                yield done
        finally:
            for future in under_way:
                future.cancel()


def _mark() -> None:
    _here.working = True
