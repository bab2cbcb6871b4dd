"""Where a batch runs changes nothing but the time it takes."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from babelquake.engine import Engine, Local, workers
from babelquake.errors import UserError
from babelquake.models import configure
from babelquake.resource import SETTINGS
from babelquake.scorers import Questions, scorer
from babelquake.warnings_log import collecting, count_warning


def doubled(batch: list[int]) -> list[int]:
    return [2 * item for item in batch]


def refuses_three(batch: list[int]) -> list[int]:
    if 3 in batch:
        raise ValueError("three")
    return batch


BATCHES = [[number, number + 100] for number in range(12)]


@pytest.mark.parametrize("workers", [Local(), Local(3), Local(2, "processes")])
def test_every_batch_comes_back_with_its_position(workers: Local) -> None:
    done = dict(workers.unordered(doubled, BATCHES))
    assert [done[place] for place in range(len(BATCHES))] == [doubled(batch) for batch in BATCHES]
    assert list(workers.unordered(doubled, [])) == []


@pytest.mark.parametrize("workers", [Local(), Local(3), Local(2, "processes")])
def test_an_error_is_raised_where_the_results_are_read(workers: Local) -> None:
    with pytest.raises(ValueError, match="three"):
        list(workers.unordered(refuses_three, BATCHES))


def process(batch: list[int]) -> int:
    return os.getpid()


def test_processes_stay_from_call_to_call_until_one_fails() -> None:
    workers = Local(2, "processes")

    def seen() -> set[int]:
        return {number for _ in range(5) for _, number in workers.unordered(process, BATCHES)}

    first = seen()
    assert os.getpid() not in first and len(first) <= 2
    with pytest.raises(ValueError, match="three"):
        list(workers.unordered(refuses_three, BATCHES))
    assert not first & seen()


WITH_PROCESSES = """
import os, signal
from babelquake.engine import Local

def process(batch):
    return os.getpid()

if __name__ == "__main__":
    print(*{number for _, number in Local(2, "processes").unordered(process, [[1], [2], [3]])}, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_processes_end_when_the_run_is_killed(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(WITH_PROCESSES)
    # no pipe: the processes would keep it open, and waiting for its end would wait for theirs
    with (tmp_path / "pids").open("w") as pids:
        assert subprocess.run([sys.executable, tmp_path / "killed.py"], stdout=pids).returncode == -signal.SIGKILL
    left = {int(number) for number in (tmp_path / "pids").read_text().split()}
    assert left
    until = time.monotonic() + 60
    while left and time.monotonic() < until:
        left = {number for number in left if runs(number)}
        time.sleep(0.2)
    assert not left


def runs(number: int) -> bool:
    """Whether the process runs; one that has ended may stay in the table where nobody asks for its status."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def read_until_error(results: Iterator[tuple[int, list[int]]]) -> tuple[list[int], BaseException]:
    places = []
    try:
        for place, _ in results:
            places.append(place)
    except BaseException as error:
        return places, error
    raise AssertionError("no error")


def test_batches_under_way_when_one_fails_are_handed_back_first() -> None:
    begun = threading.Barrier(3)
    failed = threading.Event()

    def answer(batch: list[int]) -> list[int]:
        if batch[0] > 2:
            pytest.fail("began after the failure")
        begun.wait(10)
        if batch[0] == 1:
            failed.set()
            raise ValueError("quota")
        failed.wait(10)
        return batch

    places, error = read_until_error(Local(3).unordered(answer, BATCHES[:3]))
    assert isinstance(error, ValueError) and sorted(places) == [0, 2]


def test_ctrl_c_hands_back_what_was_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.engine import executor

    real, calls = executor.wait, []

    def interrupted(*args: object, **options: object) -> object:
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*args, **options)  # type: ignore[arg-type]

    release = threading.Event()
    begun: list[int] = []

    def answer(batch: list[int]) -> list[int]:
        begun.append(batch[0])
        release.wait(10)
        return batch

    monkeypatch.setattr(executor, "wait", interrupted)
    threading.Timer(0.2, release.set).start()
    places, error = read_until_error(Local(2).unordered(answer, BATCHES))
    assert isinstance(error, KeyboardInterrupt)
    assert sorted(places) == sorted(begun) and len(begun) <= 4


def test_memory_stays_bounded() -> None:
    read: list[int] = []

    class Lazy(list[list[int]]):
        def __iter__(self) -> Iterator[list[int]]:
            for batch in BATCHES:
                read.append(batch[0])
                yield batch

    results = Local(2).unordered(doubled, Lazy())
    next(results)
    assert len(read) <= 5
    results.close()  # type: ignore[attr-defined]


def remarking(batch: list[int]) -> list[int]:
    count_warning("odd ones", [str(item) for item in batch if item % 2])
    count_warning("batches", 1)
    return batch


@pytest.mark.parametrize("workers", [Local(), Local(3), Local(2, "processes")])
def test_remarks_are_heard_wherever_they_are_made(workers: Local) -> None:
    with collecting() as remarks:
        list(workers.unordered(remarking, BATCHES))
    assert remarks.take() == {"odd ones": 12, "batches": 12}


SEEN_GPU = """
import os
def seen_gpu(batch: list[int]) -> tuple[str, int]:
    return os.environ["CUDA_VISIBLE_DEVICES"], os.getpid()
"""


def test_several_gpus_have_a_process_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With GPUs that do not exist, so that only the sharing out is seen."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    (tmp_path / "seeing_gpus.py").write_text(SEEN_GPU, "utf-8")  # a new process can import it, and no test
    monkeypatch.syspath_prepend(tmp_path)
    seen_gpu = importlib.import_module("seeing_gpus").seen_gpu
    with pytest.raises(UserError, match=r"local\[gpus=2\].*torch sees 0 GPUs"):
        list(workers("local[gpus=2]").unordered(seen_gpu, BATCHES))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,1,7")
    both = workers("local[gpus=2]")
    found = {seen for _, seen in both.unordered(seen_gpu, BATCHES)}
    assert {gpu for gpu, _ in found} <= {"4", "1"} and len({pid for _, pid in found}) == len(found)
    assert os.getpid() not in {pid for _, pid in found} and os.environ["CUDA_VISIBLE_DEVICES"] == "4,1,7"
    both._give_back(both._processes)


@pytest.mark.slow
def test_replicas_give_what_one_model_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes as for two GPUs, which do not exist: the models run on the CPU."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    both = Local(gpus=2)
    configure(device="cpu")
    try:
        made = scorer("bertscore[model=minilm-en,layer=first]")
        asked = Questions(
            [f"Word {place} here. " * (1 + 300 * (place == 7)) for place in range(90)], [["A word."]] * 90
        )
        with collecting() as there:
            shared = Engine(quiet=True, workers=both).judge(made, asked)
        with collecting() as here:
            assert (Engine(quiet=True).judge(made, asked) == shared).all()
        assert there.take() == here.take() and SETTINGS.device == "cpu"
    finally:
        configure(device="auto")
        both._give_back(both._processes)
