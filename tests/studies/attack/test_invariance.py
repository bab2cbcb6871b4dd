"""What an attack finds depends on nothing but its question: not on company, order, interruptions, or where it runs."""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
import pytest
from tests.models import tiny

from babelquake.attacks.recipes import RECIPES
from babelquake.engine import Engine, Local
from babelquake.engine.executor import Workers
from babelquake.errors import ResumableError
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack

pytestmark = pytest.mark.slow
WORDS = [word for word in tiny.WORDS if word.isalpha()]
FILES = ("attacks.parquet", "measures.csv", "augmentation.jsonl", "segments.parquet", "scores.parquet")
Attacking = Callable[..., Run]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Small random networks in the parts of encoder, masked and causal language model, and a word space."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    pytest.importorskip("transformers", reason="needs the extra [neural]")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    neighbours = folder / "neighbours.tsv"
    neighbours.write_text("cat dog\ndog cat law\nlaw vote\nmat cat dog\nbarks sat\n", "utf-8")
    return {
        "encoder": str(tiny.checkpoint("bert", folder / "encoder")),
        "masked": str(tiny.checkpoint("bert", folder / "masked", masked=True)),
        "fluency": str(tiny.checkpoint("gpt2", folder / "fluency")),
        "neighbours": str(neighbours),
    }


def tuples() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    rows = []
    for place in range(5):
        reference = [str(word) for word in rng.choice(WORDS, 7 + place)]
        kept = [word if rng.random() < 0.8 else "the" for word in reference]
        rows.append({"source": f"q{place}", "reference": " ".join(reference), "translation": " ".join(kept)})
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def attacking(models: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Attacking:
    """All four recipes against a neural and a string metric, in a folder of that name."""
    folder = tmp_path_factory.mktemp("runs")

    def run(name: str, workers: Workers | None = None, data: pl.DataFrame | None = None, **options: object) -> Run:
        return attack(
            recipes=[
                "clare[candidates=5,iterations=2]",
                "faster-genetic[population=6,iterations=3]",
                *list(RECIPES)[2:4],
            ],
            victims=[f"bertscore[model={models['encoder']},layer=2]", "chrf"],
            data=tuples() if data is None else data,
            goal="overpenalise[by=0.5]",
            out=folder / name,
            masked_lm=models["masked"],
            fluency_lm=models["fluency"],
            neighbours=models["neighbours"],
            constraints=["perplexity[rise=100]"],
            resamples=100,
            engine=Engine(None, quiet=True, workers=workers),
            **options,  # type: ignore[arg-type]
        )

    return run


def bytes_of(run: Run) -> dict[str, bytes]:
    """What the run left behind, less what tells when and how it was made."""
    return {name: (run.folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def whole(attacking: Attacking) -> dict[str, bytes]:
    """The files of an undisturbed run."""
    run = attacking("whole")
    found = run.table("attacks").filter("success")
    assert found["recipe"].n_unique() >= 3 and found["victim"].n_unique() == 2
    return bytes_of(run)


def test_the_number_side_by_side_changes_nothing(attacking: Attacking, whole: dict[str, bytes]) -> None:
    assert bytes_of(attacking("one", pool=1)) == whole
    assert bytes_of(attacking("three", pool=3)) == whole


def test_the_order_of_the_data_changes_nothing(attacking: Attacking, whole: dict[str, bytes]) -> None:
    forth, back = (attacking(name, data=data) for name, data in (("forth", tuples()), ("back", tuples().reverse())))
    key = ["source", "victim", "recipe"]
    columns = [*key, "perturbed", "edits", "met", "fits", "success", "queries", "words_changed", "score", "gain"]
    one, other = (run.table("attacks").select(columns).sort(key) for run in (forth, back))
    assert one.equals(other)


def test_interruptions_change_nothing(attacking: Attacking, whole: dict[str, bytes]) -> None:
    interrupted = 0
    while True:
        try:
            run = attacking("resumed", time_limit=1e-6, pool=2)
            break
        except ResumableError:
            interrupted += 1
    assert interrupted > 5 and bytes_of(run) == whole


@pytest.mark.parametrize("workers", [Local(3), Local(2, "processes")], ids=["threads", "processes"])
def test_workers_of_this_machine_change_nothing(attacking: Attacking, whole: dict[str, bytes], workers: Local) -> None:
    assert bytes_of(attacking(workers.kind, workers)) == whole


@pytest.fixture
def ray() -> Iterator[Workers]:
    """Two actors."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'babelquake[ray]'")
    from babelquake.engine.ray_executor import Ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        made = Ray(actors=2, cpus=0.5)
        yield made
        made.close()


def test_actors_of_ray_change_nothing(attacking: Attacking, whole: dict[str, bytes], ray: Workers) -> None:
    assert bytes_of(attacking("ray", ray)) == whole
