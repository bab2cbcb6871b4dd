"""Translations made elsewhere: by whoever brings the data, or through a folder, from numbered lines to numbered lines.

`export` writes every distinct text once, to `sources.txt`. Each further file `NAME.txt` that the user puts beside it is
one system's translation: its line n translates line n of `sources.txt`.

Translations that came with the data (`Stored`) are looked up by segment and variant: a system that sees whole documents
may translate equal sentences differently.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from babelquake.errors import UserError, did_you_mean
from babelquake.files import store_bytes, store_text
from babelquake.limits import json_object
from babelquake.resource import Limits
from babelquake.spec import Spec, signature
from babelquake.systems.base import System
from babelquake.systems.command import one_line
from babelquake.text import digest

SOURCES = "sources.txt"
MANIFEST = "manifest.json"


def export(folder: str | Path, texts: Iterable[str]) -> Path:
    """Write the distinct texts, in order of first appearance, and a manifest that tells a changed file from ours.

    Line breaks inside a text become spaces, so that one text is one line.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(dict.fromkeys(one_line(text) for text in texts))
    store_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"), folder / SOURCES)
    store_text(json.dumps({"count": len(lines), "hash": digest(lines)}, indent=2) + "\n", folder / MANIFEST)
    return folder / SOURCES


def imported(folder: str | Path) -> list[str]:
    """The systems found beside `sources.txt`: every file `NAME.txt`, its number of lines checked."""
    folder = Path(folder)
    sources = _sources(folder)
    names = _names(folder)
    for name in names:
        _translations(folder, name, sources)
    return names


class Files(System):
    """The system NAME of a folder: looks translations up, makes none."""

    limits = Limits(texts=100_000)
    """A look-up takes any number."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = Path(folder)
        self._name = name
        sources = _sources(self._folder)
        if name not in (names := _names(self._folder)):
            hint = did_you_mean(name, names) or "It has no translations yet."
            raise UserError(f"{self._folder} has no file {name}.txt beside {SOURCES}. {hint}")
        translations = _translations(self._folder, name, sources)
        self._table = dict(zip(sources, translations, strict=True))

    @property
    def name(self) -> str:
        """The file's name, as tables show it."""
        return self._name

    @property
    def signature(self) -> str:
        content = digest(text for pair in self._table.items() for text in pair)
        return signature("files", name=self._name, content=content)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The line that belongs to each text."""
        try:
            return [self._table[one_line(text)] for text in texts]
        except KeyError as missing:
            raise UserError(
                f"{self._folder / SOURCES} has no line “{missing.args[0]}”: it was exported for other data, "
                "another suite or another seed. Export again, and translate the new lines."
            ) from None


def _sources(folder: Path) -> list[str]:
    """The exported lines, refused when the file was changed after the export."""
    if not (folder / SOURCES).is_file() or not (folder / MANIFEST).is_file():
        raise UserError(f"{folder} has no {SOURCES} with its {MANIFEST}. Export them first.")
    lines = _lines(folder / SOURCES, "utf-8")
    try:
        manifest = json_object(folder / MANIFEST)
        count, fingerprint = int(manifest["count"]), manifest["hash"]
    except (UserError, ValueError, KeyError, TypeError):
        raise UserError(f"{folder / MANIFEST} is damaged: export again.") from None
    if len(lines) != count:
        raise UserError(f"{folder / SOURCES} has {len(lines)} lines, {count} were exported: export again.")
    if digest(lines) != fingerprint:
        raise UserError(f"{folder / SOURCES} was changed after the export: export again.")
    return lines


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.txt") if path.name != SOURCES and path.is_file())


def _translations(folder: Path, name: str, sources: list[str]) -> list[str]:
    """The lines of one system, as many as there are sources; an editor's byte order mark is skipped."""
    path = folder / f"{name}.txt"
    lines = _lines(path, "utf-8-sig")
    counts = f"{path} has {len(lines)} lines, {SOURCES} has {len(sources)}"
    if len(lines) < len(sources):
        raise UserError(f"{counts}: line {len(lines) + 1} is missing.")
    if len(lines) > len(sources):
        raise UserError(f"{counts}: line {len(sources) + 1} is one too many.")
    return lines


def _lines(path: Path, encoding: str) -> list[str]:
    """Lines end with LF or CRLF; the last end may be missing."""
    try:
        text = path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(f"{path} line {line} is not UTF-8.") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


class Stored(System):
    """A system's translations of clean sources (by row) and of their variants (by row, perturbation and replicate)."""

    def __init__(self, name: str, clean: pl.DataFrame, perturbed: pl.DataFrame) -> None:
        self.spec = Spec("stored").with_options(name=name)
        self._clean: Mapping[int, str] = dict(clean.select("row", "translation").iter_rows())
        places = perturbed.select("row", "perturbation", "replicate", "translation").iter_rows()
        self._perturbed = {(row, label, replicate): text for row, label, replicate, text in places}

    @property
    def identity(self) -> str:
        """The name by which the data call it."""
        return self.name

    @property
    def signature(self) -> str:
        texts = [*self._clean.values(), *self._perturbed.values()]
        return signature("stored", name=self.name, content=digest(texts))

    @property
    def silent(self) -> bool:
        """Whether every translation is empty: the system did not take part, which is not the same as being bad."""
        return not any(text.strip() for text in (*self._clean.values(), *self._perturbed.values()))

    def known(self, segments: pl.DataFrame, variants: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Those segments and variants whose translations came with the data."""
        rows = [row in self._clean for row in segments["row"]]
        places = variants.select("row", "perturbation", "replicate").iter_rows()
        there = [place in self._perturbed and place[0] in self._clean for place in places]
        return segments.filter(pl.Series(rows, dtype=pl.Boolean)), variants.filter(pl.Series(there, dtype=pl.Boolean))

    def of_clean(self, rows: Sequence[int]) -> list[str]:
        """The translations of clean sources."""
        return [self._clean[row] for row in rows]

    def of_variants(self, variants: pl.DataFrame) -> list[str]:
        """The translations of variants."""
        return [self._perturbed[place] for place in variants.select("row", "perturbation", "replicate").iter_rows()]

    def translate(self, texts: Sequence[str]) -> list[str]:
        raise UserError(
            f"{self.name} is known by translations that came with the data; it cannot translate other texts."
        )
