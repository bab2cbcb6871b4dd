"""Scores computed elsewhere, looked up by text: any metric or QE model can be studied without running it here.

Scores by text, and the files in which people have them: tables, COMET's JSON, one score a line.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair
from babelquake.scorers.base import Array, MeanScorer, Questions
from babelquake.spec import signature
from babelquake.text import digest

if TYPE_CHECKING:
    import polars as pl

ERRORS = re.compile(r"(?<![a-z])(h?ter|wer|cer|ppl|perplexity|metricx)(?![a-z])", re.IGNORECASE)
"""Names of scores that count errors."""
STATED = re.compile(r"#\s*(lower|higher) is better\.?\s*", re.IGNORECASE)
Entry = tuple[str, str, frozenset[str] | None, float]
"""Source, translation, references and score; without references the score holds whatever they are."""


@dataclass
class Known:
    """What is known about which texts. A text judged several times has the mean of its scores."""

    with_source: bool = True
    entries: list[Entry] = field(default_factory=list)
    stripped: bool = False
    """Whether the texts are known without the white space around them, as COMET reads its files."""

    def score(self, source: str | None, translation: str, references: Sequence[str] | None) -> float:
        """The score of these texts, NaN where there is none; what is not given is not compared."""
        if self.stripped:
            source = None if source is None else source.strip()
            translation, references = translation.strip(), references and [text.strip() for text in references]
        if source is not None and self.with_source:
            candidates = self._by_both.get((source, translation), [])
        else:
            candidates = self._by_translation.get(translation, [])
        wanted = None if references is None else frozenset(references)
        fitting = [score for known, score in candidates if known is None or wanted is None or wanted <= known]
        return sum(fitting) / len(fitting) if fitting else nan

    @cached_property
    def _by_both(self) -> dict[tuple[str, str], list[tuple[frozenset[str] | None, float]]]:
        table: dict[tuple[str, str], list[tuple[frozenset[str] | None, float]]] = {}
        for source, translation, references, score in self.entries:
            table.setdefault((source, translation), []).append((references, score))
        return table

    @cached_property
    def _by_translation(self) -> dict[str, list[tuple[frozenset[str] | None, float]]]:
        table: dict[str, list[tuple[frozenset[str] | None, float]]] = {}
        for _, translation, references, score in self.entries:
            table.setdefault(translation, []).append((references, score))
        return table


def entries_of(segments: "pl.DataFrame", values: Iterable[float | None]) -> list[Entry]:
    """The rows that have a translation and a score."""
    columns = (segments[name] for name in ("source", "translation", "references"))
    return [
        (source or "", translation, None if references is None else frozenset(references), float(value))
        for source, translation, references, value in zip(*columns, values, strict=True)
        if translation is not None and value is not None and not isnan(value)
    ]


def numbers_of(segments: "pl.DataFrame", column: str, where: str) -> list[float | None]:
    """A column of scores, or an error that says what else there is."""
    from babelquake.data.table import number

    if column not in segments.columns or segments[column].null_count() == segments.height:
        present = [name for name in segments.columns if segments[name].null_count() < segments.height]
        raise UserError(f"{where} has no column '{column}' with scores. {did_you_mean(column, present)}")
    return [
        number(value, f"row {row} of {where}: {column}")
        for row, value in enumerate(segments[column].to_list(), start=1)
    ]


def names_errors(name: str) -> bool:
    """Whether scores of this name count errors: TER, MetricX, perplexity and their like."""
    return ERRORS.search(name) is not None


def stated_direction(path: Path) -> bool | None:
    """Whether higher is better, where the first line of a file says so."""
    from babelquake.data.streams import lines

    found = STATED.fullmatch(next(iter(lines(path)), ""))
    return found[1].lower() == "higher" if found else None


def one_per_line(path: Path) -> list[float | None]:
    """A file with one score a line; a blank line or `None` means not judged; the first may say what is better."""
    from babelquake.data.streams import lines
    from babelquake.data.table import number

    found = [
        number(line, f"{path} line {place}: the score")
        for place, line in enumerate(lines(path), start=1)
        if place > 1 or not STATED.fullmatch(line)
    ]
    if not found:
        raise UserError(f"{path} is empty. Expected one score a line.")
    return found


def comet_json(path: Path, column: str | None = None) -> Known | None:
    """What `comet-score --to_json` wrote: an object with a list of segments (src, mt, ref, COMET) for every system.

    None for JSON of another shape. `column` names another number of the segments than `COMET`.
    """
    from babelquake.data.streams import opened, suffix
    from babelquake.data.table import number

    if suffix(path) != ".json":
        return None
    try:
        with opened(path) as stream:
            systems = json.loads(stream.read())
    except (ValueError, RecursionError):
        return None
    lists = list(systems.values()) if isinstance(systems, dict) else []
    segments: list[Any] = [one for some in lists if isinstance(some, list) for one in some]
    key = column or "COMET"
    if not segments or not all(isinstance(one, dict) and isinstance(one.get("mt"), str) for one in segments):
        return None
    if not any(key in one for one in segments):
        have = [name for name in segments[0] if name not in ("src", "mt", "ref")]
        raise UserError(f"{path} has no score called '{key}' for its segments. {did_you_mean(key, have)}")
    entries = []
    for place, one in enumerate(segments, start=1):
        value = number(one.get(key), f"{path} segment {place}: {key}")
        if value is not None:
            reference = one.get("ref")
            known = None if reference is None else frozenset([str(reference).strip()])
            entries.append((str(one.get("src") or "").strip(), one["mt"].strip(), known, value))
    return Known(all("src" in one for one in segments), entries, stripped=True)


SEGMENT_SCORES = ".seg.score"


class Scores(MeanScorer):
    """Ready-made scores: of a table with texts, of a `.seg.score` file, or of a column of the data themselves.

    `file` is a TSV, CSV, JSONL or Parquet table with the columns translation, perhaps source and reference, and score
    (or the one named by `column`), or what `comet-score --to_json` wrote; or mt-metrics-eval segment scores, which hold
    no texts and are matched with the data by system and order of segments; or a `.txt` file with one score a line, in
    the order of the data's rows, or of the rows of the table `texts`. `*` in its name takes several files, such as one
    per language pair. `column` alone is a further column of the data set. A perturbed text has a score only where the
    table has that very text. `higher=false` says that lower is better, as a first line `# lower is better` of a `.txt`
    file does; scores called TER, WER, MetricX or perplexity count errors by themselves, unless they were negated.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    silence: ClassVar[str] = "A score is found by the very text it was given for."

    def __init__(
        self,
        file: str | None = None,
        column: str | None = None,
        language_pair: str | None = None,
        higher: bool | None = None,
        texts: str | None = None,
    ) -> None:
        from babelquake.data.streams import existing, suffix

        if file is None and column is None:
            raise UserError(
                "scorer 'scores' needs a file or a column of the data: write scores[file=…] or scores[column=…]."
            )
        self.file = file
        self.column = column
        self.language_pair = language_pair
        self._higher = higher
        self._files = [] if file is None else _files(file)
        self._ordered = [path for path in self._files if path.name.removesuffix(".gz").endswith(SEGMENT_SCORES)]
        self._plain = [path for path in self._files if suffix(path) == ".txt"]
        self._texts = None if texts is None else existing(texts)
        if len(self._plain) > 1 or (texts is not None and not self._plain):
            raise UserError(f"scores[file={file}]: expected one .txt file with one score a line.")
        if self._ordered and len(self._ordered) < len(self._files):
            raise UserError(f"scores[file={file}] takes tables and {SEGMENT_SCORES} files together: name one kind.")
        self._attached: Known | None = None

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # here the file decides, not the class
        """As was said, by option or in the file; scores named after an error count are one unless some are negative."""
        if self._higher is not None:
            return self._higher
        said = stated_direction(self._plain[0]) if self._plain else None
        return not self._counts_errors if said is None else said

    @property
    def notes(self) -> list[str]:
        """That a name decided the direction."""
        if self._higher is not None or self.higher_is_better or not names_errors(self._called):
            return []
        return [f"{self.name} counts as an error rate by its name: lower is better. Use higher=true if not."]

    @property
    def _called(self) -> str:
        return " ".join(filter(None, [self.label, self.column, *(path.name for path in self._files)]))

    @property
    def _counts_errors(self) -> bool:
        if not names_errors(self._called):
            return False
        if self._plain:
            values = [value for value in one_per_line(self._plain[0]) if value is not None]
        elif self._attached is None and (self.file is None or self._ordered):
            return True
        else:
            values = [entry[-1] for entry in self._known.entries]
        return all(value >= 0 for value in values)

    @property
    def described(self) -> str:
        """The scorer's name with the file's, but not its folder."""
        if self.file is None:
            return str(self.spec)
        column = f"column={self.column}," if self.column else ""
        return f"scores[{column}file={Path(self.file).name}]"

    @cached_property
    def _content(self) -> str:
        state = hashlib.blake2b(digest_size=16)
        for path in [*self._files, *filter(None, [self._texts])]:
            state.update(hashlib.blake2b(path.read_bytes()).digest())
        return state.hexdigest()[:12]

    @property
    def signature(self) -> str:
        """The content of the files, not where they are; for a column of the data, its values once they are known."""
        if self._files:
            content: str | None = self._content
        elif self._attached is None:
            content = None
        else:
            content = digest(str(entry[-1]) for entry in self._attached.entries)
        return signature("scores", content=content, column=self.column, higher=str(self.higher_is_better).lower())

    def attach(self, segments: "pl.DataFrame") -> Array | None:
        """Match scores without texts with the rows of the data, and give those rows' own scores.

        Two systems may have the same translation and, from some metrics, scores that differ in the last digits: by
        row both are kept, by text they have one score.
        """
        if self.file is not None and not self.by_row:
            return None
        values = np.full(segments.height, nan)
        if self._plain:
            values[:] = np.array(self._line_by_line(segments.height, "the data"), dtype=np.float64)
        elif self._ordered:
            for path in self._ordered:
                self._by_order(path, segments, values)
            if np.isnan(values).all():
                raise UserError(f"{self.name} has no score for any system of the data.")
        else:
            values[:] = np.array(numbers_of(segments, str(self.column), "the data set"), dtype=np.float64)
        self._attached = Known(entries=entries_of(segments, values))
        return values

    def judge(self, questions: Questions) -> Array:
        """The score on file for each segment; NaN where there is none."""
        known = self._known
        sources: Sequence[str | None] = questions.sources if questions.sources is not None else [None] * len(questions)
        references: Sequence[Sequence[str] | None] = (
            questions.references if questions.references is not None else [None] * len(questions)
        )
        return np.array(list(map(known.score, sources, questions.translations, references)), dtype=np.float64)

    def missing(self, questions: Questions) -> list[int]:
        """The positions of the segments for which there is no score."""
        return [int(position) for position in np.flatnonzero(np.isnan(self.judge(questions)))]

    @property
    def by_row(self) -> bool:
        """Whether the scores are without texts and belong to the rows of the data."""
        return bool(self._ordered or (self._plain and self._texts is None))

    def _line_by_line(self, rows: int, of: str) -> list[float | None]:
        scores = one_per_line(self._plain[0])
        if len(scores) != rows:
            raise UserError(
                f"{self._plain[0]} has {len(scores)} scores where {of} have {rows} rows. "
                "Expected one score per row, in the same order."
            )
        return scores

    @property
    def _known(self) -> Known:
        if self._attached is not None:
            return self._attached
        if self.file is None or self.by_row:
            raise UserError(
                f"{self.name} has scores but no texts: it must see the data set first. "
                "In Python, call attach(dataset.segments)."
            )
        return self._table

    @cached_property
    def _table(self) -> Known:
        from babelquake.data import read

        if self._texts is not None:
            rows = read(self._texts)
            scores = self._line_by_line(len(rows.segments), self._texts.name)
            return Known(rows.has("source"), entries_of(rows.segments, scores))
        if len(self._files) == 1 and (found := comet_json(self._files[0], self.column)) is not None:
            return found
        columns = {"score": self.column} if self.column else None
        parts = [read(path, columns=columns) for path in self._files]
        entries = []
        for path, part in zip(self._files, parts, strict=True):
            if not part.has("translation"):
                raise UserError(
                    f"{path} has no column translation (it has: {', '.join(filter(part.has, part.segments.columns))}). "
                    "Scores are looked up by text: expected translation, score, and perhaps source and reference."
                )
            entries += entries_of(part.segments, numbers_of(part.segments, "score", str(path)))
        return Known(all(part.has("source") for part in parts), entries)

    def _by_order(self, path: Path, segments: "pl.DataFrame", values: Array) -> None:
        """Fill in a file's scores: the n-th one of a system belongs to the n-th segment of the language pair."""
        import polars as pl

        from babelquake.data import segment_scores

        pair = self._pair_of(path, segments)
        numbered = segments.drop("row", strict=False).with_row_index("row")
        here = numbered.filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        rows = here["row"].to_numpy()
        by_system = segment_scores(path)
        place = {id_: position for position, id_ in enumerate(here["id"].unique(maintain_order=True))}
        for system, scores in by_system.items():
            if len(scores) != len(place):
                raise UserError(
                    f"{path} has {len(scores)} scores for {system} where the data have {len(place)} segments"
                    f"{f' of {pair}' if pair else ''}. Expected one score per segment, in the same order."
                )
        if len(by_system) == 1 and here["system"].null_count() == here.height:
            by_system[""] = next(iter(by_system.values()))
        nothing: list[float | None] = [None] * len(place)
        systems = here["system"].fill_null("")
        found = [by_system.get(system, nothing)[place[id_]] for id_, system in zip(here["id"], systems, strict=True)]
        values[rows] = np.array(found, dtype=np.float64)

    def _pair_of(self, path: Path, segments: "pl.DataFrame") -> str | None:
        """The language pair of a file: as said, by its folder or its name, or the only one of the data."""
        pairs: list[str | None] = segments["language_pair"].unique(maintain_order=True).to_list()
        if self.language_pair is not None:
            told: list[str] = [LanguagePair(self.language_pair)]
        else:
            names = (path.parent.name, path.name.partition(".")[0])
            told = [pair for name in names if (pair := LanguagePair.known(name))]
        found = next((pair for pair in told if pair in pairs), None)
        if found is not None:
            return found
        if len(pairs) == 1 and (not told or pairs[0] is None):
            return pairs[0]
        some = ", ".join(str(pair) for pair in pairs)
        said = f"is of {told[0]}" if told else "does not say its language pair"
        raise UserError(f"{path} {said}; the data have {some}. Say which with scores[file=…,language_pair=…].")


def _files(file: str) -> list[Path]:
    from babelquake.data.streams import existing

    if "*" not in file:
        found = existing(file)
        if found.is_dir():
            raise UserError(f"scores[file={file}] is a folder: expected a table or a {SEGMENT_SCORES} file.")
        return [found]
    parts = Path(file).parts
    fixed = next(place for place, part in enumerate(parts) if "*" in part)
    several = sorted(path for path in Path(*parts[:fixed]).glob("/".join(parts[fixed:])) if path.is_file())
    if not several:
        raise UserError(f"scores[file={file}]: no file has such a name.")
    return several
