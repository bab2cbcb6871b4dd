"""Parquet is measured before it is unpacked; the translations of a finished run are data."""

import io
import itertools
from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read
from babelquake.data.json_and_parquet import footer_sizes
from babelquake.data.ratings import read_ratings
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt


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


def test_samples_of_a_system_are_candidates_of_best_of(tmp_path: Path) -> None:
    """Three answers to every clean text are three systems; translations of perturbed texts are none of them."""
    sources = [f"Der Tee Nummer {number} ist heiß." for number in range(8)]
    data = {"source": sources, "reference": [f"Tea number {number} is hot." for number in range(8)]}
    number = itertools.count()

    def sampled(texts: list[str]) -> list[str]:
        return [f"Tea number {next(number)} is {'very ' * (next(number) % 5)}hot." for _ in texts]

    engine = Engine(quiet=True)
    options = {"language_pair": "de-en", "resamples": 100, "engine": engine, "suite": "case"}
    run = mt(data=data, systems=[sampled], scorers="chrf", repeats=3, out=tmp_path / "samples", **options)
    again = read(str(run.folder))
    names = again.segments["system"].unique(maintain_order=True).to_list()
    first, *others = names
    assert others == [f"{first}, sample 2", f"{first}, sample 3"]
    assert again.segments.height == 24 and again.segments["references"].list.len().unique().to_list() == [1]
    assert again.segments.filter(system=first)["source"].to_list() == sources
    best = metric(
        data=str(run.folder), scorers=["chrf", "bleu"], best_of=3, out=tmp_path / "best", resamples=100, engine=engine
    )
    rows = best.measures.filter(measure="best_of", scorer="chrf", other="chrf", level=3.0)
    assert rows["value"].item() > 0
