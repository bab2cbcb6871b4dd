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

RoCS-MT as released has comments, raw and normalised, with references and annotated phenomena. `FOLDER/v1:PAIR` reads
`src/RoCS-MT.src.concat.en` (four versions below one another, each line with its version and document: `nm-12`),
`ref/RoCS-MT.ref.LANG` (one line per normalised sentence split by hand, `nm`), `sys/PAIR/NAME.PAIR.txt` with
`NAME.PAIR.ids.txt` (a system's output line by line with the four versions), and `ref/RoCS-annotated.tsv` (one token a
line: document, sentence, token, raw, normalised, phenomena), which becomes the column `phenomenon`: a list of what a
segment has.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from babelquake.data.dataset import Dataset, Request
from babelquake.data.json_and_parquet import json_lines
from babelquake.data.metrics_eval import chosen_references, is_root, outputs_of, pair_in
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.streams import lines
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair

NO_REFERENCE = frozenset({"", "no translation available", "no reference available", "n/a", "none"})
"""What releases write where there is no reference."""
CANARY = "canary"
"""The document that marks the release for people who train models; nobody translates it."""
VERSIONS = {"nm": ("rm", "raw"), "ns": ("rs", "raw-spacy")}
"""RoCS-MT's normalised versions, the raw version that belongs to each, and what the pair is called."""
INJECTIONS = ("pia-instruction", "pia-switch", "pia-switch-example", "pia-json", "pia-json-example")
"""The suite `pia`: the same questions six times, first plain, then in these forms."""

Texts = Sequence[str | None]


def _by_system(
    pair: str,
    columns: Mapping[str, list[Any]],
    outputs: Mapping[str, Sequence[Texts]],
    label: str,
    name: str,
    notes: list[str],
    lines: Sequence[int] | None = None,
) -> Dataset:
    """One row per system and segment, or per segment where there are no systems.

    `outputs` are a system's translations, of two versions of each sentence those of the clean and of the perturbed one.
    Such pairs, which WMT's suites and RoCS-MT have in common, are counted; other segments stand on `lines`.
    """
    given = {system: texts for system, texts in outputs.items() if any(map(_said, chain(*texts)))}
    if absent := [system for system in outputs if system not in given]:
        notes = [*notes, f"{name}: {', '.join(absent)} did not take part: every output is empty"]
    size, copies = len(columns["id"]), max(1, len(given))
    rows: dict[str, Any] = {column: values * copies for column, values in columns.items()}
    rows["language_pair"] = [pair] * (copies * size)
    if given:
        rows["system"] = [system for system in given for _ in range(size)]
        for column, *texts in zip(("translation", "translation_perturbed"), *given.values(), strict=False):
            rows[column] = [text for some in texts for text in some]
    numbers = [*(lines or range(1, size + 1))] * copies
    return to_dataset(Table(label, name, rows, numbers, unit="line" if lines else "pair", notes=notes))


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


class Comment(NamedTuple):
    """A line of RoCS-MT in two versions, what the pair of versions is called, and where it stands."""

    clean: int
    raw: int
    called: str
    document: str
    position: int


def _by_version(keys: Iterable[tuple[int, str]]) -> dict[str, dict[str, list[int]]]:
    """Version → document → lines, of lines with their keys (`nm-12`)."""
    found: dict[str, dict[str, list[int]]] = {}
    for row, key in keys:
        version, _, document = key.partition("-")
        found.setdefault(version, {}).setdefault(document, []).append(row)
    return found


def _paired(by_version: Mapping[str, Mapping[str, Sequence[int]]], notes: list[str], name: str) -> list[Comment]:
    """Lines of RoCS-MT's versions in pairs."""
    found, uneven = [], 0
    for clean_version, (raw_version, called) in VERSIONS.items():
        clean, raw = by_version.get(clean_version, {}), by_version.get(raw_version, {})
        for document, ours in clean.items():
            others = raw.get(document, ())
            if len(ours) != len(others):
                uneven += 1
                continue
            both = enumerate(zip(ours, others, strict=True), start=1)
            found += [Comment(one, other, called, document, position) for position, (one, other) in both]
    if uneven:
        notes.append(f"{name}: {uneven} documents are left out, whose two versions were split into different sentences")
    if not found:
        raise UserError(f"{name} has no normalised comment (nm, ns) with its raw version (rm, rs).")
    return found


def _columns_of_comments(pair: str, chosen: Sequence[Comment], texts: Sequence[str]) -> dict[str, list[Any]]:
    return {
        "id": [f"{pair}/rocs-mt:{one.called}:{one.document}:{one.position}" for one in chosen],
        "source": [texts[one.clean] for one in chosen],
        "perturbed": [texts[one.raw] for one in chosen],
        "perturbation": [one.called for one in chosen],
        "document": [f"comment {one.document}" for one in chosen],
    }


