"""The training data of the English models that ship, made from the public data sets named in their cards.

python scripts/make_training_texts.py DATA OUT

`DATA` holds europarl/, news-en.txt.xz, testsets/, metric-attacks/, punctuation/, mlqe-pe/, wmt19-darr/ and wmt23/.
`OUT/texts` is for `babelquake train mlm` and `clm`, `OUT/rated` for `babelquake train metric`.
"""

import gzip
import lzma
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

EUROPARL = 340_000
SHORTEST, LONGEST = 15, 500
HELD_SHARE, HELD_SEED = 12, 7
"""One document in twelve of WMT23 is held out, drawn with this seed."""


def rows(path: Path, opened: Callable[..., Any] = open) -> Iterator[dict[str, str]]:
    """The rows of a TSV file with a header; a row of another width is passed over."""
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        names = lines.readline().rstrip("\n").split("\t")
        for line in lines:
            values = line.rstrip("\n").split("\t")
            if len(values) == len(names):
                yield dict(zip(names, values, strict=True))


def bare(text: str) -> str:
    """A text by which copies are known: letters and digits, lower case."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def written(data: Path) -> Iterator[str]:
    """English that people wrote, from test sets: references, and sources in English."""
    for name, side in (("2014.deu-eng", "reference"), ("2020.deu-eng", "reference"), ("2020.eng-deu", "source")):
        yield from (row[side] for row in rows(data / f"testsets/newstest{name}.tsv"))
    yield from (row["reference"] for row in rows(data / "metric-attacks/de-en.tuples.tsv.gz", gzip.open))
    for pair in ("de-en", "ja-en"):
        yield from (row["reference"] for row in rows(data / f"punctuation/{pair}.tsv"))
    yield from (data / "wmt23/references/zh-en.refA.txt").read_text("utf-8").splitlines()
    for path in sorted((data / "mlqe-pe").glob("*.ende.*")):
        yield from (row["original"] for row in rows(path))


def texts(data: Path, out: Path) -> None:
    """Europarl, news and written English to train on; what models are measured by is held out."""
    out.mkdir(parents=True, exist_ok=True)
    references = [row["reference"] for row in rows(data / "testsets/newstest2019.deu-eng.tsv")]
    sources = [row["source"] for row in rows(data / "testsets/newstest2019.eng-deu.tsv")]
    measured = (data / "wmt19-darr/lt-en/references.txt").read_text("utf-8").splitlines()
    held = {bare(text) for text in [*references, *sources, *measured]}
    news = lzma.decompress((data / "news-en.txt.xz").read_bytes()).decode("utf-8").rstrip("\n").split("\n")
    seen = {bare(text) for text in news}
    further = []
    for text in map(str.strip, written(data)):
        if len(text) >= SHORTEST and bare(text) not in held and bare(text) not in seen:
            seen.add(bare(text))
            further.append(text)
    with lzma.open(data / "europarl/train.de-en.tsv.xz", "rt", encoding="utf-8", newline="\n") as lines:
        english = (line.rstrip("\n").split("\t")[1].strip() for line in lines)
        parliament = list(dict.fromkeys(text for text in english if SHORTEST <= len(text) <= LONGEST))
    dev = [line.split("\t")[1] for line in (data / "europarl/dev.de-en.tsv").read_text("utf-8").splitlines()]
    write(out / "train.europarl.txt", parliament[-EUROPARL:])
    write(out / "train.news.txt", [text for text in news if bare(text) not in held])
    write(out / "train.written.txt", further)
    write(out / "dev.europarl.txt", dev)
    write(out / "dev.news2019.txt", references)
    write(out / "dev.news2019-en.txt", sources)


def rated(data: Path, out: Path) -> None:
    """WMT23 zh-en with BLEURT-20's published segment scores, against both references."""
    out.mkdir(parents=True, exist_ok=True)
    root = data / "wmt23"
    documents = [line.split("\t")[-1] for line in (root / "documents/zh-en.docs").read_text("utf-8").splitlines()]
    names = sorted(set(documents))
    random.Random(HELD_SEED).shuffle(names)
    held = set(names[: len(names) // HELD_SHARE])
    outputs = {path.stem: path.read_text("utf-8").split("\n") for path in (root / "system-outputs/zh-en").glob("*.txt")}
    train, dev = [], []
    for kind in ("refA", "synthetic_ref"):
        references = (root / f"references/zh-en.{kind}.txt").read_text("utf-8").split("\n")
        place: dict[str, int] = {}
        scores = root / f"metric-scores/zh-en/BLEURT-20-{kind}.seg.score"
        for line in scores.read_text("utf-8").splitlines():
            system, score = line.split("\t")
            segment = place[system] = place.get(system, -1) + 1
            if score != "None" and system != kind:
                pair = [references[segment], outputs[system][segment]]
                row = "\t".join([text.replace("\t", " ") for text in pair] + [score])
                (dev if documents[segment] in held else train).append(row)
    write(out / "train.tsv", train)
    write(out / "dev.tsv", dev)


def write(path: Path, lines: Iterable[str]) -> None:
    """One line each."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    texts(Path(sys.argv[1]), Path(sys.argv[2]) / "texts")
    rated(Path(sys.argv[1]), Path(sys.argv[2]) / "rated")
