"""Measure a published table again, and set both beside each other.

Cells may come from runs that are finished: made in pieces, on another machine, or for several tables at once.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.attacks.goal import Overpenalise
from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError, setting
from babelquake.languages import LanguagePair
from babelquake.papers.paper import MEAN, Judge, PaperTable, RowOf, paper
from babelquake.paths import temporary_folder
from babelquake.perturb import Perturbation
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run
from babelquake.scorers import scorer
from babelquake.spec import Spec, parse
from babelquake.studies.attack.measures import human_measures, read_ratings, with_drops
from babelquake.studies.card import STUDIES, function_of
from babelquake.studies.final_marks import without_duplicates
from babelquake.studies.qe.study import judged_segments, select

SAME = ("goal", "side")
"""Options without which a run answers another question than the table; a suite may hold more."""


@dataclass
class Measured:
    """What was measured for a table: measures by run, where they are, and what the reader must know."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    runs: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The paper's name of a scorer → what its measures are called, where that is not what it was run as."""


def finished(card: PaperTable, given: Sequence[str]) -> Measured:
    """The measures of finished runs; `given` are folders, or `RUN=FOLDER` where the table has several runs."""
    found, parts = Measured(), dict[str, list[pl.DataFrame]]()
    limits, said = set[int | None](), list[tuple[str, list[str]]]()
    for name, folder in (_run_and_folder(card, item) for item in given):
        run = Run.open(folder)
        _refuse_another(card, run)
        parts.setdefault(name, []).append(run.measures)
        found.runs.setdefault(name, run.folder)
        limits.add(run.info.options.get("limit"))  # type: ignore[arg-type]
        said.append((name, run.info.notes))
    found.tables = {name: pl.concat(tables, how="diagonal_relaxed") for name, tables in parts.items()}
    found.notes.append("Taken from finished runs.")
    found.notes += [f"Only the first {limit} segments were taken." for limit in limits if limit is not None]
    found.notes += notes_of(said)
    if absent := [name for name in card.runs if name not in parts]:
        found.notes.append(f"No run was given for: {', '.join(absent)}.")
    return found