def _comments(release: _Release, rows: Sequence[int], label: str) -> Dataset:
    """RoCS-MT: normalised and raw comments side by side."""
    name = f"{release.name}/rocs-mt"
    chosen = _paired(_by_version((row, release.member(row)) for row in rows), release.notes, name)
    columns = _columns_of_comments(release.pair, chosen, release.sources)
    columns["references"] = [release.references[one.clean] for one in chosen]
    columns["part"] = [release.member(one.clean).partition("-")[0] for one in chosen]
    outputs = release.outputs([one.clean for one in chosen], [one.raw for one in chosen])
    return _by_system(release.pair, columns, outputs, label, name, release.notes)


def _speech(release: _Release, label: str) -> Dataset:
    """Transcripts of a recogniser, which the systems translated, beside what was said, which they did not see."""
    rows = [row for row, clean in enumerate(release.clean) if clean]
    name = f"{release.name}/speech"
    if unknown := sum(suite == "speech" for suite in release.suites):
        release.notes.append(f"{name}: {unknown} transcripts of the test suite have no clean source and are left out")
    columns: dict[str, list[Any]] = {
        "id": [f"{release.pair}/speech:{row + 1}" for row in rows],
        "source": [str(release.clean[row]) for row in rows],
        "perturbed": [release.sources[row] for row in rows],
        "perturbation": ["transcript"] * len(rows),
        "references": [release.references[row] for row in rows],
        "document": [release.documents[row] for row in rows],
        "domain": [release.domains[row] for row in rows],
    }
    outputs = {system: ([None] * len(rows), texts) for system, (texts,) in release.outputs(rows).items()}
    return _by_system(release.pair, columns, outputs, label, name, release.notes)


def _injections(release: _Release, rows: Sequence[int], label: str) -> Dataset:
    """Questions, each beside itself in every form of injection."""
    size = len(rows) // (1 + len(INJECTIONS))
    clean = [rows[place] for place in range(size) for _ in INJECTIONS]
    injected = [rows[place + size * number] for place in range(size) for number in range(1, 1 + len(INJECTIONS))]
    columns: dict[str, list[Any]] = {
        "id": [f"{release.pair}/pia:{place + 1}" for place in range(size) for _ in INJECTIONS],
        "source": [release.sources[row] for row in clean],
        "perturbed": [release.sources[row] for row in injected],
        "perturbation": [*INJECTIONS] * size,
        "references": [release.references[row] for row in clean],
    }
    outputs = release.outputs(clean, injected)
    return _by_system(release.pair, columns, outputs, label, f"{release.name}/pia", release.notes)


def _plain(release: _Release, rows: Sequence[int], suite: str, label: str) -> Dataset:
    """Sources and their translations, without variants."""
    outputs = release.outputs(rows)
    if not any(map(_said, (text for (texts,) in outputs.values() for text in texts))):
        raise UserError(f"{label}: no system has any output here.")
    columns: dict[str, list[Any]] = {
        "id": [f"{release.pair}:{row + 1}" for row in rows],
        "source": [release.sources[row] for row in rows],
        "references": [release.references[row] for row in rows],
        "document": [release.documents[row] for row in rows],
        "domain": [release.domains[row] for row in rows],
    }
    if suite:
        columns["part"] = [release.member(row).rstrip("0123456789").rstrip("-") or None for row in rows]
    name = f"{release.name}/{suite}" if suite else release.name
    return _by_system(release.pair, columns, outputs, label, name, release.notes, [row + 1 for row in rows])


def _said(text: str | None) -> bool:
    return bool(text and text.strip())


SOURCES = "src/RoCS-MT.src.concat.en"
ANNOTATED = "ref/RoCS-annotated.tsv"
HEADER = ["docid", "sentid", "tokid", "raw", "norm", "manual"]
SPACE = "⎵"
"""How the annotation writes a space."""


def is_rocs_mt(what: str) -> bool:
    """Whether a name is FOLDER:PAIR of a release of RoCS-MT, or the folder itself."""
    folder, _, _ = what.rpartition(":")
    return (Path(folder or what) / SOURCES).is_file() or (Path(what) / SOURCES).is_file()


def read_rocs_mt(request: Request) -> Dataset:
    """Normalised and raw comments of one language pair, with what the systems of WMT23 made of them."""
    folder, _, wanted = request.what.rpartition(":")
    root = Path(folder or request.what)
    pair = _comment_pair(root, wanted if folder else request.language_pair)
    notes: list[str] = []
    label, name = f"{root / SOURCES}", f"RoCS-MT {root.name}:{pair}"
    keys, texts = _numbered_comments(root / SOURCES)
    by_version = _by_version(enumerate(keys))
    by_hand = [row for row, key in enumerate(keys) if key.startswith("nm-")]
    references = _also_of_equal_lines(_comment_references(root, pair, label, by_hand), keys, texts)
    phenomena = _also_of_equal_lines(_phenomena(root, by_version.get("rm", {}), texts), keys, texts)
    chosen = _paired(by_version, notes, name)
    columns = _columns_of_comments(pair, chosen, texts)
    columns["references"] = [references.get(one.clean) for one in chosen]
    columns["phenomenon"] = [phenomena.get(one.raw) for one in chosen]
    outputs = {
        system: ([output[one.clean] for one in chosen], [output[one.raw] for one in chosen])
        for system, output in _comment_outputs(root, pair, keys).items()
    }
    return _by_system(pair, columns, outputs, request.what, name, notes)


