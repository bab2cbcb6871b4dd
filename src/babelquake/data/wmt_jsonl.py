"""The WMT general task as JSON lines: documents with several references, systems' translations, prompts and ratings.

Three layouts, told by their fields:

- WMT24's ratings: one rated translation a line (`langs`, `line_id`, `src`, `tgt`, `system`, `esa_score`);
- WMT25's and WMT26's test sets: one document or segment a line (`doc_id`, `src_text`, `src_lang`, `tgt_lang`), with
  references in `refs` and, where they were added, translations in `tgt_text` and ratings in `scores`, by system;
- their submissions: `systems/NAME.jsonl` beside the test set (`doc_id`, `hypothesis`).

A system's rating is the mean of its raters'. Fields that are not named here are kept as columns.

`FILE:speech` pairs what was said (`gold_transcript`) with the recogniser's transcript, which the systems translated.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from babelquake.data.challenge_sets import KEY, key_of
from babelquake.data.dataset import Dataset, Request
from babelquake.data.json_and_parquet import json_lines
from babelquake.data.streams import label, lines, only_file, stem, suffix
from babelquake.data.table import Table, Values, number, to_dataset
from babelquake.errors import UserError
from babelquake.limits import json_of

ENDINGS = (".jsonl", ".ndjson")
RATED = frozenset({"langs", "line_id", "src", "tgt", "system", "esa_score"})
TEST_SET = frozenset({"doc_id", "src_text"})
TAKEN = frozenset({"doc_id", "src_text", "src_lang", "tgt_lang", "refs", "tgt_text", "scores"})
REFERENCE = re.compile(r"ref[A-Z]?\d*$")
"""What references are called among translations."""
RATING = re.compile(r"(human|esa|mqm|score)(_score)?\d*$")
SPEECH = ":speech"
"""Behind a file's name: its transcripts of speech as variants of what was said."""
PARTS = re.compile(r"_#+_")
"""What parts a document's name: languages, domain, document and segment."""


def is_wmt_jsonl(what: str) -> bool:
    """Whether the first line of a file of JSON lines, or of the only one in a folder, has the fields of a layout."""
    file = only_file(what.removesuffix(SPEECH), *ENDINGS)
    if suffix(file) not in ENDINGS or not file.is_file():
        return False
    try:
        first = json.loads(next(lines(file), ""))
    except (ValueError, RecursionError, UserError):
        return False
    return isinstance(first, dict) and (first.keys() >= RATED or first.keys() >= TEST_SET)


def read_wmt_jsonl(request: Request) -> Dataset:
    """One row per segment and system; one per segment where no system's translations are known."""
    notes: list[str] = []
    path = only_file(request.what.removesuffix(SPEECH), *ENDINGS)
    speech = request.what.endswith(SPEECH)
    found = json_lines(path, notes)
    rated = bool(found) and isinstance(found[0][1], dict) and found[0][1].keys() >= RATED
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    outputs = {} if rated else _submissions(path.parent / "systems")
    for line, item in found:
        where = f"{label(path)} line {line}"
        if not isinstance(item, dict) or not item.keys() >= (RATED if rated else TEST_SET):
            raise UserError(f"{where}: expected an object with {', '.join(sorted(RATED if rated else TEST_SET))}.")
        for row in _rated(item, where) if rated else _document(item, outputs, where):
            rows.append(row)
            numbers.append(line)
    if rated:
        rows, numbers = _averaged(rows, numbers)
    key = key_of(path.parent / f"{stem(path)}{KEY}", path, [line for line, _ in found])
    for row, line in zip(rows, numbers, strict=True):
        row |= {field: told[line] for field, told in key.items()}
    transcribed = [place for place, row in enumerate(rows) if row.get("gold_transcript")]
    if speech:
        rows, numbers = [_spoken(rows[place]) for place in transcribed], [numbers[place] for place in transcribed]
        if not rows:
            raise UserError(f"{label(path)} has no gold_transcript, so {SPEECH} finds nothing to compare.")
    elif transcribed:
        advice = f"{path}{SPEECH} compares them with what was said"
        notes.append(f"{stem(path)}: {len(transcribed)} sources are transcripts of speech; {advice}")
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, Values] = {name: [row.get(name) for row in rows] for name in names}
    name = stem(path) + (SPEECH if speech else "")
    return to_dataset(Table(label(path), name, columns, numbers, notes=notes), None, request.language_pair)


