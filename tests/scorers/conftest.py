"""Texts for comparing string scorers with sacreBLEU: real segments, and invented ones of every awkward kind."""

import gzip
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.scorers import parity

from babelquake.scorers import Scorer

Segments = list[tuple[str, list[str]]]

AWKWARD = [
    "",
    " ",
    "\t\n ",
    ".",
    "a",
    "A",
    "The cat sat on the mat.",
    "the cat the cat the cat on the mat the cat",
    "on the mat, the cat sat (yesterday)!",
    "No. 1,000.5 costs $3-4 &amp; <skipped> &quot;more&quot;, he said...",
    "a line-\nbreak\nhere",
    "l'été à Noël, naïve cœur",
    "e\u0301te\u0301 n\u0303",
    "猫はマットの上に座った。",
    "猫坐在垫子上，很开心！",
    "고양이가 매트 위에 앉았다.",
    "جلست القطة على السجادة، أليس كذلك؟",
    "बिल्ली चटाई पर बैठी।",
    "👩‍👩‍👧 likes 🐈‍⬛!!! 🇩🇪",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ.",
    "İstanbul ISPARTA",
    "\u00a0no\u00a0break\u3000ideographic\u2028line",
    "\ud800 lone surrogate \udfff",
]

_ALPHABET = st.sampled_from(list("abAB .,-!?'\"&<;1290\n\t\u00a0\u3000éßΣİ猫。あア،؟क्🐈\u0301\u200d\ud800"))
TEXT = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(_ALPHABET, max_size=40),
    st.text(max_size=20),
    st.lists(
        st.sampled_from(["the", "cat", "The", "sat.", "on", "mat,", "(a", "b)", "1.5", "3-4", "猫"]), max_size=30
    ).map(" ".join),
)
"""Any text, with a leaning to short alphabets, where texts overlap."""


@pytest.fixture(scope="session")
def awkward() -> list[str]:
    """Empty, blank, one mark, many scripts, combining marks, emoji, odd white space, lone surrogates."""
    return AWKWARD


@pytest.fixture(scope="session")
def segment_lists() -> st.SearchStrategy[Segments]:
    """Lists of segments, each a translation and one to three references."""
    return st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=8)


@pytest.fixture(scope="session")
def agrees() -> Callable[..., None]:
    """Checks a scorer against sacreBLEU metrics, one per level, on sentence and corpus scores."""

    def check(ours: Scorer, sentence_level: Any, corpus_level: Any, segments: Sequence[tuple[str, list[str]]]) -> None:
        translations, references = [pair[0] for pair in segments], [pair[1] for pair in segments]
        expected = [sentence_level.sentence_score(*pair).score for pair in segments]
        np.testing.assert_allclose(ours.segments(translations, references), expected, rtol=0, atol=1e-9)
        streams = [list(stream) for stream in zip_longest(*references)]
        expected_corpus = corpus_level.corpus_score(translations, streams).score
        assert abs(ours.corpus(translations, references) - expected_corpus) < 1e-9

    return check


@pytest.fixture(scope="session")
def real_segments(shared_data: Path) -> Segments:
    """10,000 translations and their references: WMT de-en, and hi-bn and xh-zu for other scripts."""
    with gzip.open(
        shared_data / "metric-attacks" / "de-en.tuples.tsv.gz", "rt", encoding="utf-8", newline="\n"
    ) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1::2]
    segments = [(row[4], [row[5]]) for row in rows[:8000]]
    folder = shared_data / "wmt21.flores"
    for pair in ("hi-bn", "xh-zu"):
        references = _lines(folder / "references" / f"{pair}.ref-A.txt")
        for system in ("GTCOM", "HuaweiTSC"):
            outputs = _lines(folder / "system-outputs" / pair / f"{system}.txt")
            segments += [(output, [reference]) for output, reference in zip(outputs, references, strict=True)]
    return segments[-10000:]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> parity.Made:
    """Small checkpoints in the official formats, each made once a session; torch on one thread."""
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    pytest.importorskip("transformers", reason="needs the extra [neural]")
    torch.set_num_threads(1)
    folders: dict[tuple[str, str], Path] = {}

    def made(kind: str, name: str) -> Path:
        if (kind, name) not in folders:
            folders[kind, name] = parity.make(kind, name, tmp_path_factory.mktemp(kind) / name)
        return folders[kind, name]

    return made
