"""Where batches run. `Local` now; another executor only has to offer the same `unordered`."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Literal, Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Workers(Protocol):
    """Runs a function over batches and hands back each result with its position as soon as it is there."""

    def unordered(self, function: Callable[[A], B], batches: Sequence[A]) -> Iterator[tuple[int, B]]:
        """Yield (position, result) in any order; an error stops what has not begun and is raised after the rest."""
        ...


class Local:
    """This machine: in line for one worker, otherwise threads (waiting on others) or processes (computing here)."""

    def __init__(self, workers: int = 1, kind: Literal["threads", "processes"] = "threads") -> None:
        self.workers = workers
        self.kind = kind

    def unordered(self, function: Callable[[A], B], batches: Sequence[A]) -> Iterator[tuple[int, B]]:
        """See `Workers`. At most twice as many batches as workers are under way, so memory stays bounded.

        Batches that are under way when one fails, or at Ctrl-C, may have been paid for: they are waited for and handed
        back before the error is raised.
        """
        if self.workers <= 1:
            for position, batch in enumerate(batches):
                yield position, function(batch)
            return
        pool: Executor = (ThreadPoolExecutor if self.kind == "threads" else ProcessPoolExecutor)(self.workers)
        waiting: dict[Future[B], int] = {}
        todo = iter(enumerate(batches))
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(waiting) < 2 * self.workers and (following := next(todo, None)):
                    position, batch = following
                    waiting[pool.submit(function, batch)] = position
                if not waiting:
                    break
                try:
                    finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                except KeyboardInterrupt as interrupt:
                    if failure is not None:
                        raise
                    failure, finished = interrupt, set()
                for future in finished:
                    position = waiting.pop(future)
                    if (error := future.exception()) is None:
                        yield position, future.result()
                    else:
                        failure = failure or error
                if failure is not None:
                    waiting = {future: position for future, position in waiting.items() if not future.cancel()}
            if failure is not None:
                raise failure
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
