"""The tables made of WordNet 3.0."""

import importlib.util
import sys
from pathlib import Path

import pytest

from babelquake.perturb.wordnet import antonyms


@pytest.mark.parametrize(
    ("word", "antonym"),
    [
        ("good", "bad"),
        ("Hot", "cold"),
        ("increased", "decreased"),
        ("buying", "selling"),
        ("begins", "ends"),
        ("women", "men"),
        ("offend", "keep"),
        ("deleted", "recorded"),
        ("had", "lacked"),
        ("admitted", "denied"),
    ],
)
def test_antonyms_keep_the_form_of_the_word(word: str, antonym: str) -> None:
    assert antonym in antonyms(word)


def test_words_without_antonyms_have_none() -> None:
    assert antonyms("Parliament") == ()
    assert antonyms("") == ()


@pytest.mark.slow
def test_the_script_makes_the_shipped_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, where WordNet's own files are installed (Debian: wordnet-base)."""
    wordnet = Path("/usr/share/wordnet")
    if not (wordnet / "data.noun").is_file():
        pytest.skip("needs WordNet's files: apt-get install wordnet-base")
    root = Path(__file__).resolve().parents[2]
    place = importlib.util.spec_from_file_location("make_wordnet_table", root / "scripts" / "make_wordnet_table.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    monkeypatch.setitem(sys.modules, "make_wordnet_table", script)
    place.loader.exec_module(script)
    shipped = script.TARGET
    monkeypatch.setattr(script, "TARGET", tmp_path)
    script.main(wordnet)
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (shipped / path.name).read_bytes(), path.name
