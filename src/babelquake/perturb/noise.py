"""Noise for training texts: some of them, each changed by one perturbation of a suite, drawn anew for every text.

A study makes every variant of every text; training wants one version of each, most of them clean. `Noise` draws for a
text whether it is changed, by which perturbation, and how strongly; all of it is a function of (seed, place, text), so
that order, blocks and workers change nothing.

`babelquake augment` changes a share of the texts of a file and leaves the rest as it is. Files of one segment a line
(TSV, JSON lines, plain text, each also compressed) stream through in bounded memory and keep all their columns; every
other format we read is taken whole and written as the output's ending says.
"""

import bz2
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from babelquake.data import Dataset, lines, read, require, write
from babelquake.data.columns import by_position, is_header, resolve
from babelquake.data.streams import STDIN, label, suffix
from babelquake.errors import UserError, did_you_mean, listed_texts, one_of, setting
from babelquake.files import replacing
from babelquake.languages import Language, pair_in_path, sides
from babelquake.limits import json_of
from babelquake.perturb.base import Perturbation
from babelquake.perturb.suite import Perturbations, Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.randomness import Stream

STEPS = 5
"""Strengths that a range is cut into; a text draws one of them."""


class Noisy(NamedTuple):
    """A text as it is used for training, and what was done to it (None: nothing)."""

    text: str
    perturbation: Perturbation | None


@dataclass(frozen=True)
class Noise:
    """What happens to a share of the texts: one perturbation of the suite each, all equally likely."""

    suite: Suite
    share: float = 0.3
    """The share of texts that are changed, from 0 to 1, where some perturbation applies."""
    weakest: float = 1.0
    """The level of each perturbation is drawn between this many times the suite's level …"""
    strongest: float = 1.0
    """… and this many times, within what the perturbation allows."""
    lang: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UserError(
                f"{setting('share', self.share)}: expected a number from 0 to 1, the share of changed texts."
            )
        if not 0 < self.weakest <= self.strongest:
            raise UserError(
                f"{setting('strength', f'{self.weakest:g}:{self.strongest:g}')}: expected two numbers above 0, the "
                "lower one first."
            )
        if self.suite.asks or self.suite.draws_from_data:
            raise UserError(
                f"{self.suite.name or 'The suite'} has perturbations that ask a language model or draw words from "
                "all texts; name one without, such as everyday."
            )
        self.suite.require_language(self.lang)

    @cached_property
    def ways(self) -> list[list[Perturbation]]:
        """Each perturbation of the suite, at every strength it can be drawn with."""
        return [self._strengths(perturbation) for perturbation in self.suite.perturbations]

    def of(self, text: str, place: int | str) -> Noisy:
        """One text with its place in the data, clean or changed."""
        stream = Stream(self.seed, "noise", place, text)
        if not stream.chance(self.share):
            return Noisy(text, None)
        ways = list(self.ways)
        while ways:
            perturbation = stream.choice(ways.pop(stream.below(len(ways))))
            changed = perturbation.apply(text, lang=self._language, seed=stream.below(2**32))
            if changed is not None and changed != text:
                return Noisy(changed, perturbation)
        return Noisy(text, None)

    @cached_property
    def _language(self) -> Language | None:
        return Language(self.lang) if self.lang else None

    def _strengths(self, perturbation: Perturbation) -> list[Perturbation]:
        level = perturbation.level
        if level is None or self.weakest == self.strongest == 1:
            return [perturbation]
        width = (self.strongest - self.weakest) / (STEPS - 1)
        factors = (self.weakest + width * step for step in range(STEPS))
        levels = dict.fromkeys(min(level * factor, perturbation.card.high) for factor in factors)
        return [Perturbation(perturbation.spec.with_options(level=f"{each:.4g}")) for each in levels]


