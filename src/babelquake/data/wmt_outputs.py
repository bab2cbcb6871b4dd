"""What systems made of the WMT general task and its test suites: the `txt` and `txt-ts` folders of the yearly releases.

`FOLDER:PAIR` is the general task, `FOLDER:PAIR/SUITE` a test suite, known by its documents' names
(`tsuite_PAIR_SUITE_…`). Sources, references, documents and outputs are files as in the mt-metrics-eval layout;
`metadata/PAIR.jsonl` has one object a line. Three suites bring variants of the source:

- `rocs-mt` (Bawden and Sagot 2023): comments as they were written (`rm`, `rs`) and normalised (`nm`, `ns`), sentences
  split by hand (m) or by spaCy (s). They are paired by document and position; a document that spaCy split into a
  different number of sentences is left out.
- `speech`: the recogniser's transcript is what systems translated, `clean_source` in the metadata what was said.
- `pia` (Miceli-Barone and Sun 2024): questions, then the same questions in five forms of prompt injection, which are
  called like the perturbations that make them.

All others are plain data, with the part of the suite that a line belongs to in the column `part`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from babelquake.data.dataset import Dataset
from babelquake.data.json_and_parquet import json_lines
from babelquake.data.metrics_eval import chosen_references, is_root, outputs_of, pair_in
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.request import Request
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError

NO_REFERENCE = frozenset({"", "no translation available", "no reference available", "n/a", "none"})
"""What releases write where there is no reference."""
CANARY = "canary"
"""The document that marks the release for people who train models; nobody translates it."""
VERSIONS = {"nm": ("rm", "raw"), "ns": ("rs", "raw-spacy")}
"""RoCS-MT's normalised versions, the raw version that belongs to each, and what the pair is called."""
INJECTIONS = ("pia-instruction", "pia-switch", "pia-switch-example", "pia-json", "pia-json-example")
"""The suite `pia`: the same questions six times, first plain, then in these forms."""

Texts = Sequence[str | None]


@dataclass
class Pairs:
    """Two versions of sentences, and what every system made of both: what WMT's suites and RoCS-MT have in common."""

    pair: str
    ids: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    perturbed: list[str] = field(default_factory=list)
    perturbation: list[str] = field(default_factory=list)
    references: list[list[str] | None] = field(default_factory=list)
    outputs: dict[str, tuple[Texts, Texts]] = field(default_factory=dict)
    """System → its translations of the clean and of the perturbed version."""
    further: dict[str, list[Any]] = field(default_factory=dict)
    """Columns such as document and domain."""

    def dataset(self, label: str, name: str, notes: list[str]) -> Dataset:
        """One row per system and pair; only sources and references where there are no systems."""
        given = {name: both for name, both in self.outputs.items() if any(map(_said, (*both[0], *both[1])))}
        notes += _absent([name for name in self.outputs if name not in given], name)
        copies = max(1, len(given))
        columns: dict[str, Any] = {
            "id": self.ids * copies,
            "source": self.sources * copies,
            "perturbed": self.perturbed * copies,
            "perturbation": self.perturbation * copies,
            "references": self.references * copies,
            "language_pair": [self.pair] * (copies * len(self.ids)),
            **{name: values * copies for name, values in self.further.items()},
        }
        if given:
            columns["system"] = [system for system in given for _ in self.ids]
            for place, column in enumerate(("translation", "translation_perturbed")):
                columns[column] = [text for both in given.values() for text in both[place]]
        rows = list(range(1, len(self.ids) + 1)) * copies
        return to_dataset(Table(label, name, columns, rows, unit="pair", notes=notes))


def is_wmt_outputs(what: str) -> bool:
    """Whether a name is FOLDER:PAIR or FOLDER:PAIR/SUITE of such a folder."""
    folder, colon, _ = what.rpartition(":")
    return bool(colon) and is_root(Path(folder))


