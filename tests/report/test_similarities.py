"""Matrices as pictures and pages: every token stands in them, and texts stay texts."""

from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.report.similarities import match_table, similarity_chart, write_similarities
from babelquake.scorers.bertscore import Similarities


def matrix(change: str = "", reference: str = "the <b>cat</b> the") -> Similarities:
    cosines = np.array([[0.9, 0.1, -0.2], [0.3, 0.8, 0.7]], dtype=np.float32)
    return Similarities("bertscore[layer=1]", reference, ("a", "cat"), ("the", "<b>", "the"), cosines, 0.5, change)


def test_a_picture_holds_every_token_and_number(tmp_path: Path) -> None:
    drawn = write_similarities([matrix(), matrix("visual")], tmp_path / "new" / "m.svg").read_text("utf-8")
    assert drawn.count(">the<") == 4 and "&lt;b&gt;" in drawn and "<b>" not in drawn
    assert ">0.90<" in drawn and ">−0.20<" in drawn and "visual · 0.500" in drawn
    assert write_similarities([matrix()], tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_escapes_its_texts(tmp_path: Path) -> None:
    page = write_similarities([matrix("visual")], tmp_path / "m.html").read_text("utf-8")
    assert "the &lt;b&gt;cat&lt;/b&gt; the" in page and "<b>cat" not in page and "<script" not in page


def test_long_texts_have_colours_alone(tmp_path: Path) -> None:
    tokens = tuple("word" for _ in range(40))
    long = Similarities("b", "x", tokens, tokens, np.ones((40, 40), dtype=np.float32), 1.0)
    assert len(similarity_chart([long])["vconcat"][0]["hconcat"][0]["layer"]) == 1


def test_the_table_says_what_is_matched() -> None:
    assert match_table(matrix()).rows == (("a", "the", "0.900"), ("cat", "<b>", "0.800"))


def test_an_empty_text_and_another_ending(tmp_path: Path) -> None:
    nothing = Similarities("b", "", (), ("a",), np.zeros((0, 1), dtype=np.float32), 0.0)
    assert match_table(nothing).rows == ()
    write_similarities([nothing], tmp_path / "m.svg")
    with pytest.raises(UserError, match=r"m\.gif.*expected a name that ends in \.png, \.svg or \.html"):
        write_similarities([matrix()], tmp_path / "m.gif")
