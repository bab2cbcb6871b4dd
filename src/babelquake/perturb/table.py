"""A table of variants: one row per line × perturbation × replicate, in memory or straight into a file."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data import write
from babelquake.data.writing import require_writable
from babelquake.errors import UserError, listed_texts
from babelquake.files import disk, locked
from babelquake.languages import Language
from babelquake.perturb.context import Fillers
from babelquake.perturb.suite import Perturbations, Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.perturb.vocabulary import vocabulary_of

BLOCK = 2000
"""Lines perturbed at a time: bounds memory."""
Line = tuple[str, str | None]
"""A text and its source, where there is one."""


def perturb_table(
    suite: Perturbations,
    texts: Sequence[str],
    *,
    lang: str | None = None,
    seed: int = 0,
    replicates: int | None = None,
    sources: Sequence[str] | None = None,
    vocabulary: str | Sequence[str] | None = None,
    fillers: Fillers | None = None,
) -> pl.DataFrame:
    """Columns line, perturbation, level, replicate, text (null where not applicable), original and seed.

    What asks a masked language model and names none (`mask-replace` of a suite) is left out.
    """
    texts = listed_texts("texts", texts)
    sources = None if sources is None else listed_texts("sources", sources)
    lines = zip(texts, sources if sources is not None else [None] * len(texts), strict=True)
    chosen, words = suite_of(suite, replicates), None if isinstance(vocabulary, str) else vocabulary
    chosen = without_unnamed_models(chosen.drawing_from(vocabulary if isinstance(vocabulary, str) else None))
    chosen.require_language(lang)
    if words is None and chosen.draws_from_data:
        words = vocabulary_of(texts, Language(lang) if lang else None)
    return pl.concat(in_blocks(chosen, lines, seed, lang=lang, vocabulary=words, fillers=fillers))


def without_unnamed_models(suite: Suite) -> Suite:
    """A suite without what asks a masked language model and names none; one that does nothing else stays as it is."""
    rest = suite.with_model(None)
    return rest if rest.perturbations else suite


def write_perturb_table(
    table: Path,
    suite: Suite,
    lines: Iterable[Line],
    *,
    lang: str | None,
    seed: int,
    vocabulary: Sequence[str] | None,
    fillers: Fillers | None = None,
) -> int:
    """The same in bounded memory, into a Parquet, TSV, CSV or JSONL file; how many rows there are.

    Without any lines there is no file.
    """
    require_writable(table)
    height = 0
    with _aside(table) as folder, disk(table.parent, f"{table} was not written"):
        parts: list[pl.LazyFrame] = []
        for block in in_blocks(suite, lines, seed, lang=lang, vocabulary=vocabulary, fillers=fillers):
            file = folder / f"{len(parts):09d}.parquet"
            block.write_parquet(file)
            parts.append(pl.scan_parquet(file, glob=False))
            height += block.height
        if not parts:
            return 0
        rows, aside = pl.concat(parts), folder / table.name
        if table.suffix == ".parquet":
            rows.sink_parquet(aside)
            aside.replace(table)
        else:
            write(rows.collect(), table)
    return height


@contextmanager
def _aside(table: Path) -> Iterator[Path]:
    """A folder beside a file, for its parts; what a killed process left there goes first."""
    folder = table.with_name(f".{table.name}.parts")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"{table} cannot be written: {error.strerror}.") from None
    try:
        with locked(folder / ".lock", wait=False):
            for left in folder.glob("*.parquet"):
                left.unlink()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        raise UserError(f"another process is writing {table}. Wait for it, or name another file.") from None


def in_blocks(suite: Suite, lines: Iterable[Line], seed: int, **told: Any) -> Iterator[pl.DataFrame]:
    """Variants of a stream of lines, block by block, in the order of the lines; `told` is what else is known."""
    stream, first = iter(lines), 0
    while block := list(islice(stream, BLOCK)):
        texts, sources = [text for text, _ in block], [origin for _, origin in block]
        ids = [str(first + place + 1) for place in range(len(block))]
        part = suite.variants(ids, texts, seed=seed, sources=sources, **told)
        originals = pl.Series(texts, dtype=pl.String).gather(part["row"])
        yield part.select(
            (pl.col("row").cast(pl.Int64) + first + 1).alias("line"),
            "perturbation",
            "level",
            "replicate",
            "text",
            originals.alias("original"),
            pl.lit(seed).alias("seed"),
        ).sort("line", maintain_order=True)
        first += len(block)
