"""Where batches run. `Local` is this machine; `ray.Ray` is another executor with the same `unordered`."""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from typing import Annotated, Any, Literal, Protocol, TypeVar

from babelquake.errors import ResumableError, StoppedError, UserError, setting
from babelquake.interrupts import IN_FLIGHT, SLICE, check, stop_at_once, stopped
from babelquake.registry import Registry
from babelquake.spec import Range, bind, parameters, parse
from babelquake.warnings_log import warned_again, with_warnings

A = TypeVar("A")
B = TypeVar("B")
NEVER = float("inf")


class Workers(Protocol):
    """Runs a function over batches and hands back each result with its position as soon as it is there."""

    def unordered(self, function: Callable[[A], B], batches: Iterable[A]) -> Iterator[tuple[int, B]]:
        """Yield (position, result) in any order; an error stops what has not begun and is raised after the rest.

        Of several errors the first is raised, with what all of them say was answered before.
        """
        ...


class Local:
    """This machine: in line for one worker, otherwise threads (waiting on others) or processes (computing here).

    `apart` takes a thread even for one worker: a call that waits for others must not keep the main thread, which is the
    one that hears signals. `gpus` takes as many processes, each with a GPU and a replica of the model to itself.
    """

    def __init__(
        self,
        workers: int = 1,
        kind: Literal["threads", "processes"] = "threads",
        apart: bool = False,
        gpus: Annotated[int, Range(0, 64)] = 0,
    ) -> None:
        self.workers = gpus or workers
        self.kind = "processes" if gpus else kind
        self.gpus = gpus
        self.apart = apart
        self._processes: ProcessPoolExecutor | None = None
        """Kept from call to call, with the models they hold, until something fails."""

    def unordered(self, function: Callable[[A], B], batches: Iterable[A]) -> Iterator[tuple[int, B]]:
        """See `Workers`. At most twice as many batches as workers are under way, so memory stays bounded.

        Batches that are under way when one fails, or when the user stops the run, may have been paid for: they are
        waited for – after a signal for a moment only – and handed back before the error is raised.
        """
        if self.workers <= 1 and not self.apart and not self.gpus:
            for position, batch in enumerate(batches):
                check()
                yield position, function(batch)
            return
        pool = self._pool()
        elsewhere = self.kind == "processes"
        work: Callable[[A], Any] = partial(with_warnings, function) if elsewhere else function
        waiting: dict[Future[Any], int] = {}
        todo = iter(enumerate(batches))
        failure: BaseException | None = None
        until = NEVER
        with ExitStack() as stack:
            stack.callback(self._give_back, pool)
            while True:
                try:
                    if until == NEVER:
                        check()
                    while failure is None and len(waiting) < 2 * self.workers and (following := next(todo, None)):
                        waiting[pool.submit(work, following[1])] = following[0]
                    if not waiting or time.monotonic() > until or (until < NEVER and stop_at_once()):
                        break
                    finished, _ = wait(waiting, timeout=SLICE, return_when=FIRST_COMPLETED)
                except KeyboardInterrupt as interrupt:
                    hurried = until < NEVER
                    failure, finished = first_of(interrupt, failure) if failure else interrupt, set()
                    until = time.monotonic() + (0 if hurried else IN_FLIGHT + 2 * SLICE)
                    stack.enter_context(stopped())
                except ResumableError as error:
                    failure, finished = failure or error, set()
                for future in finished:
                    position = waiting.pop(future)
                    if (trouble := future.exception()) is None:
                        yield position, warned_again(future.result()) if elsewhere else future.result()
                    else:
                        failure = first_of(failure, trouble)
                if failure is not None:
                    waiting = {future: position for future, position in waiting.items() if not future.cancel()}
            if failure is None and pool is self._processes:
                stack.pop_all()
        if failure is not None:
            raise failure

    def _pool(self) -> Executor:
        if self.kind == "threads":
            return Threads(self.workers)
        self._processes = self._processes or (
            _one_gpu_each(self.gpus)
            if self.gpus
            else ProcessPoolExecutor(self.workers, initializer=_end_with, initargs=(os.getpid(),))
        )
        return self._processes

    def _give_back(self, pool: Executor) -> None:
        """End threads, and processes that were stopped in the middle."""
        if pool is self._processes:
            self._processes = None
        pool.shutdown(wait=False, cancel_futures=True)


def _one_gpu_each(gpus: int) -> ProcessPoolExecutor:
    """Processes that see one GPU each, among those that this process sees."""
    import torch

    if (there := torch.cuda.device_count()) < gpus:
        raise UserError(f"{setting('executor', f'local[gpus={gpus}]')}: torch sees {there} GPUs on this machine.")
    context = get_context("spawn")  # CUDA does not survive a fork
    visible = context.SimpleQueue()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    for gpu in (named.split(",") if named else [str(number) for number in range(there)])[:gpus]:
        visible.put(gpu)
    return ProcessPoolExecutor(gpus, context, _take_one, (os.getpid(), visible))


def _take_one(parent: int, visible: Any) -> None:
    _end_with(parent)
    os.environ["CUDA_VISIBLE_DEVICES"] = visible.get()


def _end_with(parent: int) -> None:
    """In a worker process, which holds models: end with the process that began it, even where that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def first_of(failure: BaseException | None, trouble: BaseException) -> BaseException:
    """The error to raise: the first one, with the answers that a later one still brings; a signal comes before all."""
    if failure is None:
        return trouble
    if isinstance(trouble, ResumableError) and trouble.answers:
        if not isinstance(failure, ResumableError):
            message = "interrupted" if isinstance(failure, KeyboardInterrupt) else str(failure)
            failure = StoppedError(f"{message}. Finished work is kept: the same command continues.")
        failure.answers.update(trouble.answers)
    return failure


class Threads(Executor):
    """Threads that a process does not wait for as it ends: one of them may hang in somebody else's code."""

    def __init__(self, workers: int) -> None:
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None]
        self._work = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a thread call the function."""
        future: Future[Any] = Future()
        self._work.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No further work; threads end when they have done what they are at."""
        for _ in self._threads:
            self._work.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            future, function, args, kwargs = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)


EXECUTORS: Registry[Any] = Registry(
    "executor",
    "babelquake.executors",
    {"local": "babelquake.engine.executor:Local", "ray": "babelquake.engine.ray_executor:Ray"},
)


def workers(what: str | Workers | None) -> Workers | None:
    """The executor of that name; None is this machine, with as many calls at a time as each resource takes."""
    if not isinstance(what, str):
        return what
    spec = parse(what)
    kind = EXECUTORS.get(spec.name)
    if spec.name == "local" and not spec.options:
        return None
    made: Workers = kind(**bind(spec, parameters(kind), "executor"))
    return made
