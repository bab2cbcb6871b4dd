"""Finished runs of every study, made by hand, and hostile text."""

from collections.abc import Callable
from hashlib import sha512
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from babelquake.runs.info import Facts
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "{{ 7*7 }} {% raw %} ${7*7} `code` *bold* [link](javascript:window.hacked=1) | pipe",
    "\u202egnp.exe\u202c \u2066isolated\u2069 \u200e",
    "nul\x00bell\x07esc\x1b[31m tab\tnew\nline \u2028 \u2029 \ufeff",
    "x" * 10_000,
    "wort " * 2_000,
    "& &amp; &lt;b&gt; \\ $ % # _ ^ ~ \" '",
    "שלום עולם – مرحبا بالعالم – 日本語のテキスト – 👩‍👩‍👧",
)
Measure = Callable[..., dict[str, Any]]


def measure(study: str, name: str, value: float | None, **columns: Any) -> dict[str, Any]:
    """One row of measures; an interval of ±1 and n = 20 where nothing else is said."""
    around = {"low": value - 1, "high": value + 1, "sd": 0.5} if value is not None else {}
    return {"study": study, "measure": name, "value": value, "n": 20, "signature": "s", **around, **columns}


SEGMENTS = pl.DataFrame(
    {
        "row": range(4),
        "id": [f"s:{row}" for row in range(4)],
        "source": ["Das Haus ist alt.", "Wir gehen heim.", "Er kommt nicht.", "Es gab 12 Tote."],
        "references": [["The house is old."], ["We are going home."], ["He is not coming."], ["There were 12 dead."]],
        "translation": ["The house is old.", "We go home.", "He does not come.", "There was 12 dead."],
        "language_pair": ["de-en"] * 4,
    },
    schema_overrides={"row": pl.UInt32},
)


def mt_run(folder: Path, extra: tuple[str, ...] = ()) -> Run:
    """Two systems under typos at two levels and letter case; `extra` texts are appended as further segments."""
    run = Run.resume(
        folder,
        "mt",
        {"system": ["old", "new"], "data": "news#abc", "suite": ["misspell[level=0.1]"], "replicates": [1, 1],
         "scorer": ["chrf", "bleu[lowercase=true]"], "seed": 5, "threshold": 75.0},
    )  # fmt: skip
    more = pl.DataFrame(
        {
            "row": range(4, 4 + len(extra)), "id": [f"x:{row}" for row in range(len(extra))], "source": list(extra),
            "references": [[text] for text in extra], "translation": list(extra),
            "language_pair": ["de-en"] * len(extra),
        },
        schema=SEGMENTS.schema,
    )  # fmt: skip
    segments = pl.concat([SEGMENTS, more])
    run.once("segments", lambda: segments.drop("translation"))
    changes = [("misspell", 0.1), ("misspell", 0.2), ("case", 1.0)]
    clean = segments.select("row", "id", "language_pair", "source", "translation")
    kinds = ["identical", "surface", "number", "other", "negation", "copied", "collapse", "name", "reordering"]
    parts = []
    for system in ("old", "new"):
        parts.append(clean.with_columns(system=pl.lit(system), judged="translation"))
        for change, level in changes:
            parts.append(
                clean.with_columns(
                    system=pl.lit(system), perturbation=pl.lit(change), level=pl.lit(level),
                    replicate=pl.lit(0, pl.UInt32), source=pl.col("source") + f" {change}?",
                    translation=f"{system} " + pl.col("translation"), judged=f"{system} " + pl.col("translation"),
                    change=pl.Series([kinds[row % len(kinds)] for row in clean["row"]]),
                    consistency=100.0 - 7 * pl.col("row").cast(pl.Float64) - (3 if system == "old" else 0),
                )
            )  # fmt: skip
    translations = pl.concat(parts, how="diagonal")
    noisy = translations.filter(pl.col("perturbation").is_not_null(), system="old").rename({"source": "text"})
    run.once("variants", lambda: noisy.select(
        "row", "id", "language_pair", "perturbation", "level", "replicate", "text"))  # fmt: skip
    run.once("translations", lambda: translations)
    keys = ["system", "language_pair", "row", "id", "perturbation", "level", "replicate"]
    run.once("scores", lambda: pl.concat(
        translations.select(keys).with_columns(
            scorer=pl.lit(scorer), score=60.0 - pl.col("level").fill_null(0) * 10 - pl.col("row"))
        for scorer in ("chrf", "bleu[lowercase=true]")))  # fmt: skip
    rows = []
    for scorer in ("chrf", "bleu[lowercase=true]"):
        for rank, (system, frailty) in enumerate((("new", 9.0), ("old", 16.0)), 1):
            for change, level in changes:
                key = {"language_pair": "de-en", "system": system, "scorer": scorer, "perturbation": change,
                       "level": level}  # fmt: skip
                robust = 100 - frailty * level * 10 if change == "misspell" else 99.9
                p = {"p": 0.0002, "p_corrected": 0.001 if change == "misspell" else 0.4}
                rows += [
                    measure("mt", "quality", 40.0, **key),
                    measure("mt", "quality_perturbed", 0.4 * robust, **key),
                    measure("mt", "delta", 0.4 * (robust - 100), **key, **p),
                    measure("mt", "robust", robust, **key, **p),
                    measure("mt", "consis", robust - 2, **key),
                    measure("mt", "rank", float(rank), **key),
                ]
    for change, level in changes:
        key = {"language_pair": "de-en", "perturbation": change, "level": level}
        for system in ("old", "new"):
            rows.append(measure("mt", "inconsistent", 12.0, scorer="chrf", system=system, **key))
            rows.append(measure("mt", "changed_identical", 60.0, system=system, **key))
            rows.append(measure("mt", "changed_negation", 40.0, system=system, **key))
        for scorer in ("chrf", "bleu[lowercase=true]"):
            rows.append(measure("mt", "robust_difference", -7.0, scorer=scorer, system="old", other="new", **key,
                                p=0.001, p_corrected=0.01))  # fmt: skip
    run.info.signatures = {"scorer chrf": "chrF2|version:2.6.0"}
    return run.finish(measures_frame(rows))


