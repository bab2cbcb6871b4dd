"""The data that vectors-multi and qe-multi learn from, made from the public sets that their cards name.

python scripts/make_multilingual_data.py SOURCES OUT

`SOURCES` holds, each if it is there: `mlqe-pe`, `flores`, `wmt23`, `wmt24` and `korean` (checkouts of the repositories
sheffieldnlp/mlqe-pe, facebookresearch/flores, wmt-conference/wmt23-news-systems, wmt-conference/wmt24-news-systems and
jungyeul/korean-parallel-corpora), `ntrex` (the texts of NTREX-128, `eng.txt` beside the others),
`europarl/train.de-en.tsv.xz` (German, English), `interface` (packages of LibreOffice and Firefox, unpacked: `.mo` in
`LANG/LC_MESSAGES`, help in `help/LANG`, `.ftl` in `localization/LANG`) and `hallucinations/guerreiro2022.csv`.

`OUT/vectors` and `OUT/quality` are what `babelquake train vectors` and `babelquake train qe` call DIR. No text of what
the models are measured by goes into what they learn from: MLQE-PE dev and test20, the last 200 lines of NTREX-128, the
hallucinations, and of WMT24 the comments of RoCS-MT and the prompt injections. wordfreq, where it is installed, gives
the lists of words.
"""

import argparse
import csv
import gettext
import lzma
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

import babelquake as bq
from babelquake.randomness import Stream

LANGUAGES = {
    "ar": "arb", "cs": "ces", "es": "spa", "et": "est", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin",
    "is": "isl", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "ne": "nep", "nl": "nld", "pl": "pol",
    "pt": "por", "ro": "ron", "ru": "rus", "si": "sin", "sv": "swe", "tr": "tur", "uk": "ukr", "zh": "zho-CN",
}  # fmt: skip
"""Languages of NTREX-128 and its names for them; without German, which is newstest2019."""
RATED_PAIRS = ("et-en", "ne-en", "ro-en", "ru-en", "si-en", "en-de", "en-zh")
HELD_LINES = 200
"""So many last lines of NTREX-128 are held out."""
GOOD = 70.0
"""A translation with this mean rating is one to learn from."""
EUROPARL = 250_000
WORDS = 40_000
ALTERING = (
    "number", "name-swap", "unit-or-date", "pronoun-gender", "word-order", "word-swap", "word-drop", "word-replace",
    "cut-short", "drift", "extra-sentence", "unrelated", "negation-insert",
)  # fmt: skip
PRESERVING = (
    "punct-remove", "punct-replace", "final-delete", "abbreviate", "informal", "misspell", "diacritics",
    "repeat-letters", "det-remove",
)  # fmt: skip
NEAR_MISS = ("number", "name-swap", "unit-or-date", "pronoun-gender", "word-replace", "negation-insert")
"""What `altered.tsv` has: translations into English that say something else with nearly all of the words."""


class Pair(NamedTuple):
    """A text and its translation into English, or from it."""

    language: str
    text: str
    english: str
    origin: str


def bare(text: str) -> str:
    """A text by which copies are known: letters and digits, lower case."""
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


def lines(path: Path) -> list[str]:
    """The lines of a text, packed or not."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8")
    return text.rstrip("\n").replace("\r", "").split("\n")


def packed(path: Path, ends: tuple[str, ...]) -> dict[str, list[str]]:
    """The files of a `.tar.gz` whose names end so, by name, as lines; none where there is no such file."""
    if not path.exists():
        return {}
    with tarfile.open(path) as archive:
        wanted = [one for one in archive if one.isfile() and one.name.endswith(ends) and "/._" not in one.name]
        return {
            member.name.rsplit("/", 1)[-1]: held.read().decode("utf-8").rstrip("\n").split("\n")
            for member in wanted
            if (held := archive.extractfile(member))
        }


class Rating(NamedTuple):
    """A translation that people rated: 0 to 100, and by each one's own scale."""

    pair: str
    source: str
    translation: str
    mean: float
    z: float


def direct(archive: Path, pair: str) -> Iterator[Rating]:
    """The direct assessments of one archive of MLQE-PE; a stray quotation mark is text."""
    for rows in packed(archive, (".df.short.tsv",)).values():
        head = rows[0].split("\t")
        places = [head.index(column) for column in ("original", "translation", "mean", "z_mean")]
        for row in rows[1:]:
            source, translation, mean, z = (row.split("\t")[place] for place in places)
            yield Rating(pair, source, translation, float(mean), float(z))


