"""Ridge regression from sums."""

import json
from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.scorers.ridge_qe import Moments, Ridge, content_hash, features, load


def test_features_by_hand() -> None:
    s, t = np.array([[1, 2]], dtype=np.float32), np.array([[3, -1]], dtype=np.float32)
    assert features(s, t).tolist() == [[1, 2, 3, -1, 2, 3, 3, -2]]


def test_blocks_give_the_textbook_solution() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(3, 2, (40, 3)), np.full(40, 7.0)])
    y = x[:, 0] - 2 * x[:, 1] + rng.normal(size=40)
    moments = Moments()
    for part in (slice(0, 15), slice(15, 40)):
        moments.add(x[part], y[part])
    (model, gcv), *_ = moments.fits([5.0])
    z = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    weights = np.linalg.solve(z.T @ z + 5 * np.eye(4), z.T @ (y - y.mean()))
    expected = z @ weights + y.mean()
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-8)
    hat = 1 + np.trace(z @ np.linalg.solve(z.T @ z + 5 * np.eye(4), z.T))
    assert gcv == pytest.approx(40 * np.sum((y - expected) ** 2) / (40 - hat) ** 2)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(UserError, match="0 judged segments"):
        Moments().fits([1.0])


def test_a_saved_model_comes_back_and_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    model = Ridge(np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.array([0.5, -1.0]), 3.0)
    model.save(tmp_path / "m", {"encoder": "x"})
    found, card = load(tmp_path / "m")
    rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    assert found.predict(rows).tolist() == model.predict(rows).tolist() == [3.0, 3.0]
    assert card == {"encoder": "x"}
    assert len(content_hash(tmp_path / "m")) == 12
    with pytest.raises(UserError, match=r"no weights\.npz"):
        load(tmp_path)
    np.savez(tmp_path / "m" / "weights.npz", mean=np.array([{}], dtype=object))
    with pytest.raises(UserError, match="not a model"):
        load(tmp_path / "m")
    (tmp_path / "m" / "weights.npz").write_text(json.dumps({}))
    with pytest.raises(UserError, match="not a model"):
        load(tmp_path / "m")