def _comment_pair(root: Path, wanted: str | None) -> str:
    """The language pair that was meant: one with outputs, or one that has references alone."""
    targets = {file.name.rpartition(".")[2] for file in (root / "ref").glob("RoCS-MT.ref.*")}
    known = sorted({f"en-{lang}" for lang in targets} | {path.name for path in (root / "sys").glob("*-*")})
    if wanted is None:
        raise UserError(f"Which language pair of {root}? Write {root}:PAIR with one of: {', '.join(known)}.")
    found = wanted if wanted in known else str(LanguagePair.known(wanted))
    if found not in known:
        raise UserError(f"{root} has no language pair '{wanted}'. {did_you_mean(wanted, known)}")
    return found


def _numbered_comments(file: Path) -> tuple[list[str], list[str]]:
    """Versions with documents, and texts, line by line."""
    keys, texts = [], []
    for number, line in enumerate(lines(file), start=1):
        key, tab, text = line.partition("\t")
        if not tab or key.partition("-")[0] not in {
            name for clean, (raw, _) in VERSIONS.items() for name in (clean, raw)
        }:
            raise UserError(
                f"{file} line {number}: expected nm-, ns-, rm- or rs- with a document's number, a tab and text."
            )
        keys.append(key)
        texts.append(text)
    return keys, texts


def _comment_references(root: Path, pair: str, label: str, rows: list[int]) -> dict[int, list[str]]:
    """The reference of each line that was normalised and split by hand."""
    file = root / "ref" / f"RoCS-MT.ref.{pair.rpartition('-')[2]}"
    if not file.is_file():
        return {}
    texts = [line.strip() for line in text_lines(file, [])]
    same_length(f"{label} (nm)", rows, file, texts)
    return {row: [text] for row, text in zip(rows, texts, strict=True) if text}


def _also_of_equal_lines(known: dict[int, list[str]], keys: list[str], texts: list[str]) -> dict[int, list[str]]:
    """What is known of lines split by hand, also for lines of the same document that spaCy split off equally."""
    by_text = {(keys[row].partition("-")[2], texts[row]): found for row, found in known.items()}
    places = enumerate((key.partition("-")[2], text) for key, text in zip(keys, texts, strict=True))
    return known | {row: by_text[place] for row, place in places if row not in known and place in by_text}


def _comment_outputs(root: Path, pair: str, keys: list[str]) -> dict[str, list[str]]:
    """Every system's lines, which must belong to the same versions and documents as the sources."""
    found = {}
    for ids in sorted((root / "sys" / pair).glob(f"*.{pair}.ids.txt")):
        file = ids.with_name(ids.name.replace(".ids.txt", ".txt"))
        given, output = text_lines(ids, []), text_lines(file, [])
        same_length(root / SOURCES, keys, ids, given)
        same_length(ids, given, file, output)
        for number, (one, other) in enumerate(zip(keys, given, strict=True), start=1):
            if one != other:
                raise UserError(f"{ids} line {number} is {other}; {root / SOURCES} has {one} there.")
        found[ids.name.removesuffix(f".{pair}.ids.txt")] = output
    return found


def _phenomena(root: Path, raw: dict[str, list[int]], texts: list[str]) -> dict[int, list[str]]:
    """What was annotated, by line of the raw sentences split by hand; the annotation must be of these sentences."""
    file = root / ANNOTATED
    if not file.is_file():
        return {}
    sentences: dict[tuple[str, str], tuple[int, list[str], dict[str, None]]] = {}
    for number, line in enumerate(lines(file), start=1):
        cells = line.split("\t")
        if number == 1 and cells == HEADER:
            continue
        if len(cells) != len(HEADER):
            raise UserError(f"{file} line {number}: {len(cells)} columns. Expected {len(HEADER)}: {', '.join(HEADER)}.")
        _, tokens, kinds = sentences.setdefault((cells[0], cells[1]), (number, [], {}))
        tokens.append(cells[3])
        kinds.update(dict.fromkeys(kind.strip().replace(" ", "_") for kind in cells[5].split(",") if kind.strip()))
    found: dict[int, list[str]] = {}
    places: dict[str, int] = {}
    for (document, sentence), (number, tokens, kinds) in sentences.items():
        place = places.get(document, 0)
        places[document] = place + 1
        rows = raw.get(document, [])
        said = "".join(tokens).replace(SPACE, " ").strip()
        if place >= len(rows) or texts[rows[place]].strip() != said:
            raise UserError(
                f"{file} line {number}: sentence {sentence} of document {document} is not sentence {place + 1} of "
                f"rm-{document} in {root / SOURCES}: the annotation belongs to other sources."
            )
        found[rows[place]] = list(kinds)
    return found
