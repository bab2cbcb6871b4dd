"""Batches on Ray actors: this machine's cores and GPUs, or a cluster's.

Each actor is a process that builds the resource once from its recipe and keeps it: one model per actor. The driver
hands out batches, two per actor at a time, so that its memory and theirs stay bounded, and keeps each answer.
An actor that dies – killed, out of memory, lost with its node – is replaced and its batches are handed out again: that
costs time and nothing else. Only actors that are up get batches, so a cluster that has shrunk goes on with the rest.
Batches are cut before they are handed out and answers do not depend on their company, so the results are the ones
`Local` gives, byte for byte.
"""

import logging
import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, TypeVar

from babelquake.engine.executor import NEVER, first_of
from babelquake.errors import ResumableError, UserError, setting
from babelquake.interrupts import IN_FLIGHT, RESUMABLE, SLICE, check, handlers_restored, stop_at_once
from babelquake.paths import install_line
from babelquake.spec import Range
from babelquake.warnings_log import warned_again, with_warnings

A = TypeVar("A")
B = TypeVar("B")
AHEAD = 2
"""Batches that an actor has at a time: one to work on, one that waits."""
DEATHS = 3
"""Actors that may die over one batch before the batch is to blame."""
HEAD_PATIENCE, LOOK = 20.0, 2.0
"""Seconds for which a cluster's head may be out of reach, and between two looks."""
GONE = "the head of the Ray cluster cannot be reached any more. Finished work is kept."
PATIENCE = 300.0
"""Seconds without a single actor before a cluster is given up."""


