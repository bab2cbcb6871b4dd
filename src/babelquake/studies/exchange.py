"""Texts out, answers in: for systems and scorers that run elsewhere, on another machine or behind somebody's door.

`sources.txt` holds every distinct source that a study translates, clean and perturbed; a file `NAME.txt` put beside it
has one translation a line, in the same order.

`texts.jsonl` holds every distinct (source, translation, references) that a study judges, clean and perturbed, one a
line; `texts.tsv` the same for people and spreadsheets. A file `NAME.txt` put beside them has one score a line, in the
same order; a table `NAME.tsv` (or .csv, .jsonl, .parquet, COMET's .json) has the texts and a column `score`.

Scores for a shared task are in the layout of mt-metrics-eval: `metric-scores/PAIR/NAME-REFERENCE.seg.score` has a
system and a score a line, a system's segments in order; `.sys.score` a system and its score. Higher is better there, so
error rates are turned round. A metric that reads no reference is called `NAME-src`. Names keep to letters, digits, dots
and underscores: a hyphen parts name and reference, a dot several references. References that stand among the systems'
outputs are scored like a system, but for those that the metric reads: mt-metrics-eval takes a score that is missing for
0, or refuses the file.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from babelquake.data import write
from babelquake.data.metrics_eval import Pair, is_metrics_eval, pairs_of
from babelquake.engine import Engine, in_turn
from babelquake.errors import UserError, setting
from babelquake.files import store_bytes, store_text
from babelquake.limits import json_object
from babelquake.scorers import Scorer
from babelquake.scorers.base import Questions
from babelquake.spec import Spec
from babelquake.studies.options import RunOptions, StudyOptions
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import scorers_of, several
from babelquake.systems.files import export as export_sources
from babelquake.systems.files import imported
from babelquake.text import digest

TEXTS, TABLE, MANIFEST = "texts.jsonl", "texts.tsv", "texts.manifest.json"
OURS = frozenset({TEXTS, TABLE, MANIFEST})
ENDINGS = (".txt", ".tsv", ".csv", ".jsonl", ".parquet", ".json")


def export(plan: Plan, folder: Path) -> tuple[Path, int]:
    """Write what others are to answer: sources for systems, or texts for scorers; where, and how many there are."""
    engine = plan.options.made_engine()
    if plan.searches is not None:
        raise UserError(f"the study {plan.study} cannot be exported: it chooses its texts while it runs.")
    if plan.systems is None:
        return export_questions(folder, plan.questions(engine), plan.with_references)
    if plan.material is not None and (plan.material.column != "source" or plan.material.documents):
        raise UserError("only single sources can be exported, not prompts or documents.")
    texts: dict[str, None] = {}
    for block, variants in plan.variants(engine):
        texts |= dict.fromkeys(block.segments["source"].fill_null(""))
        texts |= dict.fromkeys(variants["text"])
    lines = [text for text in texts if text.strip()]
    return export_sources(folder, lines), len(lines)


def imported_systems(folder: Path | str) -> list[str]:
    """Every FOLDER/NAME.txt beside sources.txt as a system."""
    names = imported(Path(folder))
    if not names:
        raise UserError(f"{folder} has no translations yet: put NAME.txt beside sources.txt, line for line.")
    return [str(Spec("files").with_options(folder=folder, name=name)) for name in names]


def export_questions(folder: Path | str, asked: Iterable[Questions], with_references: bool = True) -> tuple[Path, int]:
    """Write every distinct question to FOLDER/texts.jsonl and texts.tsv; where they are, and how many there are."""
    target = Path(folder)
    distinct: dict[tuple[str, str, tuple[str, ...] | None], None] = {}
    for some in asked:
        count = len(some)
        references = some.references if some.references is not None and with_references else [None] * count
        sources = some.sources if some.sources is not None else [""] * count
        for source, translation, given in zip(sources, some.translations, references, strict=True):
            distinct[source, translation, None if given is None else tuple(given)] = None
    if not distinct:
        raise UserError("there is nothing to judge: the data have no texts.")
    rows = [
        {"source": source, "translation": translation} | ({} if given is None else {"references": list(given)})
        for source, translation, given in distinct
    ]
    written = [json.dumps(row, ensure_ascii=False) for row in rows]
    _refuse_foreign(target, digest(written))
    target.mkdir(parents=True, exist_ok=True)
    flat = [{key: _flat(value) for key, value in row.items()} for row in rows]
    write(pl.DataFrame(rows), target / TEXTS)
    write(pl.DataFrame(flat), target / TABLE)
    manifest = {"count": len(rows), "hash": digest(written)}
    store_text(json.dumps(manifest, indent=2) + "\n", target / MANIFEST)
    return target / TEXTS, len(rows)


def imported_scorers(folder: Path | str) -> list[str]:
    """Every file of scores beside FOLDER/texts.jsonl as a scorer."""
    found = Path(folder)
    if not (found / TEXTS).is_file():
        raise UserError(f"{found} has no {TEXTS}. Export it first.")
    files = _scores_in(found)
    if not files:
        raise UserError(f"{found} has no scores yet: put NAME.txt beside {TEXTS}, one score for each of its lines.")
    names = [path.stem for path in files]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"{found} has two files of scores called {doubled[0]}: keep one of them.")
    lined = Spec("scores").with_options(texts=found / TEXTS)
    return [
        str((lined if path.suffix == ".txt" else Spec("scores")).with_options(file=path, name=path.stem))
        for path in files
    ]


def _scores_in(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if path.is_file() and path.suffix in ENDINGS and path.name not in OURS)


def _refuse_foreign(folder: Path, content: str) -> None:
    """Write over nothing that is not ours, and not under scores that belong to other texts."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Export to a folder.")
    if not (folder / MANIFEST).is_file():
        if taken := [name for name in (TEXTS, TABLE) if (folder / name).exists()]:
            raise UserError(f"{folder / taken[0]} was not exported by babelquake. Use another folder.")
        return
    try:
        former = json_object(folder / MANIFEST)["hash"]
    except (UserError, KeyError):
        former = None
    if former != content and (scores := _scores_in(folder)):
        raise UserError(f"{folder} contains {scores[0].name}, scores of other texts. Export to another folder.")