def notes_of(said: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """What runs say of themselves: once where all say it, otherwise with the names of those that do."""
    holds: dict[str, dict[str, None]] = {}
    for run, notes in said:
        for note in notes:
            holds.setdefault(note, {})[run] = None
    every = {run for run, _ in said}
    return [note if set(runs) == every else f"{', '.join(runs)}: {note}" for note, runs in holds.items()]


def _run_and_folder(card: PaperTable, item: str) -> tuple[str, Path]:
    """A run of the table, and its folder, whose name may hold an equals sign too."""
    name, _, folder = item.partition("=")
    if folder and name in card.runs:
        return name, Path(folder)
    if len(card.runs) > 1:
        known = ", ".join(card.runs)
        raise UserError(f"{setting('runs', item)}: expected RUN=FOLDER, where RUN is one of {known}.")
    return next(iter(card.runs)), Path(item)


def _refuse_another(card: PaperTable, run: Run) -> None:
    if run.info.study != card.study:
        raise UserError(f"{run.folder} is a run of '{run.info.study}'; this table needs one of '{card.study}'.")
    if run.info.status != "finished":
        raise UserError(f"{run.folder} is not finished. Repeat its command first.")
    for name in SAME:
        wanted, made = card.options.get(name), str(run.info.config.get(name))
        if wanted is not None and not is_one(parse(made), parse(wanted)):
            raise UserError(f"{run.folder} was made with {setting(name, made)}; this table needs {wanted}.")


def is_one(made: Spec, wanted: Spec) -> bool:
    """Whether a spec, written out, is what a shorter one says."""
    return made.name == wanted.name and set(wanted.options) <= set(made.options)


SPLITS = {
    "ending_none": "final-insert",
    "ending_stop": "final-delete[mark=stop]",
    "ending_exclamation": "final-delete[mark=exclamation]",
    "ending_question": "final-delete[mark=question]",
}
"""A final mark, and the perturbation whose split of sentences it is (Jwalapuram 2023 §2.1)."""


def sizes(data: Dataset, threshold: float | None = None, endings: str | None = None, **_: Any) -> pl.DataFrame:
    """Counts as measures, by language pair.

    Segments, those judged, English words, preferences; with `threshold` those rated so or better; final marks of
    column `endings`.
    """
    rows = [
        (pair, measure, float(count))
        for (pair,), part in data.segments.group_by("language_pair", maintain_order=True)
        for measure, count in _counts(part, endings)
    ]
    if data.preferences is not None:
        rows += [(pair, "preferences", float(data.preferences.height)) for pair in data.language_pairs]
    if threshold is not None:
        chosen = select(judged_segments(data), threshold)[0]
        counts = chosen.group_by("language_pair").len().iter_rows()
        rows += [(pair, "selected", float(count)) for pair, count in counts]
    return pl.DataFrame(rows, schema=["language_pair", "measure", "value"], orient="row")


def _counts(segments: pl.DataFrame, endings: str | None) -> Iterator[tuple[str, int]]:
    yield "segments", segments.height
    yield "judged", segments["score"].count()
    pair = LanguagePair.known(segments["language_pair"][0])
    for column, spoken in (("source", pair.source), ("references", pair.target)) if pair else ():
        if spoken.code == "en":
            first = pl.col(column) if column == "source" else pl.col(column).list.first()
            yield "english_words", int(segments.select(first.str.count_matches(r"\S+").sum()).item())
    if endings is None:
        return
    texts = without_duplicates(segments)[endings].drop_nulls()
    lang = pair.source if pair else None
    for mark, change in SPLITS.items():
        applied = Perturbation(change).apply
        yield mark, sum(applied(text, lang=lang) is not None for text in texts)


RATED_COLUMNS = {
    "victim": ("metric", "victim"),
    "recipe": ("attack_algo", "method", "recipe"),
    "year": ("year",),
    "score": ("original_score", "score"),
    "score_perturbed": ("adv_score", "score_perturbed"),
    "human": ("human_original", "human"),
    "human_perturbed": ("human_adv", "human_perturbed"),
}
"""What is needed of rated pairs, and what a column that holds it may be called."""


def rated_pairs(file: Path, card: PaperTable, seed: int) -> pl.DataFrame:
    """The measures of rated pairs as Huang & Baldwin 2023 published theirs (Figures 2 and 5); metrics have its names.

    The file is a table with one row a pair, TSV, CSV or Parquet. Columns are found by the names of the authors' code or
    by ours: metric, attack_algo, year, the metric's normalised score of the original and of the perturbed translation,
    and people's standardised ratings of both. A column that is called otherwise is renamed in the file's header.
    """
    given = read_ratings(file)
    found = {
        name: next((column for column in known if column in given.columns), None)
        for name, known in RATED_COLUMNS.items()
    }
    if missing := [" or ".join(RATED_COLUMNS[name]) for name, column in found.items() if column is None]:
        raise UserError(
            f"{file} has no column {', no column '.join(missing)}; it has: {', '.join(given.columns)}. "
            "Rename its header."
        )
    numbers = ("score", "score_perturbed", "human", "human_perturbed")
    table = given.select(pl.col(column).alias(name) for name, column in found.items() if column is not None)
    table = table.with_columns(pl.col(*numbers).cast(pl.Float64, strict=False)).drop_nulls(numbers)
    victims = {_plain(name): name for name in card.scorers}
    recipes = {_plain(name): name for name in card.options["recipes"]}
    table = table.with_columns(
        victim=_known(file, table["victim"], victims),
        recipe=_known(file, table["recipe"], recipes),
        year="wmt" + pl.col("year").cast(pl.String).str.extract(r"(\d\d)$", 1),
    )
    return measures_frame(human_measures(with_drops(table, Overpenalise()), "year", seed))


def _known(file: Path, said: pl.Series, names: dict[str, str]) -> pl.Series:
    """Names of the file as the table names them."""
    plain = [_plain(str(name)) for name in said]
    if strange := next((name for name in plain if name not in names), None):
        raise UserError(f"{file}: '{strange}' is none of {', '.join(names)}.")
    return pl.Series([names[name] for name in plain], dtype=pl.String)


def _plain(name: str) -> str:
    """`deep_word_bug` and `DeepWordBug` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


NAMED = 6
"""Rows that a note names one by one."""
FEWEST = 20
"""Segments below which a number is not shown."""
UNMEASURED = "no such number was measured"
STORED = ("row", "column", "measured", "sd", "low", "high", "n", "otherwise")
"""What is kept of a measured cell."""


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    row: str
    column: str
    published: float | None
    measured: float | None
    otherwise: str | None = None
    """What it was measured with in place of the paper's own, or why it was not measured."""
    n: int | None = None
    """How many segments, pairs or texts it was measured on; the fewest where it is a mean over runs."""
    published_sd: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    """The 95 % interval of what was measured; None for means over several runs."""

    @property
    def too_few(self) -> bool:
        """Whether it rests on so few segments that its value says nothing."""
        return self.n is not None and self.n < FEWEST

    @property
    def difference(self) -> float | None:
        """Measured minus published."""
        if self.published is None or self.measured is None:
            return None
        return self.measured - self.published


@dataclass(frozen=True)
class Reproduction:
    """A table, published and measured."""

    paper: str
    table: str
    title: str
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    digits: int
    notes: tuple[str, ...] = ()
    runs: dict[str, Path] = field(default_factory=dict)

    def stored(self) -> dict[str, Any]:
        """What was measured, without what the paper's card says anyway: as `restored` reads it."""
        known = _said_by_card(paper(self.paper).table(self.table))
        cells = [{key: value for key in STORED if (value := getattr(cell, key)) is not None} for cell in self.shown]
        return {"notes": [note for note in self.notes if note not in known], "cells": cells}

    @property
    def shown(self) -> list[Cell]:
        """Its cells without rows of which nothing was measured, which would fill pages: a note names those."""
        known = [cell for cell in self.cells if cell.measured is not None or cell.n is not None]
        rows = {cell.row for cell in known}
        return [cell for cell in self.cells if cell in known or (cell.published is not None and cell.row in rows)]


def reproduce(
    name: str,
    table: str,
    data: Path | str | None = None,
    *,
    out: Path | str | None = None,
    judges: Mapping[str, str] | None = None,
    runs: Sequence[str] = (),
    seed: int = 0,
    limit: int | None = None,
    engine: Engine | None = None,
    **options: Any,
) -> Reproduction:
    """Run the study behind a table on the data given, or take finished `runs` of it, and look up every cell.

    `judges` names scorers or systems by the paper's names and says what stands for each, `{run}` being the run; what is
    not named and cannot be had offline is left out, and its cells say so. `runs` are folders, or `RUN=FOLDER`.
    Of tables about ratings `data` is the file of rated pairs (`rated_pairs`).
    """
    card = paper(name).table(table)
    chosen = _chosen(card, judges or {})
    _check_options(card, options)
    if runs:
        found = finished(card, runs)
    elif card.only_from is not None and data is not None and Path(data).is_file():
        chosen = {judge: named.spec for judge, named in card.judges.items()}
        found = Measured(
            {next(iter(card.runs)): rated_pairs(Path(data), card, seed)}, names={name: name for name in chosen}
        )
    elif card.only_from is not None:
        from_run = setting("runs", f"{next(iter(card.runs))}=FOLDER")
        raise UserError(f"{name} {table} is taken from {card.only_from}. Use {from_run}.")
    elif data is None:
        data_folder = setting("data", metavar="FOLDER")
        raise UserError(f"No data given. Use {data_folder}. {name} {table} needs {card.needs}.")
    elif not Path(data).exists():
        named = ", ".join(f"{run} ({', '.join(files)})" for run, files in card.runs.items())
        raise UserError(f"{data} does not exist. {name} {table} needs {card.needs}: {named}.")
    else:
        place = (temporary_folder() if out is None else Path(out)) / f"{name}-{table}"
        found = _measured(card, chosen, Path(data), place, limit, {**options, "seed": seed, "engine": engine})
    if not found.tables:
        raise UserError(f"nothing of {name} {table} could be measured. {found.notes[0]}")
    cells = tuple(
        _cell(card, chosen, found, row_name, row, column_name, place)
        for row_name, row in card.rows.items()
        for place, column_name in enumerate(card.columns)
    )
    if all(cell.measured is None for cell in cells):
        raise UserError(f"nothing of {name} {table} could be measured: {_why(cells, bool(runs), limit)}")
    less = [f"Only the first {limit} segments of each run were taken."] if limit is not None else []
    if "sample" in options:
        less.append(f"A sample of {options['sample']} was taken.")
    if "max_queries" in options:
        less.append(f"Each search asked at most {options['max_queries']} questions.")
    told = (*less, *_unmeasured(card, cells, found.tables), *found.notes)
    notes = (*_said_by_card(card), *told)
    return Reproduction(name, table, card.title, tuple(card.columns), cells, card.digits, notes, found.runs)


def restored(name: str, table: str, stored: Mapping[str, Any]) -> Reproduction:
    """A table whose measured cells were stored earlier, beside what was published."""
    card = paper(name).table(table)
    measured = {(cell["row"], cell["column"]): cell for cell in stored["cells"]}
    cells = tuple(
        Cell(
            **({"measured": None} | measured.get((row_name, column), {}) | {"row": row_name, "column": column}),
            published=row.published[place],
            published_sd=row.sd[place] if row.sd else None,
        )
        for row_name, row in card.rows.items()
        for place, column in enumerate(card.columns)
    )
    notes = (*_said_by_card(card), *stored["notes"])
    return Reproduction(name, table, card.title, tuple(card.columns), cells, card.digits, notes)


def _said_by_card(card: PaperTable) -> tuple[str, ...]:
    return (*card.notes, *(f"The paper says: {text}" for text in card.stated))


def _check_options(card: PaperTable, options: Mapping[str, Any]) -> None:
    """Refuse a sample or a limit of questions where the study behind a table takes none."""
    taken = frozenset[str]() if card.study == "size" else frozenset(signature(function_of(card.study)).parameters)
    for name in ("sample", "max_queries"):
        if name in options and name not in taken:
            raise UserError(f"{setting(name)} does not work with this table, which uses all of its data.")


def _why(cells: Sequence[Cell], finished: bool, limit: int | None) -> str:
    """Why no cell has a number, and what would give some: a judge, other runs, or more segments."""
    told = [cell.otherwise or "" for cell in cells]
    if not any(why.endswith(UNMEASURED) for why in told):
        return f"{told[0]}. Use {setting('judges', {'NAME': 'SPEC'})}."
    if finished:
        return "the runs do not contain its cells."
    taken = "the data" if limit is None else f"the first {limit} segments ({setting('limit', limit)})"
    return f"{taken} have too few of the texts that it is about. Use more data, or other data."


def _unmeasured(card: PaperTable, cells: Sequence[Cell], tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Rows of which there is nothing, though their run is there."""
    known = {cell.row for cell in cells if cell.measured is not None}
    rows = [name for name, row in card.rows.items() if name not in known and row.run in tables]
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return [f"Not measured: {', '.join(rows[:NAMED])}{more}."] if rows else []


def _measured(
    card: PaperTable, chosen: Mapping[str, str], data: Path, place: Path, limit: int | None, options: Mapping[str, Any]
) -> Measured:
    """The runs of a table, as far as the folder has their data; each in its own folder."""
    found, absent, said_by = Measured(), list[str](), list[tuple[str, list[str]]]()
    for run, files in card.runs.items():
        said = {**card.options, **card.run_options.get(run, {}), **options}
        if not all((data / file).exists() for file in files):
            absent.append(f"{run} ({', '.join(files)})")
            continue
        try:
            material = _read(data, files, card.language_pairs.get(run), limit)
            if card.study == "size":
                found.tables[run] = sizes(material, **said)
                continue
            folder = place.with_name(f"{place.name}-{run}".replace(" ", "-").lower())
            made = _study(card, material, _of_run(card, chosen, run), folder, said)
        except UserError as error:
            found.notes.append(f"{run} was left out: {error}")
            continue
        found.tables[run], found.runs[run] = made.measures, made.folder
        said_by.append((run, made.info.notes))
    found.notes += notes_of(said_by)
    if absent:
        found.notes.append(f"{data.resolve().name} has no files for: {', '.join(absent)}.")
    return found


def _read(folder: Path, files: Sequence[str], pair: str | None, limit: int | None) -> Dataset:
    paths = [folder if name == "." else folder / name for name in files]
    found = read([str(path) for path in paths], language_pair=pair)
    return found if limit is None else found.first(limit)


def _chosen(card: PaperTable, given: Mapping[str, str]) -> dict[str, str]:
    """The paper's name of a scorer or system → the spec that is run."""
    known = card.judges
    for name in given:
        if name not in known:
            raise UserError(f"this table has no '{name}'; it has: {', '.join(known)}.")
    offline = {name: judge.offline for name, judge in known.items() if judge.offline is not None}
    return {name: spec for name, spec in {**offline, **given}.items() if spec}


def _of_run(card: PaperTable, chosen: Mapping[str, str], run: str) -> dict[str, str]:
    """The specs of one run: `ridge-qe[model=models/{run}]` is another model for each."""
    return {name: card.judges[name].of_run(spec, run) for name, spec in chosen.items()}


def _study(
    card: PaperTable,
    data: Dataset,
    chosen: Mapping[str, str],
    out: Path,
    options: Mapping[str, Any],
) -> Run:
    scorers = list(dict.fromkeys(chosen[name] for name in card.scorers if name in chosen))
    systems = list(dict.fromkeys(chosen[name] for name in card.systems if name in chosen))
    common: dict[str, Any] = {**options, "out": out}
    if card.tokenizers:
        common["tokenizers"] = [chosen[name] for name in card.tokenizers if name in chosen]
    subject = STUDIES.get(card.study).subject
    named, known = (systems, card.systems) if subject == "system" else (scorers, card.scorers)
    if not named:
        raise UserError(f"No {subject} given. Use {setting('judges', {next(iter(known)): 'SPEC'})}.")
    study = function_of(card.study)
    offered = {"systems": systems, "scorers": scorers, "victims": scorers, "data": data}
    return study(**{name: offered[name] for name in signature(study).parameters if name in offered}, **common)


def _cell(
    card: PaperTable,
    chosen: Mapping[str, str],
    made: Measured,
    row_name: str,
    row: RowOf,
    column_name: str,
    place: int,
) -> Cell:
    column, measured = card.columns[column_name], made.tables
    cell = partial(Cell, row_name, column_name, row.published[place], published_sd=row.sd[place] if row.sd else None)
    wanted = {"measure": column.measure, **row.where, **column.where}
    runs = list(card.runs) if row.run == MEAN else [row.run]
    otherwise, scale, judges, kinds = list[str](), 1.0, dict[str, str](), dict[str, str]()
    for kind, known in (("scorer", card.scorers), ("system", card.systems), ("tokenizer", card.tokenizers)):
        name = wanted.get(kind, getattr(column, kind))
        judge: Judge | None = known.get(name)
        if judge is None:
            continue
        theirs = judge.of_run(judge.spec, row.run)
        if name not in chosen:
            return cell(None, f"{name} was not run: it needs {theirs}")
        judges[name], kinds[kind], scale = chosen[name], name, judge.scale
        if judge.of_run(chosen[name], row.run) != theirs:
            otherwise.append(f"{name} is {chosen[name]}, not {theirs}")
    here = [run for run in runs if run in measured]
    if not here:
        return cell(None, f"{row.run} was not run")
    if len(here) < len(runs):
        otherwise.append(f"the mean is over {', '.join(here)} only")
    found = []
    for run in here:
        specs = _of_run(card, judges, run)
        named = {kind: made.names.get(name) or _named(kind, specs[name]) for kind, name in kinds.items()}
        found.append(_measure(measured[run], {**wanted, **named}))
    values = [measure for measure in found if measure.get("value") is not None]
    if not values:
        return cell(None, "; ".join([*otherwise, UNMEASURED]))
    number = scale * sum(measure["value"] for measure in values) / len(values)
    n = min((measure["n"] for measure in values if measure.get("n") is not None), default=None)
    if n is not None and n < FEWEST:
        otherwise.append(f"not shown: fewer than {FEWEST} segments")
    spread = {name: values[0].get(name) for name in ("sd", "low", "high")} if len(here) == 1 else {}
    scaled = {name: None if value is None else scale * value for name, value in spread.items()}
    return cell(number, "; ".join(otherwise) or None, n, **scaled)


def _named(kind: str, spec: str) -> str:
    """A spec as a run's tables name it."""
    if kind == "scorer":
        return scorer(spec).name
    return Path(spec).name if kind == "tokenizer" else dict(parse(spec).options).get("name") or spec


def _measure(table: pl.DataFrame, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The one measure of a run that a cell is; empty where there is none."""
    wanted = {**wanted, **_as_made(table, wanted.get("perturbation"))}
    blank = [name for name in ("other", "group", "tokenizer") if name in table.columns and name not in wanted]
    here = table.filter(
        *(pl.col(name).eq_missing(pl.lit(value)) for name, value in wanted.items() if name in table.columns),
        *(pl.col(name).is_null() for name in blank),
    )
    return here.row(0, named=True) if here.height else {}


def _as_made(table: pl.DataFrame, perturbation: str | None) -> dict[str, str]:
    """A perturbation as the run names it, which may say more of it: the masked language model that it asked."""
    if perturbation is None or "perturbation" not in table.columns:
        return {}
    labels = table["perturbation"].drop_nulls().unique().to_list()
    if perturbation in labels:
        return {}
    fitting = [label for label in labels if is_one(parse(label), parse(perturbation))]
    return {"perturbation": fitting[0]} if len(fitting) == 1 else {}