def of_2021(folder: Path, pair: str) -> Iterator[Rating]:
    """The ratings of test21; on the scale of the standardised ones alone."""
    held = packed(folder / f"test21_goldlabels/{pair}-test21.tar.gz", ("/test21.src", "/test21.mt", "/test21.da"))
    if "test21.da" in held:
        values = [row.split("\t")[-1] for row in held["test21.da"]]
        values = values[-len(held["test21.src"]) :]
        for source, translation, value in zip(held["test21.src"], held["test21.mt"], values, strict=True):
            yield Rating(pair, source, translation, 50 + 20 * float(value), float(value))


def edited(folder: Path, pair: str) -> Iterator[tuple[str, str, str, str, float]]:
    """Source, translation, post-edit, word tags (0 or 1 a word) and edit rate of MLQE-PE's training part.

    The tags hold the gaps between words at even places; a word is bad where its own tag is.
    """
    names = [f"train.{name}" for name in ("src", "mt", "pe", "tags", "hter")]
    held = packed(folder / f"post-editing/train/{pair}-train.tar.gz", tuple(f"/{name}" for name in names))
    if held:
        for row in zip(*(held[name] for name in names), strict=True):
            source, translation, post_edit, tags, rate = row
            words = "".join(str(int(tag == "BAD")) for tag in tags.split()[1::2])
            yield source, translation, post_edit, words, float(rate)


def post_edits(folder: Path) -> Iterator[Pair]:
    """What post-editors left, and what people rated well."""
    for pair in RATED_PAIRS:
        source_language, language = pair.split("-")
        foreign = source_language if language == "en" else language
        rows = [(one[0], one[2], "mlqe-pe") for one in edited(folder, pair)]
        rows += [
            (one.source, one.translation, "mlqe-mt")
            for one in direct(folder / f"direct-assessments/train/{pair}-train.tar.gz", pair)
            if one.mean >= GOOD
        ]
        for source, translation, origin in rows:
            yield (
                Pair(foreign, source, translation, origin)
                if language == "en"
                else Pair(foreign, translation, source, origin)
            )


def flores(folder: Path) -> Iterator[Pair]:
    """Nepali and Sinhala of FLORES v1."""
    held = packed(folder / "previous_releases/floresv1/data/wikipedia_en_ne_si_test_sets.tgz", (".ne", ".si", ".en"))
    for name, texts in held.items():
        part, _, language = name.rpartition(".")
        if language in ("ne", "si"):
            yield from (Pair(language, *both, "flores1") for both in zip(texts, held[f"{part}.en"], strict=True))


def ntrex(folder: Path, held_out: bool = False) -> Iterator[Pair]:
    """NTREX-128: what is learned from, or the lines that are held out."""
    part = slice(-HELD_LINES, None) if held_out else slice(None, -HELD_LINES)
    if (folder / "eng.txt").exists():
        english = lines(folder / "eng.txt")
        for language, name in (LANGUAGES | {"de": "deu"} if held_out else LANGUAGES).items():
            texts = lines(folder / f"{name}.txt")
            yield from (Pair(language, *both, "ntrex") for both in zip(texts[part], english[part], strict=True))


def wmt24(folder: Path, systems: int = 2) -> Iterator[Pair]:
    """Outputs of the first systems of every pair with English that translated everything, and the references."""
    for path in sorted((folder / "txt-ts/sources").glob("*-*.txt")):
        pair = path.stem
        source_language, language = pair.split("-")
        if source_language != "en":
            continue
        sources = lines(path)
        documents = lines(folder / f"txt-ts/documents/{pair}.docs")
        whole = []
        for output in sorted((folder / f"txt-ts/system-outputs/{pair}").glob("*.txt")):
            texts = lines(output)
            if len(texts) == len(sources) and all(text.strip() for text in texts):
                whole.append(texts)
        for texts in [*whole[:systems], *map(lines, (folder / "txt-ts/references").glob(f"{pair}.*.txt"))]:
            for document, source, text in zip(documents, sources, texts, strict=True):
                if not re.search(r"rocs-?mt|pia|canary", document, re.IGNORECASE):
                    yield Pair(language, text, source, "wmt24")


def wmt23(folder: Path, systems: int = 4) -> Iterator[Pair]:
    """Outputs of the first systems and references of every pair with English."""
    for path in sorted((folder / "txt-ts/sources").glob("*.src.*")):
        pair = path.name.split(".")[1]
        source_language, language = pair.split("-")
        if "en" not in (source_language, language):
            continue
        sources = lines(path)
        outputs = sorted((folder / "txt-ts/system-outputs").glob(f"*.{pair}.hyp.*"))[:systems]
        for output in [*outputs, *sorted((folder / "txt-ts/references").glob(f"*.{pair}.ref.*"))]:
            for source, text in zip(sources, lines(output), strict=True):
                yield (
                    Pair(source_language, source, text, "wmt23")
                    if language == "en"
                    else Pair(language, text, source, "wmt23")
                )


