"""RoCS-MT as released (Bawden and Sagot 2023): comments, raw and normalised, with references and annotated phenomena.

`FOLDER/v1:PAIR` reads `src/RoCS-MT.src.concat.en` (four versions below one another, each line with its version and
document: `nm-12`), `ref/RoCS-MT.ref.LANG` (one line per normalised sentence split by hand, `nm`),
`sys/PAIR/NAME.PAIR.txt` with `NAME.PAIR.ids.txt` (a system's output line by line with the four versions), and
`ref/RoCS-annotated.tsv` (one token a line: document, sentence, token, raw, normalised, phenomena), which becomes the
column `phenomenon`: a list of what a segment has.
"""

from pathlib import Path

from babelquake.data.dataset import Dataset
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.request import Request
from babelquake.data.streams import lines
from babelquake.data.wmt_outputs import VERSIONS, Pairs, paired
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair

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
    pair = _pair(root, wanted if folder else request.language_pair)
    notes: list[str] = []
    label, name = f"{root / SOURCES}", f"RoCS-MT {root.name}:{pair}"
    keys, texts = _numbered(root / SOURCES)
    by_version: dict[str, dict[str, list[int]]] = {}
    for row, key in enumerate(keys):
        version, _, number = key.partition("-")
        by_version.setdefault(version, {}).setdefault(number, []).append(row)
    by_hand = [row for row, key in enumerate(keys) if key.startswith("nm-")]
    references = _also_of_equal_lines(_references(root, pair, label, by_hand), keys, texts)
    phenomena = _also_of_equal_lines(_phenomena(root, by_version.get("rm", {}), texts), keys, texts)
    found = Pairs(pair, further={"document": [], "phenomenon": []})
    chosen = paired(by_version, notes, name)
    for clean, raw, called, number, position in chosen:
        found.ids.append(f"{pair}/rocs-mt:{called}:{number}:{position}")
        found.sources.append(texts[clean])
        found.perturbed.append(texts[raw])
        found.perturbation.append(called)
        found.references.append(references.get(clean))
        found.further["document"].append(f"comment {number}")
        found.further["phenomenon"].append(phenomena.get(raw))
    for system, output in _outputs(root, pair, keys).items():
        found.outputs[system] = ([output[row] for row, *_ in chosen], [output[row] for _, row, *_ in chosen])
    return found.dataset(request.what, name, notes)


def _pair(root: Path, wanted: str | None) -> str:
    """The language pair that was meant: one with outputs, or one that has references alone."""
    targets = {file.name.rpartition(".")[2] for file in (root / "ref").glob("RoCS-MT.ref.*")}
    known = sorted({f"en-{lang}" for lang in targets} | {path.name for path in (root / "sys").glob("*-*")})
    if wanted is None:
        raise UserError(f"Which language pair of {root}? Write {root}:PAIR with one of: {', '.join(known)}.")
    found = wanted if wanted in known else str(LanguagePair.known(wanted))
    if found not in known:
        raise UserError(f"{root} has no language pair '{wanted}'. {did_you_mean(wanted, known)}")
    return found


def _numbered(file: Path) -> tuple[list[str], list[str]]:
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


def _references(root: Path, pair: str, label: str, rows: list[int]) -> dict[int, list[str]]:
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


def _outputs(root: Path, pair: str, keys: list[str]) -> dict[str, list[str]]:
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
