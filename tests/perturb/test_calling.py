"""`bq.perturb(…)` works whatever was imported before it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "before", ["pass", "bq.suite('niu2020')", "import babelquake.perturb", "bq.perturb('case', [])"]
)
def test_perturb_can_be_called_after_anything(before: str) -> None:
    program = f"import babelquake as bq; {before}; print(bq.perturb('case', ['a b'], level=1, seed=1)[0].lower())"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "a b\n"


def test_package_stays_a_package() -> None:
    import babelquake as bq

    bq.perturb("case", ["a"])
    import babelquake.perturb as room

    assert "case" in room.PERTURBATIONS.names()


def test_a_suite_is_several_and_says_so() -> None:
    import babelquake as bq

    with pytest.raises(bq.UserError, match=r"niu2020 is a suite: perturb_table takes it.*: misspell, case"):
        bq.perturb("niu2020", ["a b"])