def judged_tables(run: Run, scorers: tuple[str, ...], changes: tuple[tuple[str, float | None], ...]) -> None:
    """Segments, variants and scores as the metric and QE studies store them."""
    segments = run.once("segments", lambda: SEGMENTS.with_columns(text="translation", system=pl.lit(None, pl.String)))
    parts = [
        segments.select("row", "id", "language_pair", perturbation=pl.lit(change), level=pl.lit(level, pl.Float64),
                        replicate=pl.lit(0, pl.UInt32), text=pl.col("text") + f" {change}")
        for change, level in changes
    ]  # fmt: skip
    variants = run.once("variants", lambda: pl.concat(parts))
    keys = ["row", "id", "language_pair", "perturbation", "level", "replicate"]
    clean = segments.select("row", "id", "language_pair", replicate=pl.lit(0, pl.UInt32))
    table = pl.concat([clean, variants.select(keys)], how="diagonal")
    run.once("scores", lambda: pl.concat(
        table.with_columns(scorer=pl.lit(scorer), score=pl.when(pl.col("perturbation").is_null()).then(90.0)
                           .otherwise(80.0 - pl.col("row"))) for scorer in scorers))  # fmt: skip


def metric_run(folder: Path) -> Run:
    """Sensitivity of two metrics and their agreement with humans under noise."""
    run = Run.resume(folder, "metric", {"scorer": ["chrf", "bleu"], "data": ["d#1"], "side": "translation", "seed": 1})
    judged_tables(run, ("chrf", "bleu"), (("final-delete", None), ("negation-remove", None)))
    run.info.facts = Facts.model_validate({
        "meaning": {"final-delete": "preserving", "negation-remove": "altering", "visual": "preserving"},
        "modes": ["sensitivity", "agreement"],
    })
    rows = []
    for scorer, loss in (("chrf", 2.0), ("bleu", 9.0)):
        for change, share in (("final-delete", 1.0), ("negation-remove", 0.5)):
            key = {"language_pair": "de-en", "scorer": scorer, "perturbation": change}
            rows += [
                measure("metric", "score", 90.0, **key),
                measure("metric", "score_perturbed", 90 - loss * share, **key),
                measure(
                    "metric", "delta", -loss * share, **key, p=0.001, p_corrected=0.004 if scorer == "bleu" else 0.2
                ),
            ]
        rows.append(measure("metric", "harmless_costs_more", 10 * loss, language_pair="de-en", scorer=scorer,
                            perturbation="final-delete"))  # fmt: skip
        for pair in ("de-en", "average"):
            for level in (0.0, 0.1, 0.3):
                key = {"language_pair": pair, "scorer": scorer, "perturbation": "visual", "level": level}
                rows.append(measure("metric", "darr", 0.3 - loss * level / 20, **key))
        rows.append(measure("metric", "unknown_tokens", 3.5, language_pair="de-en", tokenizer=scorer,
                            perturbation="visual", level=0.1))  # fmt: skip
    return run.finish(measures_frame(rows))


