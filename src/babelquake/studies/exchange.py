"""Texts out, answers in: for systems and scorers that run elsewhere, on another machine or behind somebody's door.

`sources.txt` holds every distinct source that a study translates, clean and perturbed; a file `NAME.txt` put beside it
has one translation a line, in the same order.

`texts.jsonl` holds every distinct (source, translation, references) that a study judges, clean and perturbed, one a
line; `texts.tsv` the same for people and spreadsheets. A file `NAME.txt` put beside them has one score a line, in the
same order; a table `NAME.tsv` (or .csv, .jsonl, .parquet, COMET's .json) has the texts and a column `score`.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from babelquake.data import write
from babelquake.errors import UserError
from babelquake.files import store_text
from babelquake.limits import json_object
from babelquake.scorers.base import Questions
from babelquake.spec import Spec
from babelquake.studies.plan import Plan
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
