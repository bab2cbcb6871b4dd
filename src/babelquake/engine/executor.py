"""Where batches run. `Local` now; another executor only has to offer the same `unordered`."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Literal, Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Workers(Protocol):
    """Runs a function over batches and hands back each result with its position as soon as it is there."""

    def unordered(self, function: Callable[[A], B], batches: Sequence[A]) -> Iterator[tuple[int, B]]:
        """Yield (position, result) in any order; the first error stops what has not begun and is raised."""
        ...


class Local:
    """This machine: in line for one worker, otherwise threads (waiting on others) or processes (computing here)."""

    def __init__(self, workers: int = 1, kind: Literal["threads", "processes"] = "threads") -> None:
        self.workers = workers
        self.kind = kind

    def unordered(self, function: Callable[[A], B], batches: Sequence[A]) -> Iterator[tuple[int, B]]:
        """See `Workers`. At most twice as many batches as workers are under way, so memory stays bounded."""
        if self.workers <= 1:
            for position, batch in enumerate(batches):
                yield position, function(batch)
            return
        pool: Executor = (ThreadPoolExecutor if self.kind == "threads" else ProcessPoolExecutor)(self.workers)
        waiting: dict[Future[B], int] = {}
        todo = iter(enumerate(batches))
        try:
            while True:
                while len(waiting) < 2 * self.workers and (following := next(todo, None)) is not None:
                    position, batch = following
                    waiting[pool.submit(function, batch)] = position
                if not waiting:
                    return
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield waiting.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