def challenge_run(folder: Path) -> Run:
    """A challenge set, whose damaged translations came with the data."""
    run = Run.resume(folder, "metric", {"scorer": ["chrf"], "data": ["demetr#1"], "suite": [], "side": "translation"})
    run.once("segments", lambda: SEGMENTS.with_columns(
        perturbed=pl.col("translation").str.replace("The", "A"), phenomenon=pl.lit("articles"),
        severity=pl.lit("minor")))  # fmt: skip
    run.once("scores", lambda: SEGMENTS.select(
        "row", "id", "language_pair", phenomenon=pl.lit("articles"), severity=pl.lit("minor"), scorer=pl.lit("chrf"),
        score=pl.lit(90.0), score_perturbed=pl.lit(85.0), score_unrelated=pl.lit(20.0)))  # fmt: skip
    run.info.facts.modes = ["challenge"]
    rows = [
        measure("metric", name, value, scorer="chrf", perturbation=label, group=group)
        for label, group, accuracy in (
            (None, None, 90.0), ("articles", None, 75.0), ("names", None, 99.0), (None, "minor", 80.0)
        )
        for name, value in (("detection_accuracy", accuracy), ("change_ratio", accuracy / 300))
    ]
    return run.finish(measures_frame(rows))


def qe_run(folder: Path) -> Run:
    """Three QE models under two probes of each kind."""
    models = (("tq-mono", 0.9), ("tq-siamese", 0.4), ("sentsim", -0.1))
    run = Run.resume(folder, "qe", {"scorer": [name for name, _ in models], "data": ["qe#1"], "seed": 3})
    probes = {
        "punct-remove": ("preserving", "Removal of punctuation (MPP1)"),
        "det-remove": ("preserving", "Removal of determiners (MPP3)"),
        "negation-remove": ("altering", "Removal of negation (MAP1)"),
        "antonym": ("altering", "Antonyms (MAP7)"),
    }
    judged_tables(run, tuple(name for name, _ in models), tuple((label, None) for label in probes))
    run.info.facts = Facts.model_validate({
        "probes": {label: {"meaning": meaning, "title": title} for label, (meaning, title) in probes.items()},
        "flags": [{"scorer": "sentsim", "language_pair": "de-en", "perturbation": "antonym",
                   "text": "sentsim scores antonyms above the translation itself."}],
        "selection": "Segments with a human score of at least 70.",
    })
    rows = []
    for place, (model, power) in enumerate(models, 1):
        key = {"language_pair": "de-en", "scorer": model}
        small = {"low": None, "high": None, "sd": None}
        rows += [
            measure("qe", name, value, **key, **small)
            for name, value in (
                ("score_mt", 0.8), ("score_mpp", 0.75), ("score_map", 0.75 - power / 4), ("discrimination", power / 4),
                ("discrimination_standardised", 2 * power),
                ("pearson", 0.7 - place / 10), ("rank_discrimination", float(place)), ("rank_pearson", float(place)),
            )
        ]  # fmt: skip
        for label, (meaning, _) in probes.items():
            drop = 0.05 + (power / 4 if meaning == "altering" else 0)
            rows.append(measure("qe", "drop", drop, **key, perturbation=label, p=0.001, low=drop - 0.02,
                                high=drop + 0.02, p_corrected=0.01 if power > 0 else 0.7))  # fmt: skip
    rows.append(measure("qe", "rank_agreement", 1.0, language_pair="de-en", p=0.03))
    return run.finish(measures_frame(rows))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One finished run of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        "mt": mt_run(folder / "mt"),
        "metric": metric_run(folder / "metric"),
        "challenge": challenge_run(folder / "challenge"),
        "qe": qe_run(folder / "qe"),
        "hostile": mt_run(folder / "hostile", HOSTILE),
        "large": mt_run(folder / "large", tuple(sha512(bytes([row])).hexdigest() for row in range(60))),
    }