def europarl(folder: Path) -> Iterator[Pair]:
    """German and English of the European Parliament, a part of it."""
    if (path := folder / "train.de-en.tsv.xz").exists():
        rows = lines(path)
        for row in rows[:: max(1, len(rows) // EUROPARL)]:
            german, english = row.split("\t")[:2]
            yield Pair("de", german, english, "europarl")


def korean(folder: Path) -> Iterator[Pair]:
    """Korean news (Park et al. 2016)."""
    for part in ("train", "dev", "test"):
        held = packed(folder / f"korean-english-news-v1/korean-english-park.{part}.tar.gz", (".ko", ".en"))
        sides = [[texts for name, texts in held.items() if name.endswith(f".{side}")] for side in ("ko", "en")]
        if all(sides):
            yield from (Pair("ko", *both, "korean-news") for both in zip(sides[0][0], sides[1][0], strict=False))


def interface(folder: Path) -> Iterator[Pair]:
    """Texts of LibreOffice and Firefox: messages, paragraphs of the help by their names, and Fluent messages."""
    for path in sorted(folder.rglob("LC_MESSAGES/*.mo")):
        language = path.parts[-3][:2]
        with path.open("rb") as stream:
            catalogue = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
        for key, text in catalogue.items():
            if isinstance(key, str) and key:
                yield Pair(language, shown(text), shown(key.rpartition("\x04")[2]), "libreoffice")
    for kind, origin, read in (("help", "libreoffice-help", paragraphs), ("localization", "firefox", messages)):
        for english in sorted(folder.rglob(f"{kind}/en-US")):
            for other in sorted(english.parent.iterdir()):
                if other.name[:2] != "en" and other.is_dir():
                    for path in sorted(english.rglob("*.*")):
                        here = other / path.relative_to(english)
                        if path.is_file() and here.is_file():
                            mine, theirs = read(path), read(here)
                            for name in mine.keys() & theirs.keys():
                                yield Pair(other.name[:2], theirs[name], mine[name], origin)


def paragraphs(path: Path) -> dict[str, str]:
    """The paragraphs of a page of help, by their names."""
    if path.suffix != ".html":
        return {}
    found = re.findall(r'<p id="([^"]+)"[^>]*>(.*?)</p>', path.read_text("utf-8"), re.DOTALL)
    return {name: shown(unescape(re.sub(r"<[^>]+>", "", text))) for name, text in found}


def messages(path: Path) -> dict[str, str]:
    """The messages of a Fluent file that are one line of text."""
    if path.suffix != ".ftl":
        return {}
    found = re.findall(r"^([a-z][\w-]*) = ([^{}\n]+)$", path.read_text("utf-8"), re.MULTILINE)
    return {name: shown(text) for name, text in found}


def shown(text: str) -> str:
    """A text of an interface on one line, without the marks of its keys."""
    return " ".join(text.replace("~", "").replace("_", " ").split())


def measured(sources: Path) -> set[str]:
    """Both sides of everything that figures are of."""
    texts = [text for pair in ntrex(sources / "ntrex", held_out=True) for text in (pair.text, pair.english)]
    for pair in RATED_PAIRS:
        for rated in [*_held_ratings(sources, pair, "dev"), *_held_ratings(sources, pair, "test")]:
            texts += [rated.source, rated.translation]
    texts += [text for row in hallucinations(sources / "hallucinations") for text in row[:2]]
    return {bare(text) for text in texts} - {""}


def _held_ratings(sources: Path, pair: str, part: str) -> Iterator[Rating]:
    yield from direct(sources / f"mlqe-pe/data/direct-assessments/{part}/{pair}-{part}.tar.gz", pair)


def hallucinations(folder: Path) -> Iterator[tuple[str, str, int, int, int]]:
    """Source, translation, and whether it repeats itself, is partly and is fully detached (Guerreiro et al. 2023)."""
    if (path := folder / "guerreiro2022.csv").exists():
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                labels = [row[name] for name in ("repetitions", "strong-unsupport", "full-unsupport")]
                if set(labels) <= {"0", "1"}:
                    yield row["src"], row["mt"], *(int(label) for label in labels)  # type: ignore[misc]


def kept(pairs: Iterable[Pair], held: set[str], known: Iterable[str]) -> Iterator[Pair]:
    """Each pair once, those alone that are in a known language, look translated and have no text that is held out."""
    seen = set[tuple[str, str]]()
    languages = set(known)
    for pair in pairs:
        one, other = bare(pair.text), bare(pair.english)
        if pair.language not in languages or not one or not other or one == other or {one, other} & held:
            continue
        if not 1 / 3 < (len(pair.english) + 10) / (len(pair.text) * _density(pair.language) + 10) < 3:
            continue
        if (one, other) not in seen:
            seen.add((one, other))
            yield pair


def _density(language: str) -> float:
    """How many English letters one of the language is worth, roughly."""
    return {"zh": 3.3, "ja": 2.4, "ko": 2.0}.get(language, 1.0)


def write(path: Path, rows: Iterable[Sequence[object]]) -> int:
    """Write fields with tabs between; texts are on one line already, but for stray tabs. How many rows."""
    count = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write("\t".join(" ".join(str(field).split()) for field in row) + "\n")
            count += 1
    print(f"{path}: {count:,} rows", flush=True)
    return count


def changed(texts: Sequence[str], name: str, seed: int = 0) -> list[str | None]:
    """Texts under a perturbation; None where it does not apply."""
    return list(bq.perturb(name, list(texts), lang="en", seed=seed))


def probes(ratings: Sequence[Rating], each: int = 7) -> Iterator[tuple[int, str, str]]:
    """Rated translations into English under `each` perturbations, drawn for every line, and what these do."""
    into = [number for number, one in enumerate(ratings) if one.pair.endswith("-en")]
    kinds = [(name, "altering") for name in ALTERING] + [(name, "preserving") for name in PRESERVING]
    chosen = {number: set(Stream(0, "probes", number).shuffled(range(len(kinds)))[:each]) for number in into}
    for place, (name, kind) in enumerate(kinds):
        mine = [number for number in into if place in chosen[number]]
        for number, text in zip(mine, changed([ratings[n].translation for n in mine], name), strict=True):
            if text is not None and text != ratings[number].translation:
                yield number, kind, text


def altered(pairs: Sequence[Pair]) -> Iterator[tuple[int, str]]:
    """The English of running text under one change of its meaning, drawn for every line, where one applies."""
    left = [number for number, pair in enumerate(pairs) if len(pair.english) > 25]
    drawn = {number: Stream(0, "altered", number).shuffled(NEAR_MISS) for number in left}
    for turn in range(2):
        changed_now = set[int]()
        for name in NEAR_MISS:
            mine = [number for number in left if drawn[number][turn] == name]
            for number, text in zip(mine, changed([pairs[n].english for n in mine], name), strict=True):
                if text is not None and text != pairs[number].english:
                    changed_now.add(number)
                    yield number, text
        left = [number for number in left if number not in changed_now]


def word_lists(languages: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Frequent words of the languages that the teacher knows."""
    try:
        from wordfreq import top_n_list
    except ImportError:
        print("wordfreq is not installed: no words.tsv")
        return
    for language in languages:
        yield from ((language, word) for word in top_n_list(language, WORDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    sources, mlqe = given.sources, given.sources / "mlqe-pe/data"
    vectors, quality = given.out / "vectors", given.out / "quality"
    held = measured(sources)
    os.environ["BABELQUAKE_LINGUISTICS"] = "lists"  # the same texts everywhere, and hundreds of times faster

    every = [
        *post_edits(mlqe), *flores(sources / "flores"), *ntrex(sources / "ntrex"), *wmt24(sources / "wmt24"),
        *korean(sources / "korean"), *interface(sources / "interface"), *europarl(sources / "europarl"),
    ]  # fmt: skip
    pairs = list(kept(every, held, [*LANGUAGES, "de"]))
    write(vectors / "pairs.tsv", pairs)
    write(vectors / "altered.tsv", altered(pairs))
    write(quality / "pairs.tsv", kept([*pairs, *wmt23(sources / "wmt23")], held, [*LANGUAGES, "de"]))

    learned = {pair: list(direct(mlqe / f"direct-assessments/train/{pair}-train.tar.gz", pair)) for pair in RATED_PAIRS}
    write(vectors / "ratings.tsv", (one for pair in RATED_PAIRS if pair.endswith("-en") for one in learned[pair]))
    rated = [one for pair in RATED_PAIRS for one in (*learned[pair], *of_2021(mlqe, pair))]
    rated = [one for one in rated if not {bare(one.source), bare(one.translation)} & held]
    write(quality / "ratings.tsv", rated)
    write(quality / "probes.tsv", probes(rated))
    tags = ((pair, one[0], one[1], one[3], one[4]) for pair in RATED_PAIRS for one in edited(mlqe, pair))
    write(quality / "tags.tsv", (row for row in tags if not {bare(row[1]), bare(row[2])} & held))
    for folder in (vectors, quality):
        dev = (
            (part, *one)
            for part, name in (("dev", "dev"), ("test20", "test"))
            for pair in RATED_PAIRS
            for one in _held_ratings(sources, pair, name)
        )
        write(folder / "dev.tsv", dev)
    write(vectors / "parallel.tsv", (pair[:3] for pair in ntrex(sources / "ntrex", held_out=True)))
    write(vectors / "hallucinations.tsv", hallucinations(sources / "hallucinations"))
    teacher = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh")
    if words := list(word_lists(teacher)):
        write(vectors / "words.tsv", words)


if __name__ == "__main__":
    main()
