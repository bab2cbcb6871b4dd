"""Matrices of token similarities are what BERTScore matches."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models.conftest import made as made

from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies.similarities import similarities

Make = Callable[..., Path]
ONE, OTHER = "the cat sat on the mat .", "a cat sat on a mat !"


def test_the_best_of_rows_and_columns_make_the_score(made: Make) -> None:
    (found,) = similarities(f"bertscore[model={made('bert')},layer=2]", ONE, OTHER)
    assert found.cosines.shape == (len(found.translation_tokens), len(found.reference_tokens))
    p, r = found.cosines.max(axis=1).mean(), found.cosines.max(axis=0).mean()
    official = scorer("bertscore", model=made("bert"), layer=2).segments([ONE], [OTHER])[0]
    # the tokens that begin and end a text have no weight but may be matched
    assert found.score == official and 2 * p * r / (p + r) <= official + 1e-6
    (same,) = similarities(f"bertscore[model={made('bert')},layer=2]", ONE, ONE)
    np.testing.assert_allclose(np.diag(same.cosines), 1, atol=1e-6)


def test_one_matrix_for_each_layer_and_for_each_version_of_the_reference(made: Make) -> None:
    found = similarities(f"bertscore[model={made('bert')},layer=1|2|mean]", ONE, [OTHER], "visual[level=1]", seed=3)
    assert [one.perturbation for one in found] == ["", "visual[level=1]"] * 3
    assert len({one.scorer for one in found}) == 3 and found[1].reference != OTHER
    layers = [similarities(f"bertscore[model={made('bert')},layer={n}]", ONE, OTHER)[0].cosines for n in range(4)]
    np.testing.assert_allclose(found[4].cosines, np.mean(layers, axis=0), atol=1e-6)


def test_bytes_beyond_ascii_are_shown_in_hexadecimal(made: Make) -> None:
    (found,) = similarities(f"bertscore[model={made('byt5')},layer=1]", "é e", "e")
    assert found.translation_tokens == ("c3", "a9", " ", "e", "</s>")


def test_other_scorers_are_refused() -> None:
    with pytest.raises(UserError, match=r"'chrf' does not compare token vectors. Use bertscore"):
        similarities("chrf", ONE, OTHER)