def _rated(item: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """One rating of WMT24; a reference that was rated is a translation like others."""
    kept = {name: value for name, value in item.items() if name not in RATED | {"esa_spans"}}
    yield {
        "id": f"{item['langs']}:{item['line_id']}",
        "source": _text(item["src"], f"{where}: src"),
        "translation": _text(item["tgt"], f"{where}: tgt"),
        "system": item["system"],
        "score": number(item["esa_score"], f"{where}: esa_score"),
        "spans": _flat(item.get("esa_spans")),
        "language_pair": item["langs"],
        **{name: _flat(value) for name, value in kept.items()},
    }


def _averaged(rows: Sequence[dict[str, Any]], numbers: Sequence[int]) -> tuple[list[dict[str, Any]], list[int]]:
    """Several raters' scores of one translation as their mean."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((row["id"], row["system"]), []).append(place)
    found = []
    for places in groups.values():
        scores = [rows[place]["score"] for place in places if rows[place]["score"] is not None]
        found.append({**rows[places[0]], "score": fmean(scores) if scores else None})
    return found, [numbers[places[0]] for places in groups.values()]


def _document(
    item: Mapping[str, Any], outputs: Mapping[str, Mapping[str, str]], where: str
) -> Iterator[dict[str, Any]]:
    """A document or segment, once for each of its translations."""
    name = str(item["doc_id"])
    told = item.get("tgt_text")
    if told is not None and not isinstance(told, dict):
        raise UserError(f"{where}: tgt_text is {_short(told)} where translations by system are expected.")
    texts = {system: _text(text, f"{where}: tgt_text of {system}") for system, text in (told or {}).items()}
    references = [text for system, text in texts.items() if REFERENCE.fullmatch(system) and text]
    given = item.get("refs") or {}
    if not isinstance(given, dict):
        raise UserError(f"{where}: refs is {_short(given)} where references by name are expected.")
    references += [
        _text(ref["ref"] if isinstance(ref, dict) and "ref" in ref else ref, f"{where}: refs") for ref in given.values()
    ]
    systems = {system: text for system, text in texts.items() if not REFERENCE.fullmatch(system)}
    systems |= {system: found[name] for system, found in outputs.items() if name in found}
    parts = PARTS.split(name)
    segment = {
        "id": name,
        "source": _text(item["src_text"], f"{where}: src_text"),
        "references": list(dict.fromkeys(references)) or None,
        "language_pair": _languages(item, parts),
        "document": name.rpartition("_#_")[0] if parts[-1].isdigit() else name,
        **({"domain": parts[1]} if len(parts) > 1 and "domain" not in item else {}),
        **{field: _flat(value) for field, value in item.items() if field not in TAKEN},
    }
    if item.get("gold_transcript"):
        segment["gold_transcript"] = _text(item["gold_transcript"], f"{where}: gold_transcript")
    ratings = item.get("scores") or {}
    for system, text in systems.items() or [(None, None)]:
        rating = ratings.get(system) if isinstance(ratings, dict) else None
        yield {**segment, "system": system, "translation": text, "score": _mean(rating), "ratings": _flat(rating)}


def _spoken(row: dict[str, Any]) -> dict[str, Any]:
    """A transcript, which was translated and rated, as a variant of what was said, which was not."""
    transcript = {"perturbed": row["source"], "perturbation": "transcript", "translation_perturbed": row["translation"]}
    clean = {"source": row["gold_transcript"], "translation": None, "score": None}
    return {name: value for name, value in row.items() if name != "gold_transcript"} | clean | transcript


def _languages(item: Mapping[str, Any], parts: Sequence[str]) -> str | None:
    """The language pair: in two fields, or in front of the document's name."""
    if item.get("src_lang") and item.get("tgt_lang"):
        return f"{item['src_lang']}-{item['tgt_lang']}"
    return parts[0] if len(parts) > 1 and "-" in parts[0] else None


def _mean(rating: Any) -> float | None:
    """The mean of what raters gave: a number, an object with `human1`, `human2` …, or a list of such."""
    if isinstance(rating, int | float) and not isinstance(rating, bool):
        return float(rating)
    if isinstance(rating, list):
        found = [mean for one in rating if (mean := _mean(one)) is not None]
    elif isinstance(rating, dict):
        known = [value for field, value in rating.items() if RATING.fullmatch(field)]
        found = [float(value) for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    else:
        found = []
    return fmean(found) if found else None


def _submissions(folder: Path) -> dict[str, dict[str, str]]:
    """What the systems beside the test set made of its documents: system → document → translation."""
    found: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
        mine = found.setdefault(file.name.removesuffix(".jsonl"), {})
        for place, line in enumerate(lines(file), start=1):
            where = f"{label(file)} line {place}"
            item = json_of(line, where)
            if not isinstance(item, dict) or not {"doc_id", "hypothesis"} <= item.keys():
                raise UserError(f"{where}: expected an object with doc_id and hypothesis.")
            mine[str(item["doc_id"])] = _text(item["hypothesis"], f"{where}: hypothesis")
    return found


def _text(value: Any, where: str) -> str:
    """A text, of which a list holds the paragraphs."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    if not isinstance(value, str):
        raise UserError(f"{where} is {_short(value)} where text is expected.")
    return value


def _flat(value: Any) -> Any:
    """A further field as a cell: what is nested as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
