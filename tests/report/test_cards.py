"""A study's card tells everything that its runs measure."""

from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES


def test_every_measure_of_a_run_is_on_its_studys_card(runs: dict[str, Run]) -> None:
    """Differences and figures over changed texts have the names of what they are of; kinds of change are told apart."""
    for run in runs.values():
        known = {kind.name for kind in STUDIES.get(run.info.study).measures}
        names = {name for name in run.measures["measure"] if not name.startswith("changed_")}
        assert {name.removesuffix("_difference").removesuffix("_changed") for name in names} <= known


def test_gated_measures_are_measures() -> None:
    for name, study in STUDIES.items():
        assert set(study.gated) <= {kind.name for kind in study.measures}, name
