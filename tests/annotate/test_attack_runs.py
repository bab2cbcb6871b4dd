"""From an attack run to ratings and back: what people say of perturbations reaches the attack study."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.annotate.analyse import analyse
from babelquake.annotate.people import add_annotator, annotator_of
from babelquake.annotate.prepare import Recipe, prepare
from babelquake.annotate.work import current, submit
from babelquake.studies.attack.study import attack
from babelquake.studies.human.findings import for_attack


@pytest.mark.slow
def test_ratings_of_an_attack_run_reach_the_attack_study(tmp_path: Path) -> None:
    data = tmp_path / "tuples.tsv"
    rows = [
        f"{n}\tQuelle {n}\tthe small harbour of town {n} was closed by heavy storms on monday\t"
        f"the {'small' if n < 4 else 'little'} harbour in town {n} was shut by {'heavy' if n % 3 else 'strong'} storms "
        f"last monday\tS{n % 2}\t{2012 + n % 2}"
        for n in range(8)
    ]
    data.write_text("\n".join(["id\tsource\treference\ttranslation\tsystem\tyear", *rows]) + "\n")

    def attacked(**options: object) -> pl.DataFrame:
        run = attack(
            recipes="deepwordbug",
            victims="chrf",
            data=str(data),
            goal="overpenalise[by=0.1]",
            out=tmp_path / "run",
            constraints="none",
            resamples=100,
            **options,  # type: ignore[arg-type]
        )
        return run.measures

    attacked()
    project = prepare(tmp_path / "run", tmp_path / "p.db", practice=0, recipe=Recipe(8, 4, 4, seed=1))
    assert project.setting("balance") == ["victim", "recipe", "year"]
    for name in ("ann", "bob", "cleo"):
        person = annotator_of(project, add_annotator(project, name))
        assert person is not None
        number = 0
        while (screen := current(project, person)) is not None:
            worse = 40 if screen.type == "BAD_REF" else 0
            scores = {"original": 90.0 - worse - number % 3, "perturbed": 70.0 - worse - number % 5}
            submit(project, person, screen.item, {"scores": scores}, 3.0)
            number += 1
    _, found = analyse(project.path)
    assert found.facts.hits_passed == 1.0
    assert found.degradation["loss"].min() > 0  # type: ignore[operator]
    for_attack(found.segments).write_parquet(tmp_path / "ratings.parquet")
    measures = attacked(ratings=tmp_path / "ratings.parquet")
    assert attacked(ratings=str(project.path)).equals(measures, null_equal=True)
    people = measures.filter(pl.col("measure").str.contains("human"))
    assert people.height > 0
    assert (people.drop_nulls("value")["value"] > 0).all()
