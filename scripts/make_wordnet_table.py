"""Make the compact antonym table from WordNet's own files.

    python scripts/make_wordnet_table.py [/usr/share/wordnet]

The folder is that of Debian's package `wordnet-base` (WordNet 3.0). Writes two tables under
`src/babelquake/perturb/lexicon/wordnet/`, each row a word, its part of speech and the other words:

- `antonyms.tsv.gz`: antonyms of any word of the synsets the word is in, its own first. (Kanojia 2021's 'offend' →
  'keep' comes from 'break', which shares a synset with 'offend'.)
- `inflections.tsv.gz`: irregular forms of verbs and nouns that have antonyms or synonyms (words of their three first
  senses).

Single lower-case words only. A part of speech that is four times rarer than another of the same word is left out: no
tagger decides between 'record' (noun) and 'record' (verb).
"""

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SENSE_TYPES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
TARGET = Path(__file__).parents[1] / "src" / "babelquake" / "perturb" / "lexicon" / "wordnet"
SENSES = 3
RARER = 4
Entry = tuple[str, str]


@dataclass
class Synset:
    """The words that share a meaning, and their antonyms: word → (offset, number of the word there)."""

    words: list[str]
    opposites: list[tuple[str, int, int]] = field(default_factory=list)


def read_synsets(folder: Path, part: str) -> dict[int, Synset]:
    """All synsets of a part of speech by offset (format: wndb(5WN))."""
    synsets = {}
    for line in data_lines(folder / f"data.{part}"):
        fields = line.split("|")[0].split()
        offset, count = int(fields[0]), int(fields[3], 16)
        synset = Synset([fields[4 + 2 * place].split("(")[0] for place in range(count)])
        start = 5 + 2 * count
        for place in range(int(fields[start - 1])):
            symbol, target, _, numbers = fields[start + 4 * place : start + 4 * place + 4]
            if symbol == "!" and numbers != "0000":
                word = synset.words[int(numbers[:2], 16) - 1]
                synset.opposites.append((word, int(target), int(numbers[2:], 16) - 1))
        synsets[offset] = synset
    return synsets


def read_senses(folder: Path, part: str) -> Iterator[tuple[str, list[int]]]:
    """Each word with the offsets of its synsets, most frequent sense first."""
    for line in data_lines(folder / f"index.{part}"):
        fields = line.split()
        yield fields[0], [int(offset) for offset in fields[-int(fields[2]) :]]


def read_frequencies(folder: Path) -> dict[Entry, int]:
    """How often a word was tagged as each part of speech in WordNet's texts."""
    counts: dict[Entry, int] = defaultdict(int)
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, _, count = line.split()
        word, _, rest = key.partition("%")
        counts[word, SENSE_TYPES[rest[0]]] += int(count)
    return counts


def data_lines(path: Path) -> list[str]:
    """The lines after the licence."""
    return [line for line in path.read_text("utf-8").splitlines() if not line.startswith("  ")]


def plain(word: str) -> bool:
    """A single lower-case English word."""
    return word.isascii() and word.isalpha() and word.islower() and len(word) > 1


def unique(words: Iterable[str], but: str) -> list[str]:
    """Plain words in order, each once, without the word itself."""
    return [word for word in dict.fromkeys(words) if plain(word) and word != but]


def write(name: str, rows: Iterable[tuple[str, str, str]]) -> None:
    """A sorted table, the same bytes each time."""
    data = "".join(f"{word}\t{part}\t{others}\n" for word, part, others in sorted(rows)).encode()
    path = TARGET / name
    path.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{path.name}: {len(data.splitlines())} rows, {path.stat().st_size} bytes")


def main(folder: Path) -> None:
    """Read WordNet, write the tables."""
    antonyms: dict[Entry, list[str]] = {}
    synonyms: dict[Entry, list[str]] = {}
    frequencies = read_frequencies(folder)
    for part, letter in PARTS.items():
        synsets = read_synsets(folder, part)
        for word, offsets in read_senses(folder, part):
            most = max(frequencies.get((word, other), 0) for other in PARTS.values())
            if not plain(word) or RARER * frequencies.get((word, letter), 0) < most:
                continue
            own: list[str] = []
            shared: list[str] = []
            for synset in (synsets[offset] for offset in offsets):
                for source, target, number in synset.opposites:
                    (own if source == word else shared).append(synsets[target].words[number])
            antonyms[word, letter] = unique(own + shared, word)
            meanings = [synsets[offset].words for offset in offsets[:SENSES]]
            synonyms[word, letter] = unique((other for meaning in meanings for other in meaning), word)
    pairs = ((word, letter, " ".join(others)) for (word, letter), others in antonyms.items() if others)
    write("antonyms.tsv.gz", pairs)
    used = {word for table in (antonyms, synonyms) for (word, _), others in table.items() if others}
    irregular = []
    for part in ("verb", "noun"):
        for line in (folder / f"{part}.exc").read_text("utf-8").splitlines():
            form, lemma, *_ = line.split()
            if plain(form) and lemma in used:
                irregular.append((form, PARTS[part], lemma))
    write("inflections.tsv.gz", irregular)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/wordnet"))
