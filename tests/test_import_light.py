"""Importing the package and asking for help load nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "spacy", "polars", "numba", "scipy", "numpy", "ctranslate2", "sacrebleu", "altair"}
HELP = """
import sys
sys.argv = ["babelquake", *{words}]
from babelquake.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def loaded(code: str) -> set[str]:
    report = "import sys; print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    found = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return set(found.stdout.splitlines()[-1].split()[1:])


def test_importing_the_package() -> None:
    assert not loaded("import babelquake") & HEAVY


@pytest.mark.parametrize("words", [["--help"], ["mt", "--help"], ["--version"]])
def test_asking_for_help(words: list[str]) -> None:
    assert not loaded(HELP.format(words=words)) & HEAVY


def test_listing_systems_and_perturbing_text_need_no_model_library() -> None:
    assert not loaded(HELP.format(words=["list", "perturbations"])) & {"torch", "transformers", "spacy", "ctranslate2"}
