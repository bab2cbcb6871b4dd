"""The mt-metrics-eval folder layout of the WMT metrics tasks (Freitag et al. 2021).

`sources/LP.txt`, `references/LP.NAME.txt`, `system-outputs/LP/SYSTEM.txt`, `documents/LP.docs`,
`human-scores/LP.NAME.seg.score` and `metric-scores/LP/METRIC-REF.seg.score`; perhaps also
`attacked-references/ATTACK/LEVEL/LP.NAME.txt`. Score files hold one `system<TAB>score` a line, a system's segments in
order; `None` means not judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babelquake.data.darr import attacked_files
from babelquake.data.dataset import Dataset, Request, join
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.streams import existing, lines
from babelquake.data.table import Table, Values, number, to_dataset
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair

PREFERRED = ("wmt-raw", "raw", "mqm", "esa", "da-sqm", "wmt-appraise", "wmt-z", "wmt")
"""Human scores in the order in which one is taken for `score`; the others become columns such as `score_z`."""
SCORES = ".seg.score"
STANDARD = ("refA", "ref-A", "ref")
"""References in the order in which one is taken where there are several."""


def is_metrics_eval(what: str) -> bool:
    """Whether a path is such a folder, or such a folder with one of its language pairs appended."""
    path = Path(what)
    return is_root(path) or (not path.exists() and is_root(path.parent))


def read_metrics_eval(request: Request) -> Dataset:
    """All systems' translations, system by system, for one language pair or all."""
    root, pairs = _root_and_pairs(request.path, request.language_pair)
    parts = [_read_pair(root, pair, request.reference) for pair in pairs]
    return parts[0] if len(parts) == 1 else join(parts, one_set=True)


@dataclass(frozen=True)
class Pair:
    """What scores for one language pair of a folder have to know beside the systems' translations."""

    name: str
    """As the folder spells it."""
    references: tuple[str, ...]
    """Those that are used."""
    human: Mapping[str, Sequence[str]]
    """References that stand among the systems' outputs, line by line: they are judged like a system's."""


def pairs_of(what: str, language_pair: str | None, reference: str | None) -> dict[str | None, Pair]:
    """The language pairs of a folder, by the name that they have in the data."""
    root, pairs = _root_and_pairs(Path(what), language_pair)
    found: dict[str | None, Pair] = {}
    for pair in pairs:
        chosen, outputs = chosen_references(root, pair, reference, []), root / "system-outputs" / pair
        files = {name: outputs / f"{name}.txt" for name in _references(root, pair)}
        human = {name: text_lines(file, []) for name, file in files.items() if file.is_file()}
        known = LanguagePair.known(pair)
        found[pair if known is None else str(known)] = Pair(pair, tuple(chosen), human)
    return found


def segment_scores(path: str | Path) -> dict[str, list[float | None]]:
    """A `.seg.score` file: system → its scores in the order of segments."""
    scores: dict[str, list[float | None]] = {}
    for line_number, line in enumerate(lines(path), start=1):
        cells = line.split("\t")
        if len(cells) != 2:
            raise UserError(f"{path} line {line_number}: {len(cells)} columns. Expected two: system and score.")
        scores.setdefault(cells[0], []).append(number(cells[1], f"{path} line {line_number}: score"))
    if not scores:
        raise UserError(f"{path} is empty. Expected one system and score a line.")
    return scores


def is_root(path: Path) -> bool:
    """Whether a folder has the layout: sources and system outputs."""
    return (path / "sources").is_dir() and (path / "system-outputs").is_dir()


def _root_and_pairs(path: Path, language_pair: str | None) -> tuple[Path, list[str]]:
    root, wanted = (path, language_pair) if is_root(path) else (path.parent, path.name)
    if not is_root(root):
        existing(path)
        raise UserError(f"{path} is not an mt-metrics-eval folder: expected sources/ and system-outputs/ in it.")
    return root, _known_pairs(root) if wanted is None else [pair_in(root, wanted)]


def pair_in(root: Path, wanted: str) -> str:
    """A language pair as the folder spells it."""
    return spelt_pair(root, wanted, _known_pairs(root))


def spelt_pair(root: Path, wanted: str, known: Sequence[str]) -> str:
    """A language pair as one of these is spelt, or an error that says which there are."""
    named = {LanguagePair.known(name) or name: name for name in known}
    found = wanted if wanted in known else named.get(LanguagePair.known(wanted) or wanted)
    if found is None:
        raise UserError(f"{root} has no language pair '{wanted}'. {did_you_mean(wanted, known)}")
    return found


def _known_pairs(root: Path) -> list[str]:
    known = sorted(file.stem for file in (root / "sources").glob("*.txt"))
    if not known:
        raise UserError(f"{root / 'sources'} is empty. Expected one file per language pair, such as de-en.txt.")
    return known


