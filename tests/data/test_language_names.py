"""Language pairs as files and folders name them."""

import pytest

from babelquake.data import language_names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("europarl/dev.de-en.tsv", "de-en"),
        ("newstest2019.deu-eng.tsv", "de-en"),
        ("mlqe-pe/test20.eten.df.short.tsv", "et-en"),
        ("wmt19-darr/lt-en/darr.tsv.gz", "lt-en"),
        ("wmt23/en-de_DE.tsv", "en-de-DE"),
        ("flores/pt-BR-en.tsv", "pt-BR-en"),
        ("zho_Hans-eng_Latn.tsv", "zh-Hans-en"),
        ("EN-DE.tsv", "en-de"),
        ("dev-new.tsv", None),
        ("data.tsv", None),
        ("my-file.tsv", None),
        ("de-de.tsv", None),
    ],
)
def test_pairs_in_names(path: str, expected: str | None) -> None:
    assert language_names.detect(path) == expected


def test_parallel_files_tell_the_pair_by_their_endings() -> None:
    assert language_names.from_endings("train.de", "train.en.gz") == "de-en"
    assert language_names.from_endings("a.txt", "b.txt") is None