Side = Literal["source", "reference", "translation"]
HEADERLESS = ("source", "reference")
"""What the columns of a TSV file without header are."""
BREAKS, TABBED = "\n\r", "\t\n\r"
"""What a line of text, and a cell between tabs, cannot hold."""
PACKED: dict[str, Any] = {".gz": gzip.open, ".xz": partial(lzma.open, preset=1), ".bz2": bz2.open}


@dataclass
class Augmented:
    """What became of the texts of a file."""

    texts: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    """How often each perturbation was used, by its name with options."""
    notes: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of texts that were changed."""
        return self.changed.total() / self.texts if self.texts else 0.0


def augment(
    texts: Sequence[str],
    suite: Perturbations = "everyday",
    *,
    share: float = 0.3,
    strength: tuple[float, float] = (0.5, 1.5),
    lang: str | None = None,
    seed: int = 0,
) -> list[str]:
    """The texts, a share of them changed by one perturbation of the suite each; the same length and order.

    `strength` is the range of factors by which the suite's levels are multiplied; a factor is drawn for every text.
    """
    noise = Noise(suite_of(suite), share, *strength, lang, seed)
    return [noise.of(text, place).text for place, text in enumerate(listed_texts("texts", texts))]


def augment_file(
    data: str | Path,
    out: str | Path,
    suite: Perturbations = "everyday",
    *,
    share: float = 0.3,
    strength: tuple[float, float] = (0.5, 1.5),
    side: str = "source",
    add: bool = False,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    lang: str | None = None,
    seed: int = 0,
) -> Augmented:
    """The same for a file, line by line; with `add` a changed line follows its clean one.

    Several references are changed one by one. The language is `lang`, or that side of the language pair, which may
    stand in the file's name.
    """
    one_of("side", side, Side)
    target, done = Path(out), Augmented()
    if str(data) != STDIN and Path(data).exists() and target.exists() and target.samefile(data):
        raise UserError(f"{setting('out', out)} is the data file itself. Use another name.")

    @cache
    def noise_in(spoken: str | None) -> Noise:
        return Noise(suite_of(suite), share, *strength, spoken, seed)

    ending = suffix(data)
    streams = {".tsv": _tsv, ".tab": _tsv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".txt": _plain}
    if ending in streams and suffix(target) == ending:
        pair = language_pair or pair_in_path(data)
        noise = noise_in(lang or _spoken(pair, side))
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as draft, _open(draft, target.suffix) as file:
            for line, changed in streams[ending](data, side, columns, noise, done):
                if add and changed is not None:
                    file.write(line + "\n")
                file.write((changed if changed is not None else line) + "\n")
        _remark(noise, done)
    else:
        found = read(data, columns=columns, language_pair=language_pair)
        require(found, side)
        _whole(found, target, side, add, lambda pair: noise_in(lang or _spoken(pair, side)), done)
    return done


def _remark(noise: Noise, done: Augmented) -> None:
    """Note what a user in a hurry would overlook: noise that could not be used, and a file that stayed as it was."""
    idle = [str(one.spec) for one in noise.suite.perturbations if one.lacks_language(noise.lang)]
    if idle:
        done.notes.append(f"not used, because the language of the texts is unknown (--lang): {', '.join(idle)}")
    if done.texts and noise.share and not done.changed:
        done.notes.append("no text was changed. Is this the right file, and the right column?")


Lines = Iterator[tuple[str, str | None]]
"""A line as it was, and as it is with noise (None: nothing was changed)."""


def _noisy(text: str, noise: Noise, done: Augmented, blanks: str = BREAKS) -> str | None:
    """One text's change, counted; None where there is none. What would break a line becomes a blank."""
    made = noise.of(text, done.texts)
    done.texts += 1
    changed = made.text.translate(dict.fromkeys(map(ord, blanks), " "))
    if made.perturbation is None or changed == text:
        return None
    done.changed[str(made.perturbation.spec)] += 1
    return changed


def _plain(data: str | Path, side: str, columns: Mapping[str, str] | None, noise: Noise, done: Augmented) -> Lines:
    for line in lines(data, done.notes):
        yield line, _noisy(line, noise, done)


