"""Apertium for real, where it is installed with English–Spanish."""

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from babelquake.errors import UserError
from babelquake.systems.apertium import Apertium

SENTENCES = [
    "The cat is red.",
    "Hello",
    "",
    "a [b] <i>x</i> ^c$ {d} / \\ @e",
    "Mr. Smith went home. He was tired!",
    "The cats of my mother are not worldling.",
    "3.5 % of 10/2",
]


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    if shutil.which("apertium") is None:
        pytest.skip("needs Apertium: apt install apertium apertium-eng-spa")
    if "eng-spa" not in subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split():
        pytest.skip("needs apertium-eng-spa")


@pytest.fixture
def spanish() -> Iterator[Apertium]:
    made = Apertium("eng-spa", marks=True)
    yield made
    made.close()


def test_a_kept_open_pipeline_says_what_the_command_says(spanish: Apertium) -> None:
    said = [
        subprocess.run(["apertium", "eng-spa"], input=text, capture_output=True, text=True).stdout for text in SENTENCES
    ]
    assert said[0] == "El gato es rojo."
    assert spanish.translate(SENTENCES) == said
    for text, translation in zip(SENTENCES, said, strict=True):
        assert spanish.translate([text]) == [translation]


def test_a_large_batch_equals_its_parts(spanish: Apertium) -> None:
    texts = [f"I have {number} houses and {number + 1} cats." for number in range(300)]
    assert spanish.translate(texts) == spanish.translate(texts[:100]) + spanish.translate(texts[100:])


def test_unknown_words_are_unmarked_by_default() -> None:
    plain = Apertium("eng-spa")
    assert plain.translate(["worldling"]) == ["worldling"]
    plain.close()


def test_an_unknown_pair_gets_a_hint() -> None:
    with pytest.raises(UserError, match="Did you mean"):
        Apertium("eng-spaa")


def test_the_signature_names_pair_and_data(spanish: Apertium) -> None:
    assert "pair:eng-spa" in spanish.signature
    assert "data:" in spanish.signature
