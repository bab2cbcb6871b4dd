"""Make the word lists behind the defences `truecase` and `spell` from a corpus: words with their usual case and counts.

    python scripts/make_word_lists.py de --corpus train.de-en.tsv.xz --column 0
    python scripts/make_word_lists.py en --corpus train.de-en.tsv.xz --column 1

A list has one line per word, the most frequent first: the word as it is mostly written inside a sentence (the first
word of a sentence says nothing of its case), a tab, how often the corpus has it. Only counts of single words are taken
from the corpus, and only of words that it has several times.
"""

import argparse
import gzip
import io
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import regex

LISTS = Path(__file__).resolve().parents[1] / "src/babelquake/systems/defences/lists"
WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)?")
LEAST, MOST = 4, 80_000
"""How often a word must occur to be listed, and how many words are listed."""


def words_of(corpus: Path, column: int) -> list[tuple[str, int]]:
    """Words in their usual case with their counts, the most frequent first."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    counts: Counter[str] = Counter()
    with lzma.open(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = line.rstrip("\n").split("\t")[column]
            found = [word.replace("’", "'") for word in WORD.findall(text)]
            counts.update(word.lower() for word in found)
            for word in found[1:]:
                forms[word.lower()][word] += 1
    kept = [(word, count) for word, count in counts.most_common(MOST) if count >= LEAST]
    return [(forms[word].most_common(1)[0][0] if forms[word] else word, count) for word, count in kept]


def main() -> None:
    """Write one list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--column", type=int, required=True)
    given = parser.parse_args()
    found = words_of(given.corpus, given.column)
    lines = "".join(f"{word}\t{count}\n" for word, count in found)
    path = LISTS / f"{given.language}.tsv.gz"
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        io.TextIOWrapper(packed, "utf-8").write(lines)
    print(f"{len(found)} words in {path}")


if __name__ == "__main__":
    main()