def read_wmt_outputs(request: Request) -> Dataset:
    """The outputs of all systems that took part."""
    folder, _, wanted = request.what.rpartition(":")
    named, _, suite = wanted.partition("/")
    root, pair = Path(folder), pair_in(Path(folder), named)
    release = _Release(root, pair, request.reference)
    suites = sorted({name for name in release.suites if name})
    if suite == "speech" and any(release.clean):
        return _speech(release, request.what)
    if suite and suite not in suites:
        known = sorted({*suites, *(["speech"] if any(release.clean) else [])})
        there = f"It has: {', '.join(known)}." if known else f"It has none: {folder}:{pair} is the general task."
        raise UserError(f"{folder} has no test suite '{suite}' for {pair}. {there}")
    rows = [row for row, name in enumerate(release.suites) if name == suite]
    if not rows:
        raise UserError(f"{folder} has only test suites for {pair}. Choose one, as in {folder}:{pair}/{suites[0]}.")
    if suite == "rocs-mt":
        return _comments(release, rows, request.what)
    if suite == "pia" and len(rows) % (1 + len(INJECTIONS)) == 0:
        return _injections(release, rows, request.what)
    if not suite and suites:
        release.notes.append(
            f"{release.name}: the general task was read, {len(rows):,} of {len(release.sources):,} lines, and not "
            f"the test suites {', '.join(suites)} ({request.what}/{suites[0]} reads one)"
        )
    return _plain(release, rows, suite, request.what)


class _Release:
    """The lines of one language pair: sources, documents, metadata, references and outputs."""

    def __init__(self, root: Path, pair: str, reference: str | None) -> None:
        self.pair, self.notes = pair, list[str]()
        file = root / "sources" / f"{pair}.txt"
        self.sources = text_lines(file, self.notes)
        beside = self._beside(file, root / "documents" / f"{pair}.docs")
        domains = [line.rpartition("\t")[0] for line in beside]
        documents = [line.rpartition("\t")[2] for line in beside]
        self.domains = [None if domain in ("", "None") else domain for domain in domains] or [None] * len(self.sources)
        self.documents = documents or [""] * len(self.sources)
        self.suites = [self._suite(name) for name in self.documents]
        self.clean = self._clean_sources(file, root / "metadata" / f"{pair}.jsonl")
        files = chosen_references(root, pair, reference, self.notes)
        lines = [self._beside(file, path) for path in files.values()]
        self.references: list[list[str] | None] = [
            [text for text in some if text.strip().lower() not in NO_REFERENCE] or None
            for some in (zip(*lines, strict=True) if lines else [()] * len(self.sources))
        ]
        self._file, self._outputs = file, outputs_of(root, pair)
        self.name = f"{root.name}:{pair}"

    def _beside(self, source: Path, file: Path) -> list[str]:
        """A file that belongs to the sources line by line; nothing where there is none."""
        if not file.is_file():
            return []
        found = text_lines(file, self.notes)
        same_length(source, self.sources, file, found)
        return found

    def outputs(self, *places: Sequence[int]) -> dict[str, list[list[str]]]:
        """What every system made of some lines, once for each list of their places."""
        found = {}
        for system, path in self._outputs.items():
            lines = self._beside(self._file, path)
            found[system] = [[lines[row] for row in some] for some in places]
        return found

    def _suite(self, document: str) -> str | None:
        """The test suite that a document belongs to; "" for the general task, None for what nobody translates."""
        start = f"tsuite_{self.pair}_"
        if document.startswith(start):
            return document.removeprefix(start).partition("_")[0]
        return None if document == CANARY else ""

    def _clean_sources(self, source: Path, file: Path) -> Texts:
        """What was really said, of lines that a recogniser transcribed."""
        if not file.is_file():
            return [None] * len(self.sources)
        objects = [item for _, item in json_lines(file, self.notes)]
        same_length(source, self.sources, file, objects)
        return [item.get("clean_source") if isinstance(item, dict) else None for item in objects]

    def member(self, row: int) -> str:
        """A document's name within its suite: `nm-12`."""
        return self.documents[row].rpartition("_")[2]


def _comments(release: _Release, rows: Sequence[int], label: str) -> Dataset:
    """RoCS-MT: normalised and raw comments side by side."""
    by_version: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        version, _, number = release.member(row).partition("-")
        by_version.setdefault(version, {}).setdefault(number, []).append(row)
    found = Pairs(release.pair, further={"document": [], "part": []})
    chosen: list[tuple[int, int]] = []
    for clean, raw, called, number, position in paired(by_version, release.notes, f"{release.name}/rocs-mt"):
        chosen.append((clean, raw))
        found.ids.append(f"{release.pair}/rocs-mt:{called}:{number}:{position}")
        found.perturbation.append(called)
        found.further["document"].append(f"comment {number}")
        found.further["part"].append(release.member(clean).partition("-")[0])
    for clean, raw in chosen:
        found.sources.append(release.sources[clean])
        found.perturbed.append(release.sources[raw])
        found.references.append(release.references[clean])
    given = release.outputs([clean for clean, _ in chosen], [raw for _, raw in chosen])
    found.outputs = {system: (clean, raw) for system, (clean, raw) in given.items()}
    return found.dataset(label, f"{release.name}/rocs-mt", release.notes)


