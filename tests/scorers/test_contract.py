"""What every registered scorer promises, whoever wrote it."""

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.scorers import SCORERS, Questions, Scorer, scorer
from babelquake.spec import parameters

from .examples import EXAMPLES, REFERENCES, SOURCES, TRANSLATIONS

COSMETIC = {"force", "swap"}
"""Options that change no score and so no signature; `swap` speaks of prompts that show two translations."""


@pytest.fixture(scope="module", params=SCORERS.names())
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scorer:
    """The scorer with its default options or its example's; a skip only where an extra is not installed."""
    for package in ("torch", "transformers") if getattr(SCORERS.get(request.param), "extra", None) == "neural" else ():
        pytest.importorskip(package, reason="needs the extra [neural]")
    make = EXAMPLES.get(request.param, lambda folder: request.param)
    try:
        return scorer(make(tmp_path_factory.mktemp(request.param)))
    except UserError as problem:
        if "pip install" not in str(problem):
            raise
        pytest.skip(str(problem))


@pytest.fixture
def statistics(made: Scorer) -> np.ndarray:
    """Rows for the five segments above."""
    return made.statistics(_batch(made))


def test_examples_are_of_scorers_that_exist() -> None:
    assert set(EXAMPLES) <= set(SCORERS.names())


def _batch(made: Scorer, translations: list[str] = TRANSLATIONS, references: list[str] = REFERENCES) -> Questions:
    return Questions(
        translations,
        [[reference] for reference in references] if "reference" in made.needs else None,
        SOURCES[: len(translations)] if "source" in made.needs else None,
    )


def test_one_finite_row_per_segment(made: Scorer, statistics: np.ndarray) -> None:
    assert statistics.shape[0] == len(TRANSLATIONS)
    assert statistics.ndim == 2
    assert statistics.dtype == np.float64
    assert np.isfinite(statistics).all()
    assert made.score_rows(statistics).shape == (len(TRANSLATIONS),)


def test_the_corpus_score_comes_from_summed_rows(made: Scorer, statistics: np.ndarray) -> None:
    columns = (TRANSLATIONS, REFERENCES if "reference" in made.needs else None, SOURCES)
    assert made.corpus(*columns) == pytest.approx(float(made.aggregate(statistics.sum(axis=0))), abs=1e-9)
    halves = statistics[:2].sum(axis=0) + statistics[2:].sum(axis=0)
    assert made.corpus(*columns) == pytest.approx(float(made.aggregate(halves)), abs=1e-9)


def test_many_sums_are_aggregated_at_once(made: Scorer, statistics: np.ndarray) -> None:
    counts = np.random.default_rng(3).multinomial(5, [0.2] * 5, size=(2, 7)).astype(float)
    sums = counts @ statistics
    found = made.aggregate(sums)
    assert found.shape == (2, 7)
    one_by_one = [[float(made.aggregate(row)) for row in rows] for rows in sums]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-12)


def test_aggregating_leaves_its_input_alone(made: Scorer, statistics: np.ndarray) -> None:
    before = statistics.copy()
    made.aggregate(statistics)
    made.score_rows(statistics)
    assert np.array_equal(statistics, before)


def test_order_and_company_change_nothing(made: Scorer, statistics: np.ndarray) -> None:
    order = [3, 0, 4, 1, 1, 2, 3]
    np.testing.assert_allclose(made.statistics(_batch(made).take(order)), statistics[order], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(made.statistics(_batch(made).rows(1, 2)), statistics[1:2], rtol=1e-5, atol=1e-5)


def test_no_segments_no_rows(made: Scorer, statistics: np.ndarray) -> None:
    assert made.statistics(_batch(made, [], [])).shape == (0, statistics.shape[1])


def test_a_perfect_match_scores_perfect(made: Scorer, statistics: np.ndarray) -> None:
    if made.perfect is None or "reference" not in made.needs:
        pytest.skip("its scale has no perfect match")
    rows = made.statistics(_batch(made, REFERENCES, REFERENCES))
    np.testing.assert_allclose(made.score_rows(rows), made.perfect, atol=1e-6)
    assert float(made.aggregate(rows.sum(axis=0))) == pytest.approx(made.perfect, abs=1e-6)
    others = made.score_rows(statistics)
    assert (others <= made.perfect + 1e-6).all() if made.higher_is_better else (others >= made.perfect - 1e-6).all()


def test_the_same_question_gets_the_same_answer(made: Scorer, statistics: np.ndarray) -> None:
    assert np.array_equal(made.statistics(_batch(made)), statistics)


def test_the_signature_is_stable_and_one_line(made: Scorer, statistics: np.ndarray) -> None:
    assert made.signature == scorer(str(made.spec)).signature
    assert "\n" not in made.signature


def test_every_switch_changes_the_signature(made: Scorer) -> None:
    for name, option in parameters(type(made)).items():
        if option.annotation is bool and name not in COSMETIC:
            other = scorer(made.spec, **{name: not option.default})
            assert other.signature != made.signature, name


def test_a_missing_column_is_named(made: Scorer) -> None:
    for column in made.needs:
        given = {"references": REFERENCES, "sources": SOURCES} | {f"{column}s": None}
        with pytest.raises(UserError, match=column):
            made.segments(TRANSLATIONS, **given)
