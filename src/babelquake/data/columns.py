"""Which column of a file holds what: by the names people use, or as the user says."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from babelquake.errors import UserError, did_you_mean, setting
from babelquake.languages import LanguagePair, language_named
from babelquake.paths import table_of_room

ALIASES: dict[str, tuple[str, ...]] = {
    field: tuple(names.split()) for field, names in table_of_room("data", "columns")["segments"].items()
}
"""Names a column may go by, the likeliest first. Case does not matter; spaces and hyphens count as underscores."""
TEXTS = ("source", "reference", "translation")
VARIANTS = ("perturbed", "perturbation", "translation_perturbed", "reference_perturbed")
"""What a table that brings its own variants has: the perturbed source, what it is called, and its translation."""
VENDOR = "translation:"
"""`translation:NAME=COLUMN` names a column of NAME's translations."""
LANGUAGES = ({"source_lang", "src_lang", "source_language"}, {"target_lang", "tgt_lang", "target_language"})
"""Columns that tell the two languages of a row."""
TARGET = ("target", "tgt", "target_text")
"""`target` is a translation where the file names systems or scores, otherwise a reference."""
FURTHER_REFERENCE = re.compile(r"^(?:reference|ref)_?(?:\d+|[a-z])$")


def resolve(header: Sequence[str], given: Mapping[str, str] | None, label: str) -> dict[str, list[str]]:
    """For each field, the columns of the file that hold it: one, or several references."""
    by_name = {_plain(name): name for name in header}
    chosen = _as_given(header, given or {}, label)
    taken = {name for names in chosen.values() for name in names}
    for field, names in ALIASES.items():
        if field in chosen:
            continue
        found = next((by_name[name] for name in names if name in by_name and by_name[name] not in taken), None)
        if found is not None:
            chosen[field] = [found]
            taken.add(found)
    if not given or not {"reference", "references"} & set(given):
        further = [name for name in header if FURTHER_REFERENCE.match(_plain(name)) and name not in taken]
        if further:
            chosen["reference"] = chosen.get("reference", []) + further
            taken.update(further)
    if "source" not in chosen and not given:
        chosen |= _languages(header, taken)
    target = next((by_name[name] for name in TARGET if name in by_name and by_name[name] not in taken), None)
    field = "translation" if {"system", "score"} & set(chosen) and "translation" not in chosen else "reference"
    if target and field not in chosen:
        chosen[field] = [target]
    return chosen


def vendors(given: Mapping[str, str] | None) -> dict[str, str]:
    """Whose translations stand in which column, where the user names several: `translation:VendorA=C`."""
    found: dict[str, str] = {}
    for field, column in (given or {}).items():
        if not field.startswith(VENDOR):
            continue
        name = field.removeprefix(VENDOR).strip()
        if not name:
            raise UserError(f"{setting('columns', {field: column})}: name the vendor, as in {VENDOR}NAME={column}.")
        if column in found.values():
            raise UserError(f"{setting('columns')} names column '{column}' twice. Give every vendor its own column.")
        found[name] = column
    if found and given and {"translation", "system"} & set(given):
        raise UserError(
            f"{setting('columns')} gives translations both as {VENDOR}NAME and as translation or system. Use only one."
        )
    return found


def language_columns(header: Sequence[str]) -> tuple[str, str] | None:
    """The two columns that tell the languages of a row, where a file has them."""
    first, second = (next((name for name in header if _plain(name) in names), None) for names in LANGUAGES)
    return (first, second) if first is not None and second is not None else None


def language_header(header: Sequence[str]) -> LanguagePair | None:
    """The pair where just two columns are named after languages, by code or English name: `de` and `en`."""
    found = [lang for name in header if (lang := language_named(name)) and len(lang.code) == 2]
    return LanguagePair.of(*found) if len(found) == 2 and found[0].code != found[1].code else None


def _languages(header: Sequence[str], taken: set[str]) -> dict[str, list[str]]:
    """Columns named after languages: the first is the source, the second the reference."""
    if language_header(header) is None:
        return {}
    named = [name for name in header if (lang := language_named(name)) and len(lang.code) == 2 and name not in taken]
    return {"source": [named[0]], "reference": [named[1]]} if len(named) == 2 else {}


def is_header(cells: Sequence[str]) -> bool:
    """Whether a first line names columns: at least one cell is a name for source, reference or translation."""
    names = {_plain(cell) for cell in cells}
    known = {name for field in TEXTS for name in ALIASES[field]} | set(TARGET)
    if len(cells) > 1 and language_header(cells) is not None:
        return True
    return bool(names & known) or any(map(FURTHER_REFERENCE.match, names))


def by_position(given: Mapping[str, str] | None) -> bool:
    """Whether the user numbered the columns (`source=1,reference=2`): then the file has no header."""
    return bool(given) and all(value.isdigit() for value in (given or {}).values())


def near_misses(header: Sequence[str], chosen: Mapping[str, Sequence[str]]) -> list[str]:
    """Notes on unused columns whose name looks like a text field that was not found."""
    taken = {name for names in chosen.values() for name in names}
    missing = [field for field in TEXTS if field not in chosen]
    return [
        f"column '{name}' was not read as {field}; if it is, use --columns {field}={name}"
        for name in header
        if name not in taken
        for field in get_close_matches(_plain(name), missing, n=1, cutoff=0.8)
    ]


def _as_given(header: Sequence[str], given: Mapping[str, str], label: str) -> dict[str, list[str]]:
    chosen = {}
    for field, value in given.items():
        known = "reference" if field == "references" else field
        if known not in ALIASES:
            raise UserError(f"no field is called '{field}'. {did_you_mean(field, ALIASES)}")
        names = [value] if value in header else value.split("+") if known == "reference" else [value]
        for name in names:
            if name not in header:
                raise UserError(f"{label} has no column '{name}' (for {known}). {_near(name, header)}")
        chosen[known] = names
    return chosen


def _near(name: str, header: Sequence[str]) -> str:
    near = get_close_matches(name, header, n=1, cutoff=0.6)
    guess = f" Did you mean '{near[0]}'?" if near else ""
    return f"Its columns are: {', '.join(header)}.{guess}"


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