def paired(
    by_version: Mapping[str, Mapping[str, Sequence[int]]], notes: list[str], name: str
) -> list[tuple[int, int, str, str, int]]:
    """Lines of RoCS-MT's versions in pairs: clean line, raw line, what the pair is called, document and position."""
    found, uneven = [], 0
    for clean_version, (raw_version, called) in VERSIONS.items():
        clean, raw = by_version.get(clean_version, {}), by_version.get(raw_version, {})
        for number, lines in clean.items():
            others = raw.get(number, ())
            if len(lines) != len(others):
                uneven += 1
                continue
            both = enumerate(zip(lines, others, strict=True), start=1)
            found += [(one, other, called, number, place) for place, (one, other) in both]
    if uneven:
        notes.append(f"{name}: {uneven} documents are left out, whose two versions were split into different sentences")
    if not found:
        raise UserError(f"{name} has no normalised comment (nm, ns) with its raw version (rm, rs).")
    return found


def _speech(release: _Release, label: str) -> Dataset:
    """Transcripts of a recogniser, which the systems translated, beside what was said, which they did not see."""
    rows = [row for row, clean in enumerate(release.clean) if clean]
    name = f"{release.name}/speech"
    if unknown := sum(suite == "speech" for suite in release.suites):
        release.notes.append(f"{name}: {unknown} transcripts of the test suite have no clean source and are left out")
    found = Pairs(
        release.pair,
        [f"{release.pair}/speech:{row + 1}" for row in rows],
        [str(release.clean[row]) for row in rows],
        [release.sources[row] for row in rows],
        ["transcript"] * len(rows),
        [release.references[row] for row in rows],
        {system: ([None] * len(rows), texts) for system, (texts,) in release.outputs(rows).items()},
        {"document": [release.documents[row] for row in rows], "domain": [release.domains[row] for row in rows]},
    )
    return found.dataset(label, name, release.notes)


def _injections(release: _Release, rows: Sequence[int], label: str) -> Dataset:
    """Questions, each beside itself in every form of injection."""
    size = len(rows) // (1 + len(INJECTIONS))
    both = [
        (rows[place], rows[place + size * number], name)
        for place in range(size)
        for number, name in enumerate(INJECTIONS, 1)
    ]
    given = release.outputs([clean for clean, _, _ in both], [injected for _, injected, _ in both])
    found = Pairs(
        release.pair,
        [f"{release.pair}/pia:{place + 1}" for place in range(size) for _ in INJECTIONS],
        [release.sources[clean] for clean, _, _ in both],
        [release.sources[injected] for _, injected, _ in both],
        [name for _, _, name in both],
        [release.references[clean] for clean, _, _ in both],
        {system: (clean, injected) for system, (clean, injected) in given.items()},
    )
    return found.dataset(label, f"{release.name}/pia", release.notes)


def _plain(release: _Release, rows: Sequence[int], suite: str, label: str) -> Dataset:
    """Sources and their translations, without variants."""
    name = f"{release.name}/{suite}" if suite else release.name
    given = {system: texts for system, (texts,) in release.outputs(rows).items()}
    there = {system: texts for system, texts in given.items() if any(map(_said, texts))}
    notes = release.notes + _absent([system for system in given if system not in there], name)
    if not there:
        raise UserError(f"{label}: no system has any output here.")
    copies = len(there)
    columns: dict[str, Any] = {
        "id": [f"{release.pair}:{row + 1}" for row in rows] * copies,
        "source": [release.sources[row] for row in rows] * copies,
        "references": [release.references[row] for row in rows] * copies,
        "translation": [text for texts in there.values() for text in texts],
        "system": [system for system in there for _ in rows],
        "language_pair": [release.pair] * (len(rows) * copies),
        "document": [release.documents[row] for row in rows] * copies,
        "domain": [release.domains[row] for row in rows] * copies,
    }
    if suite:
        columns["part"] = [release.member(row).rstrip("0123456789").rstrip("-") or None for row in rows] * copies
    return to_dataset(Table(label, name, columns, [row + 1 for row in rows] * copies, notes=notes))


def _said(text: str | None) -> bool:
    return bool(text and text.strip())


def _absent(systems: Sequence[str], name: str) -> list[str]:
    """Who has no output at all: they did not take part, which is not the same as translating badly."""
    if not systems:
        return []
    return [f"{name}: {', '.join(systems)} did not take part: every output is empty"]
