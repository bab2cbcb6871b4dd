"""A toy language pair: German number words and their English translations, a few hundred sentences."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

WORDS = {
    "eins": "one",
    "zwei": "two",
    "drei": "three",
    "vier": "four",
    "fünf": "five",
    "sechs": "six",
    "sieben": "seven",
    "acht": "eight",
    "neun": "nine",
    "zehn": "ten",
    "hundert": "hundred",
    "tausend": "thousand",
    "und": "and",
}


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """One thread of PyTorch, so that numbers are the same on every machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with train, dev and test splits."""
    folder, rng = tmp_path_factory.mktemp("toy"), Random(3)
    for split, size in (("train", 400), ("dev", 12), ("test", 8)):
        lines = []
        for _ in range(size):
            words = rng.choices(list(WORDS), k=rng.randint(2, 9))
            lines.append(" ".join(words) + ".\t" + " ".join(WORDS[word] for word in words) + ".")
        (folder / f"{split}.de-en.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def toy_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where vocabularies and counted corpora of the toy data are kept."""
    return tmp_path_factory.mktemp("cache")
