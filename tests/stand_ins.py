"""Small files under the names that the documentation uses, so that every command in it can be run."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

GERMAN = (
    "Der Zug fährt heute nicht nach Hamburg.",
    "Kommst du morgen?",
    "Drei Minister treten zurück",
    "Das Haus ist alt!",
)
ENGLISH = (
    "The train does not go to Hamburg today.",
    "Are you coming tomorrow?",
    "Three ministers resign",
    "The house is old!",
)
PAIRS = [
    (f"{source[:-1]} {n}{source[-1]}", f"{text[:-1]} {n}{text[-1]}")
    for n in range(4)
    for source, text in zip(GERMAN, ENGLISH, strict=True)
]
SOURCES, REFERENCES = ([pair[side] for pair in PAIRS] for side in (0, 1))
MODULE = """
def translate(texts):
    return [text.upper() for text in texts]


def my_metric(translations, references, sources):
    return [float(len(text)) for text in translations]
"""


def lay_out(folder: Path) -> None:
    """Everything a reader is supposed to have."""
    _tables(folder)
    _tuples(folder)
    _lines(folder)
    _quality_estimation(folder)
    _preferences(folder / "wmt19-darr" / "lt-en")
    _evaluation(folder / "wmt21.flores")
    _table(folder / "translations.tsv", "source translation", PAIRS)
    vendors = [row for de, en in PAIRS[:6] for row in ((de, en, "A", "de-en"), (de, de, "B", "de-en"))]
    _table(folder / "vendors.tsv", "source translation system language_pair", vendors)
    (folder / "my_module.py").write_text(MODULE, "utf-8")


def _table(path: Path, header: str, rows: Iterable[tuple[object, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header.replace(" ", "\t"), *("\t".join(map(str, row)) for row in rows)]
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def _text(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _year(n: int) -> str:
    return f"wmt{12 + 5 * (n % 3)}"


def _tables(folder: Path) -> None:
    rated = [
        (source, text, system, text if system == "A" else text[: len(text) // 2], score, _year(n))
        for n, (source, text) in enumerate(PAIRS)
        for system, score in (("A", 90 - n), ("B", 20 + n))
    ]
    for name in ("d.tsv", "train.tsv", "dev.tsv", "mlqe-pe/ru-en.tsv"):
        _table(folder / name, "source reference system translation score year", rated)
    _table(folder / "news.tsv", "german english", PAIRS)
    plain = (
        "de-en.tsv",
        "test.de-en.tsv",
        "train.de-en.tsv",
        "corpus.tsv",
        "punctuation/de-en.tsv",
        "testsets/newstest2019.deu-eng.tsv",
    )
    for name in plain:
        _table(folder / name, "source reference", PAIRS)
    ratings = [
        (person, system, segment, 50 + 7 * segment + bias)
        for person in ("ann", "bob")
        for segment in range(6)
        for system, bias in (("A", 5), ("B", -9))
    ]
    _table(folder / "ratings.tsv", "annotator system segment score", ratings)


def _tuples(folder: Path) -> None:
    rows = []
    for n, (source, text) in enumerate(PAIRS):
        translation = f"{text} And this is a long sentence, of more than ten words."
        reference = translation.replace("this is", "that is indeed")
        shorter = translation.replace("long ", "")
        rows.append((source, reference, translation, translation, shorter, _year(n), "A", "chrf", "input-reduction"))
    header = "source reference translation original perturbed year system victim recipe"
    _table(folder / "tuples.tsv", header, rows)
    _table(folder / "metric-attacks" / "de-en.tuples.tsv.gz", header, rows)


def _lines(folder: Path) -> None:
    for name in ("in.txt", "test.de", "a.de"):
        _text(folder / name, SOURCES)
    for name in ("test.en", "a.en"):
        _text(folder / name, REFERENCES)
    for name in ("glove.txt", "S.txt", "A.txt", "SimLex-999.txt"):
        _text(folder / name, ["a b"])
    _text(folder / "typos.txt", ["nicht nich", "Haus Hauss"])
    _text(folder / "study.yaml", ["system: 'command[cmd=cat]'", "data: de-en.tsv", "suite: case"])
    items = [
        {
            "id": n,
            "src_sent": source,
            "eng_sent": text,
            "mt_sent": text,
            "pert_sent": text[:-5],
            "pert_id": 1,
            "pert_name": "cut",
            "pert_check": True,
            "severity": "minor",
        }
        for n, (source, text) in enumerate(PAIRS)
    ]
    _text(folder / "demetr" / "cut_id1_minor.json", [json.dumps(items)])


def _quality_estimation(folder: Path) -> None:
    header = "index original translation scores mean z_scores z_mean model_scores"
    rows = [
        (n, source, text, f"[{60 + n}, {62 + n}, {64 + n}]", 62 + 2 * n, "[0.1, 0.2]", n / 10 - 0.8, -n / 10)
        for n, (source, text) in enumerate(PAIRS)
    ]
    for split in ("train", "dev", "test20"):
        for place in (folder, folder / "mlqe-pe"):
            _table(place / f"{split}.ruen.df.short.tsv", header, rows)
    mine = [(source, text, n) for n, (source, text) in enumerate(PAIRS)]
    _table(folder / "mine.tsv", "source translation score", mine)


def _preferences(folder: Path) -> None:
    """Better/worse judgements, with references that somebody attacked."""
    _text(folder / "sources.txt", SOURCES)
    _text(folder / "references.txt", REFERENCES)
    judged = [(n, "A", "B", text, text[: len(text) // 2]) for n, text in enumerate(REFERENCES)]
    _table(folder / "darr.tsv", "segment better_system worse_system better worse", judged)
    for attack in ("intrude", "disemvowel", "keyboard-typo", "phonetic", "visual"):
        for level in ("0.1", "0.2", "0.3"):
            _text(folder / "attacked" / attack / f"{level}.txt", [text.replace("e", "é") for text in REFERENCES])


def _evaluation(root: Path) -> None:
    """A folder in the layout of mt-metrics-eval."""
    for pair in ("hi-bn", "xh-zu"):
        _text(root / "sources" / f"{pair}.txt", SOURCES)
        _text(root / "references" / f"{pair}.ref-A.txt", REFERENCES)
        scores = [f"{system}\t{base + n}" for system, base in (("A", 60), ("B", 10)) for n in range(len(PAIRS))]
        _text(root / "human-scores" / f"{pair}.wmt-raw.seg.score", scores)
        for metric in ("BERTScore", "BLEURT-20", "COMET-DA_2020", "chrF", "sentBLEU"):
            _text(root / "metric-scores" / pair / f"{metric}-ref-A.seg.score", scores)
        for system, cut in (("A", 1.0), ("B", 0.5)):
            _text(
                root / "system-outputs" / pair / f"{system}.txt", [text[: int(len(text) * cut)] for text in REFERENCES]
            )