def _read_pair(root: Path, pair: str, reference: str | None) -> Dataset:
    notes: list[str] = []
    source_file = root / "sources" / f"{pair}.txt"
    sources = text_lines(source_file, notes)
    files = chosen_references(root, pair, reference, notes)
    references = {name: text_lines(file, notes) for name, file in files.items()}
    for name, texts in references.items():
        same_length(source_file, sources, files[name], texts)
    outputs = {system: text_lines(file, notes) for system, file in outputs_of(root, pair).items()}
    for system, texts in outputs.items():
        same_length(source_file, sources, outputs_of(root, pair)[system], texts)
    count, copies = len(sources), len(outputs)
    columns: dict[str, Values] = {
        "id": [f"{pair}:{line}" for line in range(1, count + 1)] * copies,
        "source": sources * copies,
        "translation": [text for texts in outputs.values() for text in texts],
        "system": [system for system in outputs for _ in range(count)],
        "language_pair": [pair] * (count * copies),
    }
    if references:
        columns["references"] = [list(some) for some in zip(*references.values(), strict=True)] * copies
    columns |= _human(root, pair, list(outputs), count)
    documents = root / "documents" / f"{pair}.docs"
    if documents.is_file():
        rows = text_lines(documents, notes)
        same_length(source_file, sources, documents, rows)
        columns["document"] = [row.split("\t")[-1] for row in rows] * copies
    table = Table(f"{root}/{pair}", f"{root.name}/{pair}", columns, list(range(1, count + 1)) * copies, notes=notes)
    dataset = to_dataset(table)
    attacked = _attacked(root, pair, copies, count, next(iter(references), None))
    return replace(dataset, attacked=attacked, reference="+".join(references) or None)


def chosen_references(root: Path, pair: str, reference: str | None, notes: list[str]) -> dict[str, Path]:
    """The references that were asked for; by default the standard one alone, which the task's scores were made with.

    That is refA, or the first that people wrote. Where there are several, a note says which one was taken.
    """
    known = _references(root, pair)
    if reference == "all" or not known:
        return known
    if reference is not None and reference not in known:
        raise UserError(f"{root}/{pair} has no reference '{reference}'. {did_you_mean(reference, [*known, 'all'])}")
    human = [name for name in known if "synthetic" not in name] or list(known)
    chosen = reference or next((name for name in STANDARD if name in known), human[0])
    if len(known) > 1 and reference is None:
        others = ", ".join(name for name in known if name != chosen)
        notes.append(f"{root.name}/{pair}: reference {chosen} is used; --reference chooses another ({others}) or all")
    return {chosen: known[chosen]}


def _references(root: Path, pair: str) -> dict[str, Path]:
    files = sorted((root / "references").glob(f"{pair}.*.txt"))
    return {file.name[len(pair) + 1 : -len(".txt")]: file for file in files}


def outputs_of(root: Path, pair: str) -> dict[str, Path]:
    """The systems' files; a reference that stands among them is not a system."""
    references = _references(root, pair)
    files = sorted((root / "system-outputs" / pair).glob("*.txt"))
    systems = {file.stem: file for file in files if file.stem not in references}
    if not systems:
        raise UserError(
            f"{root / 'system-outputs' / pair} has no system's output. Expected files such as Online-A.txt."
        )
    return systems


def _human(root: Path, pair: str, systems: Sequence[str], count: int) -> dict[str, Sequence[float | None]]:
    files = sorted((root / "human-scores").glob(f"{pair}.*{SCORES}"))
    named = {file.name[len(pair) + 1 : -len(SCORES)]: file for file in files}
    main = next((name for name in PREFERRED if name in named), next(iter(named), None))
    scores: dict[str, Sequence[float | None]] = {}
    for name, file in named.items():
        column = "score" if name == main else f"score_{name.removeprefix('wmt-').replace('-', '_')}"
        values = _per_row(file, systems, count)
        scores[column] = [None if np.isnan(value) else float(value) for value in values]
    return scores


def _per_row(file: Path, systems: Sequence[str], count: int) -> NDArray[np.float64]:
    """A score file in the order of the data set's rows; systems it lacks, and `None`, are NaN."""
    by_system = segment_scores(file)
    for system, scores in by_system.items():
        if len(scores) != count:
            raise UserError(f"{file} has {len(scores)} scores for {system} where there are {count} segments.")
    nothing: list[float | None] = [None] * count
    return np.array([score for system in systems for score in by_system.get(system, nothing)], dtype=np.float64)


def _attacked(
    root: Path, pair: str, copies: int, count: int, first: str | None
) -> Mapping[tuple[str, float], Callable[[], Sequence[str]]]:
    if first is None:
        return {}
    return attacked_files(root / "attacked-references", f"*/{pair}.{first}.txt", list(range(count)) * copies, count)