class Ray:
    """Ray's actors as workers. `address` is an existing cluster's; without it, a cluster on this machine is begun.

    `actors` is how many there are (default: as many as fit into the cluster), `cpus` and `gpus` what each one gets.
    """

    def __init__(
        self,
        address: str | None = None,
        actors: Annotated[int | None, Range(1, 100_000)] = None,
        cpus: Annotated[float, Range(0.01, 1024)] = 1.0,
        gpus: Annotated[float, Range(0, 64)] = 0.0,
    ) -> None:
        self._address = address
        self._wanted = actors
        self._cpus, self._gpus = cpus, gpus
        self._actors: list[Any] = []
        self._rising: dict[Any, int] = {}
        """Who has not said yet that it is up: a promise of its word, and its place among the actors."""
        self._begun = False
        self._head: Head | None = None

    def unordered(self, function: Callable[[A], B], batches: Iterable[A]) -> Iterator[tuple[int, B]]:
        """See `Workers`."""
        ray = self._ray()
        call = ray.put(function)
        todo = iter(enumerate(batches))
        again: deque[tuple[int, A]] = deque()
        under_way: dict[Any, tuple[int, A, Any]] = {}
        deaths: dict[int, int] = {}
        failure: BaseException | None = None
        until = NEVER
        alone = time.monotonic()
        exhausted = False
        while True:
            try:
                if until == NEVER:
                    check()
                if self._head is not None and self._head.lost and failure is None:
                    until = time.monotonic() + IN_FLIGHT
                    raise ResumableError(f"{GONE} The same command continues, with another cluster or none.")
                while failure is None and (actor := self._idle([sent for *_, sent in under_way.values()])) is not None:
                    following = again.popleft() if again else next(todo, None)
                    if following is None:
                        exhausted = True
                        break
                    position, batch = following
                    under_way[actor.answer.remote(call, batch)] = (position, batch, actor)
                done = not under_way and (failure is not None or (exhausted and not again))
                if done or time.monotonic() > until or (until < NEVER and stop_at_once()):
                    break
                finished, _ = ray.wait([*under_way, *self._rising], timeout=SLICE)
                if under_way or len(self._rising) < len(self._actors):
                    alone = time.monotonic()
                elif time.monotonic() - alone > PATIENCE:
                    raise ResumableError(
                        f"no actor of the Ray cluster has started for {PATIENCE:.0f} seconds. Finished work is kept."
                    )
            except KeyboardInterrupt as interrupt:
                hurried = until < NEVER
                failure, finished = first_of(interrupt, failure) if failure else interrupt, []
                until = time.monotonic() + (0 if hurried else IN_FLIGHT)
            except ResumableError as error:
                failure, finished = failure or error, []
            for task in finished:
                if task in self._rising:
                    self._has_risen(task)
                    continue
                position, batch, actor = under_way.pop(task)
                try:
                    result: B = warned_again(ray.get(task))
                except _deaths(ray) as death:
                    deaths[position] = deaths.get(position, 0) + 1
                    if deaths[position] > DEATHS:
                        failure = first_of(failure, _to_blame(death))
                        continue
                    self._replace(actor)
                    again.append((position, batch))
                except ray.exceptions.RayTaskError as error:
                    failure = first_of(failure, error.cause if isinstance(error.cause, BaseException) else error)
                else:
                    yield position, result
        if until < NEVER:
            self.close()
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Give the actors back, and the cluster where we began it."""
        if self._head is not None:
            self._head.close()
            if self._head.lost:  # nobody is left to be told
                self._actors, self._rising, self._begun = [], {}, False
            self._head = None
        if not self._actors and not self._begun:
            return
        import ray

        for actor in self._actors:
            ray.kill(actor)
        self._actors, self._rising = [], {}
        if self._begun:
            ray.shutdown()
            self._begun = False

    def _ray(self) -> Any:
        """Ray itself, connected, with the actors in place."""
        try:
            import ray
            import ray.exceptions
        except ImportError:
            raise UserError(f"{setting('executor', 'ray')} needs Ray: {install_line('ray')}.") from None
        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            quiet: dict[str, Any] = {"include_dashboard": False} if self._address is None else {}
            if self._address is None:
                quiet["num_cpus"] = max(os.cpu_count() or 1, round((self._wanted or 1) * self._cpus))
            try:
                with handlers_restored():
                    ray.init(
                        address=self._address or "local", log_to_driver=False, logging_level=logging.ERROR, **quiet
                    )
            except (ConnectionError, RuntimeError, ValueError) as error:
                first = str(error).strip().partition("\n")[0]
                raise UserError(f"no Ray cluster could be reached or started: {first}") from error
            self._begun = True
        if self._head is None:
            self._head = Head(ray.get_runtime_context().gcs_address)
        if not self._actors:
            self._actors = [None] * (self._wanted or self._room(ray))
            for place in range(len(self._actors)):
                self._raise(place)
        return ray

    def _room(self, ray: Any) -> int:
        """How many actors the cluster has room for."""
        there = ray.cluster_resources()
        room = int(there.get("CPU", 1) / self._cpus)
        if self._gpus:
            room = min(room, int(there.get("GPU", 0) / self._gpus))
        if room < 1:
            raise UserError(
                f"the Ray cluster is too small for an actor with cpus={self._cpus:g} and gpus={self._gpus:g}."
            )
        return room

    def _raise(self, place: int) -> None:
        """A new actor at this place; it gets batches once it says that it is up."""
        import ray

        made: Any = ray.remote(_Worker).options(num_cpus=self._cpus, num_gpus=self._gpus).remote()
        self._actors[place] = made
        self._rising[made.alive.remote()] = place

    def _has_risen(self, word: Any) -> None:
        """An actor has said that it is up, or has died before it could."""
        import ray

        place = self._rising.pop(word)
        try:
            ray.get(word)
        except _deaths(ray):
            self._raise(place)

    def _idle(self, busy: list[Any]) -> Any | None:
        """The actor that is up and has the fewest batches, if it may have another; `busy` has one entry per batch."""
        rising = set(self._rising.values())
        load = {place: 0 for place in range(len(self._actors)) if place not in rising}
        for place in load:
            load[place] = sum(sent is self._actors[place] for sent in busy)
        least = min(load, key=load.__getitem__, default=None)
        return self._actors[least] if least is not None and load[least] < AHEAD else None

    def _replace(self, actor: Any) -> None:
        """A new actor in the place of a dead one; the dead one's other batches fail by themselves and come back too.

        One that cannot be reached counts as dead: its node may be gone without anybody knowing yet.
        """
        import ray

        places = [place for place, one in enumerate(self._actors) if one is actor]
        if places and places[0] not in self._rising.values():
            ray.kill(actor)
            self._raise(places[0])


class Head:
    """Looks whether a cluster's head is there.

    Ray ends a process whose head is gone for a minute, with status 1, by which a gate says no. So this looks sooner:
    the run ends with what it has, and where nobody asks any more – the driver computes – the process with status 3.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._closed = False
        self.lost = False
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        """Look no longer."""
        self._closed = True

    def _watch(self) -> None:
        seen = time.monotonic()
        while not self._closed:
            try:
                socket.create_connection(self._address, timeout=LOOK).close()
                seen = time.monotonic()
            except OSError:
                missing = time.monotonic() - seen
                self.lost = self.lost or missing > HEAD_PATIENCE
                if missing > 2 * HEAD_PATIENCE and not self._closed:
                    sys.stderr.write(f"babelquake: interrupted: {GONE}\n")
                    sys.stderr.flush()
                    os._exit(RESUMABLE)
            time.sleep(LOOK)


def _deaths(ray: Any) -> tuple[type[Exception], ...]:
    """What Ray says where an actor died, or an answer was lost with its node."""
    said = ray.exceptions
    return said.RayActorError, said.OutOfMemoryError, said.ObjectLostError, said.WorkerCrashedError


class _Worker:
    """What an actor does. The call arrives as a recipe and is built where it is not built yet."""

    def answer(self, call: Callable[[Any], Any], batch: Any) -> Any:
        """The answers to a batch, with what is to be remarked on them."""
        return with_warnings(call, batch)

    def alive(self) -> bool:
        """Whether the actor still answers."""
        return True


def _to_blame(death: Exception) -> ResumableError:
    first = str(death).strip().partition("\n")[0]
    return ResumableError(f"{DEATHS + 1} actors died over the same batch: {first} Finished work is kept.")
