"""Runs that real studies made on small data, for every page; and hostile text."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from hashlib import sha512
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from babelquake.engine import Engine
from babelquake.runs.run import Run
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1> bild",
    "{{ 7*7 }} {% raw %} ${7*7} `code` *bold* [link](javascript:window.hacked=1) | pipe",
    "\u202egnp.exe\u202c \u2066isolated\u2069 \u200e",
    "nul\x00bell\x07esc\x1b[31m tab\tnew\nline \u2028 \u2029 \ufeff",
    "x" * 10_000,
    "wort " * 2_000,
    "& &amp; &lt;b&gt; \\ $ % # _ ^ ~ \" '",
    "שלום עולם – مرحبا بالعالم – 日本語のテキスト – 👩‍👩‍👧",
)
MEANINGS = (
    "das:the haus:house ist:is alt:old wir:we gehen:go heim:home er:he kommt:comes nicht:not es:there gab:were "
    "zwölf:twelve tote:dead der:the zug:train fährt:leaves heute:today nach:for berlin:berlin"
)
WORDS = dict(entry.split(":") for entry in MEANINGS.split())
SENTENCES = [
    "Das Haus ist alt.",
    "Wir gehen heim.",
    "Er kommt nicht.",
    "Es gab zwölf Tote.",
    "Der Zug fährt heute nach Berlin.",
    "Das Haus ist nicht alt.",
    "Der Zug kommt heute nicht.",
    "Wir gehen heute nach Berlin.",
    "Er gab das Haus nicht.",
    "Heute ist der Zug alt.",
    "Es ist nicht das Haus.",
    "Nach Berlin fährt er heute nicht.",
]
Toy = Callable[[Sequence[str]], list[str]]


def _translated(text: str, lookup: Callable[[str], str]) -> str:
    words = [found for word in text.rstrip(".?!").split() if (found := lookup(word))]
    return " ".join(words).capitalize() + text[len(text.rstrip(".?!")) :]


def old(texts: Sequence[str]) -> list[str]:
    """Knows words as they are spelt, and nothing else."""
    known = {**WORDS, **{word.capitalize(): meaning for word, meaning in WORDS.items()}}
    return [_translated(text, lambda word: known.get(word, "")) for text in texts]


def new(texts: Sequence[str]) -> list[str]:
    """Sees through a typo and through capitals."""

    def lookup(word: str) -> str:
        near = get_close_matches(word.lower(), WORDS, n=1, cutoff=0.6)
        return WORDS[near[0]] if near else word

    return [_translated(text, lookup) for text in texts]


def mt_run(
    folder: Path,
    extra: tuple[str, ...] = (),
    suite: str = "misspell[level=0.2|0.4],case[level=1]",
    systems: Sequence[Toy] | None = None,
) -> Run:
    """Two systems under typos at two levels and letter case; `extra` texts are further segments."""
    sources = [*SENTENCES, *(f"{text[:-1]} {place}." for place, text in enumerate(SENTENCES)), *extra]
    table = pl.DataFrame({"source": sources, "reference": new(sources), "language_pair": ["de-en"] * len(sources)})
    scorers = ["chrf", "bleu[lowercase=true]"]
    return mt(
        systems=systems or [old, new],
        data=table,
        suite=suite,
        scorers=scorers,
        out=folder,
        seed=5,
        resamples=300,
        engine=Engine(quiet=True),
    )


def rated(rows: int = 24) -> pl.DataFrame:
    """Translations by two systems with human scores: the worse a translation, the less it is liked."""
    lines: list[dict[str, Any]] = []
    for place in range(rows):
        source = f"{SENTENCES[place % len(SENTENCES)][:-1]} {place}."
        reference = new([source])[0]
        for system, made, score in (
            ("good", reference, 90 - place % 5),
            ("bad", reference[: 8 + place % 7], 50 - place % 9),
        ):
            lines.append(
                {"source": source, "reference": reference, "translation": made, "system": system, "score": score}
            )
    return pl.DataFrame(lines).with_columns(language_pair=pl.lit("de-en"))


def challenge(folder: Path) -> Run:
    """A challenge set, whose damaged translations come with the data."""
    references = new(SENTENCES)
    triples = pl.DataFrame(
        {
            "source": SENTENCES,
            "reference": references,
            "translation": [text.replace("the", "a") for text in references],
            "translation_perturbed": [text.replace("not", "").replace("is", "are") + "!" for text in references],
            "phenomenon": ["articles", "names", "numbers"] * 4,
            "severity": ["minor", "major"] * 6,
        }
    ).with_columns(language_pair=pl.lit("de-en"))
    return metric(scorers=["chrf"], data=triples, out=folder, resamples=200, engine=Engine(quiet=True))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One finished run of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    quiet: dict[str, Any] = {"resamples": 200, "engine": Engine(quiet=True)}
    both, one = ["chrf", "bleu"], rated().filter(pl.col("system") == "good").drop("system")
    changes = "final-delete[mark=stop],negation-remove,misspell[level=0.2]"
    return {
        "mt": mt_run(folder / "mt"),
        "metric": metric(scorers=both, data=one, suite=changes, out=folder / "metric", **quiet),
        "agreement": metric(
            scorers=both,
            data=rated(),
            suite="visual[level=0|0.1|0.3]",
            out=folder / "agreement",
            side="reference",
            **quiet,
        ),
        "challenge": challenge(folder / "challenge"),
        "qe": qe(
            scorers=["chrf", "bleu", "ter"],
            data=one,
            suite="kanojia2021",
            out=folder / "qe",
            masked_lm="none",
            replicates=2,
            **quiet,
        ),
        "hostile": mt_run(folder / "hostile", HOSTILE, "case[level=1],punct-remove"),
        "large": mt_run(
            folder / "large", tuple(sha512(bytes([row])).hexdigest() for row in range(60)), "case[level=1]"
        ),
    }
