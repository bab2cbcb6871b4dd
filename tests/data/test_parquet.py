"""Parquet files hold far more than they weigh; how much is known before it is unpacked."""

import io
from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read
from babelquake.data.parquet import footer_sizes
from babelquake.data.ratings.reading import read_ratings
from babelquake.errors import UserError


def written(frame: pl.DataFrame, **options: object) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


TEXTS = pl.DataFrame({"source": [f"Satz {n}." for n in range(1000)], "reference": [f"Text {n}." for n in range(1000)]})


@pytest.mark.parametrize("codec", ["uncompressed", "zstd", "snappy", "gzip"])
@pytest.mark.parametrize("group", [100, 1000])
def test_a_footer_says_how_many_values_there_are_and_how_large_they_are(codec: str, group: int) -> None:
    values, unpacked = footer_sizes(written(TEXTS, compression=codec, row_group_size=group))
    _, plain = footer_sizes(written(TEXTS, compression="uncompressed", row_group_size=group))
    assert values == 2000
    assert unpacked == pytest.approx(plain, rel=0.05)


def test_values_in_lists_are_counted_one_by_one() -> None:
    values, _ = footer_sizes(written(pl.DataFrame({"references": [["a"] * 50] * 10})))
    assert values == 500


@pytest.mark.parametrize(
    ("limit", "frame"),
    [
        pytest.param("values=1000", TEXTS, id="rows"),
        pytest.param("document=100KB", pl.DataFrame({"source": ["a" * 1_000_000]}), id="one compressed text"),
        pytest.param("document=100KB", pl.DataFrame({"source": ["a" * 1000] * 1000}), id="a text all rows share"),
    ],
)
def test_a_small_file_with_much_in_it_is_refused(
    limit: str, frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "d.de-en.parquet"
    file.write_bytes(written(frame))
    assert file.stat().st_size < 50_000
    monkeypatch.setenv("BABELQUAKE_LIMITS", limit)
    for reader in (read, read_ratings):
        with pytest.raises(UserError, match=rf"d\.de-en\.parquet .*BABELQUAKE_LIMITS={limit.partition('=')[0]}="):
            reader(str(file))


@pytest.mark.parametrize("cut", [1, 8, 9, 40])
def test_a_footer_that_is_cut_off_is_named(cut: int, tmp_path: Path) -> None:
    whole = written(TEXTS)
    (tmp_path / "d.parquet").write_bytes(whole[: -8 - cut] + whole[-8:])
    with pytest.raises(UserError, match=r"d\.parquet"):
        read(str(tmp_path / "d.parquet"))