def _tsv(data: str | Path, side: str, columns: Mapping[str, str] | None, noise: Noise, done: Augmented) -> Lines:
    places: list[int] = []
    width = 0
    for number, line in enumerate(lines(data, done.notes), 1):
        cells = line.split("\t")
        if number == 1:
            width = len(cells)
            headed = not by_position(columns) and (bool(columns) or is_header(cells))
            places = _places(cells, headed, side, columns, label(data))
            if headed:
                yield line, None
                continue
        if len(cells) != width:
            raise UserError(f"{label(data)} line {number}: {len(cells)} columns where line 1 has {width}.")
        noisy = [_noisy(cells[place], noise, done, TABBED) for place in places]
        for place, made in zip(places, noisy, strict=True):
            cells[place] = cells[place] if made is None else made
        yield line, None if all(made is None for made in noisy) else "\t".join(cells)


def _places(first: Sequence[str], headed: bool, side: str, columns: Mapping[str, str] | None, name: str) -> list[int]:
    """The columns that hold a side's texts."""
    if headed:
        found = resolve(first, columns, name).get(side, [])
        places = [list(first).index(column) for column in found]
    elif columns:
        places = [int(columns[side]) - 1] if side in columns else []
    else:
        places = [HEADERLESS.index(side)] if side in HEADERLESS[: len(first)] else []
    if not places or max(places) >= len(first) or min(places) < 0:
        raise UserError(f"{name} has no {side} column. {did_you_mean(side, first) if headed else ''}".rstrip())
    return places


def _jsonl(data: str | Path, side: str, columns: Mapping[str, str] | None, noise: Noise, done: Augmented) -> Lines:
    for number, line in enumerate(lines(data, done.notes), 1):
        if not line.strip():
            yield line, None
            continue
        item = json_of(line, f"{label(data)} line {number}")
        if not isinstance(item, dict):
            raise UserError(f"{label(data)} line {number}: expected a JSON object with a {side}.")
        names = resolve(list(item), columns, label(data)).get(side, [])
        if not names:
            raise UserError(f"{label(data)} line {number} has no {side}. {did_you_mean(side, item)}")
        changed = {
            name: made
            for name in names
            if isinstance(item[name], str) and (made := _noisy(item[name], noise, done)) is not None
        }
        yield line, json.dumps(item | changed, ensure_ascii=False) if changed else None


def _whole(
    found: Dataset, target: Path, side: str, add: bool, noise_in: Callable[[str | None], Noise], done: Augmented
) -> None:
    """A format that is not a list of lines, changed and written as a table; each language pair has its noise."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    noises: dict[str | None, Noise] = {}
    column = "references" if side == "reference" else side
    blanks = TABBED if suffix(target) in (".tsv", ".tab") else BREAKS
    for row in found.segments.iter_rows(named=True):
        noise = noise_in(row["language_pair"])
        noises[noise.lang] = noise
        texts = row[column] if side == "reference" else [row[column]]
        changed = [None if text is None else _noisy(text, noise, done, blanks) for text in texts or []]
        if any(made is not None for made in changed):
            if add:
                rows.append(row)
            mixed = [old if made is None else made for old, made in zip(texts, changed, strict=True)]
            row = row | {column: mixed if side == "reference" else mixed[0]}
        rows.append(row)
    done.notes += found.notes
    for noise in noises.values():
        _remark(noise, done)
    write(replace(found, segments=pl.DataFrame(rows, schema=found.segments.schema)), target)


def _spoken(pair: str | None, side: str) -> str | None:
    return sides(pair)[0 if side == "source" else 1]


def _open(path: Path, ending: str) -> TextIO:
    """A text file to write, compressed as its final name says."""
    opener = PACKED.get(ending, open)
    file: TextIO = opener(path, "wt", encoding="utf-8", newline="\n")
    return file