def _flat(value: str | list[str]) -> str | list[str]:
    """Without tabs and line ends, which TSV cannot hold."""
    return " ".join(value.split()) if isinstance(value, str) else [" ".join(text.split()) for text in value]


SOURCE_ONLY = "src"


def submit_scores(options: RunOptions, folder: str | Path) -> list[Path]:
    """Judge every system's translations by every scorer and write both files of each; the files written."""
    if not isinstance(options, StudyOptions):
        raise UserError("only scorers' answers can be submitted.")
    named: list[str] = several(options.data) if isinstance(options.data, str | list | tuple) else []
    for name in named:
        if not is_metrics_eval(str(name)):
            raise UserError(
                f"{setting('submit')}: {name} is not in the layout of mt-metrics-eval (sources/, system-outputs/)."
            )
    data, scorers, engine = options.dataset(), scorers_of(getattr(options, "scorers", ())), options.made_engine()
    if not scorers:
        raise UserError(f"No scorer given. Use {setting('scorers', metavar='SCORER')}, such as chrf.")
    if not data.has("translation") or not data.has("system"):
        raise UserError(f"{data.name} has no systems' translations to judge.")
    pairs: dict[str | None, Pair] = {}
    wanted = options.reference if data.reference is None and isinstance(options.reference, str) else None
    for name in named:
        pairs |= pairs_of(str(name), options.language_pair, wanted)
    written: list[Path] = []
    for scorer in in_turn(scorers):
        if "reference" in scorer.needs and not data.has("references"):
            raise UserError(f"{data.name} has no references, which scorer '{scorer.name}' needs.")
        for (pair,), part in data.segments.group_by("language_pair", maintain_order=True):
            known = pairs.get(None if pair is None else str(pair), Pair(str(pair), ("refA",), {}))
            if data.reference is not None:
                known = replace(known, references=tuple(data.reference.split("+")))
            written += _written(scorer, engine, part, known, Path(folder) / "metric-scores" / known.name)
    return written


def _written(scorer: Scorer, engine: Engine, segments: pl.DataFrame, pair: Pair, folder: Path) -> list[Path]:
    """Both files of one scorer for one language pair."""
    used = pair.references if "reference" in scorer.needs else ()
    by_segment, by_system = [], []
    for system, asked in _outputs(segments, pair.human, used).items():
        rows = engine.judge(scorer, asked)
        scores = scorer.score_rows(rows)
        if (missing := np.flatnonzero(np.isnan(scores))).size:
            raise UserError(
                f"{setting('submit')}: {scorer.name} has no score for {missing.size} of {len(scores)} translations of "
                f"{system}, the first in line {missing[0] + 1}. A metric's file needs a score for every line."
            )
        by_segment += [f"{system}\t{float(score)!r}\n" for score in scorer.sign * scores]
        by_system.append(f"{system}\t{scorer.sign * float(scorer.aggregate(rows.sum(axis=0)))!r}\n")
    base = re.sub(r"[^\w.]+", "_", scorer.name).strip("_")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for ending, lines in (("seg", by_segment), ("sys", by_system)):
        paths.append(folder / f"{base}-{'.'.join(used) or SOURCE_ONLY}.{ending}.score")
        store_bytes("".join(lines).encode("utf-8"), paths[-1])
    return paths


def _outputs(segments: pl.DataFrame, human: Mapping[str, Sequence[str]], used: Sequence[str]) -> dict[str, Questions]:
    """What is judged of every system in the order of its lines, and of references among the outputs but those used."""
    found: dict[str, Questions] = {}
    for (system,), part in segments.group_by("system", maintain_order=True):
        mine = part.sort(pl.col("id").str.extract(r"(\d+)$").cast(pl.Int64))  # its line, with which an id ends
        references = mine["references"].to_list() if "references" in mine.columns and used else None
        sources, texts = mine["source"].fill_null("").to_list(), mine["translation"].fill_null("").to_list()
        found[str(system)] = Questions(texts, references, sources)
    lines = next(iter(found.values()))
    others = {name: texts for name, texts in human.items() if name not in used and len(texts) == len(lines)}
    return found | {name: Questions(texts, lines.references, lines.sources) for name, texts in others.items()}
