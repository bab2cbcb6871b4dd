"""The numbers of the attack study, and what people say of the perturbations.

How often attacks succeed, what it takes (Huang 2023 Tables 1 and 2), whether they transfer, whether over-penalised
translations are shorter (Figure 3), and the cells that comparisons need. Ratings (Figures 2 and 5) are means over
annotators of standardised scores, one for the original and one for the perturbed side of every rated tuple, from
`babelquake annotate` or a table with the columns `tuple`, `side` and `z`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.attacks.goal import Goal
from babelquake.data.dataset import Request
from babelquake.data.json_and_parquet import parquet_frame
from babelquake.data.tsv_csv_xlsx import csv_table, tsv_table
from babelquake.errors import UserError
from babelquake.randomness import Stream
from babelquake.registry import Registry
from babelquake.runs.measures import ALPHA, Measure
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.stats.agreement_bootstrap import bootstrap_agreement
from babelquake.stats.bootstrap import ratio_of
from babelquake.stats.intervals import Z, wilson
from babelquake.stats.ranks import can_separate, rank_sum, spread_difference
from babelquake.stats.resampling import by_unit, unit_means
from babelquake.studies.attack.campaign import of_data
from babelquake.studies.cells import Cell, Place, average, share
from babelquake.studies.kinds import attack as kinds
from babelquake.studies.segment_units import unit_keys
from babelquake.text import words

UNNAMED = "(none)"
"""The part of the data that has no value in the column: a blank would read as all of them."""


class Group(NamedTuple):
    """Attacks of one recipe on one victim; all of them, or those of one value of a column."""

    victim: str
    recipe: str
    group: str | None
    attacks: pl.DataFrame


def cells(attacks: pl.DataFrame, by: str | None = None) -> Iterator[Group]:
    """One cell per victim and recipe, or per value of `by` in each, smallest first: years stand as they follow.

    Attacks without a value come last, together with those whose value is blank.
    """
    for (victim, recipe), found in attacks.group_by("victim", "recipe", maintain_order=True):
        if by is None:
            yield Group(str(victim), str(recipe), None, found)
            continue
        named = pl.when(pl.col(by).cast(pl.String).str.strip_chars() != "").then(by)
        ordered = found.sort(named, nulls_last=True, maintain_order=True)
        for (value,), part in ordered.group_by(named, maintain_order=True):
            yield Group(str(victim), str(recipe), UNNAMED if value is None else str(value), part)


def success_measures(attacks: pl.DataFrame, by: str | None, rises: bool = False) -> Iterator[Measure]:
    """Per victim and recipe, and for every value of the column `by`: share, number and cost of eligible perturbations.

    The denominator `n` is every sentence that was attacked; `changed` is how many of them gave an eligible
    perturbation. `rises`: the mean rise of all of them too.
    """
    for victim, recipe, _, cell in cells(attacks):
        yield from _one(cell, victim, recipe, None)
        if by is not None:
            for _, _, value, part in cells(cell, by):
                yield from _one(part, victim, recipe, value)
        if rises:
            yield _mean_rise(cell, {"scorer": victim, "perturbation": recipe})
        yield from _edit_shares(cell, victim, recipe)


def _one(cell: pl.DataFrame, victim: str, recipe: str, group: str | None) -> Iterator[Measure]:
    found = cell.filter("success")
    n, successes, queries = cell.height, found.height, int(cell["queries"].sum())
    about: dict[str, Any] = {"scorer": victim, "perturbation": recipe, "group": group}
    low, high = wilson(successes, n)
    yield share(kinds.SUCCESS, successes, n, changed=successes, sd=100 * (high - low) / (2 * Z), **about)
    yield Measure(kinds.QUERIES, queries / n, n=n, **about)
    yield Measure(kinds.QUERIES_PER_SUCCESS, queries / successes if successes else None, n=successes, **about)
    yield Measure(kinds.WORDS_CHANGED, _median(found["words_changed"]), n=successes, **about)
    yield Measure(kinds.GAIN, _median(found["gain"]), n=successes, **about)


def _mean_rise(cell: pl.DataFrame, about: dict[str, Any]) -> Measure:
    """What the attack adds to the score of a sentence on average, found or not; a sentence is one unit."""
    gains = np.where(cell["fits"], cell["gain"], 0.0)
    return average(kinds.MEAN_RISE, unit_means(unit_keys(cell), gains), **about)


def _edit_shares(cell: pl.DataFrame, victim: str, recipe: str) -> Iterator[Measure]:
    """Of which kinds the edits of eligible perturbations are."""
    edits = Counter(edit["kind"] for text in cell.filter("success")["edits"] for edit in json.loads(text))
    for kind, count in sorted(edits.items(), key=lambda item: (-item[1], item[0])):
        about = {"scorer": victim, "perturbation": recipe, "other": kind}
        yield Measure(kinds.EDIT_SHARE, 100.0 * count / edits.total(), n=edits.total(), **about)


def _median(column: pl.Series) -> float | None:
    value = column.median()
    return float(value) if isinstance(value, int | float) else None


def transfer_table(attacks: pl.DataFrame, scored: pl.DataFrame, goal: Goal) -> pl.DataFrame:
    """Every eligible perturbation under every victim: normalised scores before and after, and whether it too is fooled.

    `scored` has, per tuple and other victim, the normalised scores `before` and `after`, and whether that victim finds
    both texts as alike as the goal wants (`alike`). Each victim is measured by its own scale, so one threshold serves
    all.
    """
    gains = [goal.gain(before, after) for before, after in scored.select("before", "after").iter_rows()]
    found = attacks.filter("success").select("tuple", "victim", "recipe")
    met = [goal.met(gain) for gain in gains]
    judged = scored.with_columns(
        gain=pl.Series(gains, dtype=pl.Float64), met=pl.Series(met, dtype=pl.Boolean) & pl.col("alike")
    )
    return found.join(judged, on="tuple", how="inner", maintain_order="left")


def transfer_measures(transfers: pl.DataFrame) -> Iterator[Measure]:
    """Per pair of victims, all recipes together and each alone: the share that fools the other, and the mean drop."""
    for keys in (("victim", "other"), ("victim", "other", "recipe")):
        for values, part in transfers.group_by(keys, maintain_order=True):
            victim, other, *recipe = map(str, values)
            fooled = int(part["met"].sum())
            about: dict[str, Any] = {"scorer": victim, "other": other, "perturbation": recipe[0] if recipe else None}
            yield share(kinds.TRANSFER, fooled, part.height, changed=fooled, **about)
            gains = part["gain"].to_numpy()
            gains = gains[np.isfinite(gains)]
            yield Measure(kinds.TRANSFER_DROP, float(gains.mean()) if gains.size else None, n=gains.size, **about)


TOP = 500
"""Translations on which humans and metrics disagree most."""
ALL, ELIGIBLE, DISAGREE = "all", "eligible", "top disagreement"


def length_measures(
    attacks: pl.DataFrame, by: str | None, disagreement: pl.DataFrame | None, seed: int, top: int = TOP
) -> Iterator[Measure]:
    """Mean length in words of three sets, and one-sided rank-sum tests of the last against the others.

    (1) all attacked translations, subsampled to be balanced over the column `by`; (2) those that gave eligible
    perturbations; (3) the `top` on which human and metric degradation differ most, where there are human ratings, else
    those with the largest gain. A translation attacked several times counts once in (1), once per perturbation in (2).
    """
    sets = {ALL: _lengths(_balanced(attacks, by, seed)), ELIGIBLE: _lengths(attacks.filter("success"))}
    ranked = disagreement if disagreement is not None else attacks.filter("success").with_columns(gap=pl.col("gain"))
    last = DISAGREE if disagreement is not None else "top gain"
    most = min(top, ranked.height // 2 or 1)
    sets[last] = _lengths(ranked.sort("gap", "tuple", descending=[True, False]).head(most))
    for name, lengths in sets.items():
        if len(lengths):
            yield average(kinds.LENGTH, lengths, group=name)
    for name in (ALL, ELIGIBLE):
        if len(sets[last]) and len(sets[name]):
            test = rank_sum(sets[last], sets[name], "less")
            yield Measure(
                kinds.SHORTER,
                float(sets[last].mean() - sets[name].mean()),
                n=len(sets[last]),
                group=last,
                other=name,
                p=test.p,
                testable=can_separate(len(sets[last]), len(sets[name])),
                family=("length",),
            )


def _balanced(attacks: pl.DataFrame, by: str | None, seed: int) -> pl.DataFrame:
    """Every attacked translation once, as many of each value of `by` as the rarest has."""
    once = attacks.unique("row", maintain_order=True)
    if by is None or once.is_empty():
        return once
    parts = [part for _, part in once.group_by(by, maintain_order=True)]
    size = min(part.height for part in parts)
    drawn = [part[Stream(seed, "lengths", part[by][0]).sample(part.height, size)] for part in parts]
    return pl.concat(drawn)


def _lengths(table: pl.DataFrame) -> NDArray[np.float64]:
    return np.array([len(words(text)) for text in table["original"]], dtype=np.float64)


JUDGE = "chrf"
"""Who tells how far a translation has moved from the clean one."""


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """Per victim and recipe, and per value of the column that tables are split by: the share of eligible ones."""
    attacks, by = run.table("attacks"), run.info.config.get("by")
    for victim, recipe, group, part in (*cells(attacks), *(cells(attacks, of_data(str(by))) if by else ())):
        fell = np.column_stack([part["success"].to_numpy(), np.ones(part.height)])
        keys, rows = by_unit(unit_keys(part), fell)
        named = placed(run, {"scorer": victim, "system": None})
        cell = Cell(Place(None, perturbation=recipe, group=group, **named), keys, part.height)
        cell.compute({kinds.SUCCESS.name: ratio_of(0, 1, times=100)}, [rows], resamples, seed)
        yield cell


def placed(run: Run, row: dict[str, Any]) -> dict[str, Any]:
    """A row of measures; where systems are attacked they are the victims, and chrF judges them."""
    return row | {"scorer": JUDGE, "system": row["scorer"]} if run.info.config.get("system") else row


SIDES = ("original", "perturbed")
RESAMPLES = 10_000
NOTE = "Human ratings:"
RATED = "rated"
"""The table of what people were asked about."""
SQLITE = b"SQLite format 3\0"
"""How a project of `annotate` begins."""
TOOLS: Registry[Callable[[str | Path], pl.DataFrame]] = Registry(
    "rating tool", "babelquake.ratings", {"annotate": "babelquake.annotate.analyse:tuple_ratings"}
)
"""Whose project files of ratings are understood: functions from such a file to a table."""
FEWEST = 3
"""Tuples below which a correlation means nothing."""


def ratings_table(given: str | Path | pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The ratings that were meant and what errors call them, looked at before anything is attacked."""
    if isinstance(given, pl.DataFrame):
        table, where = given, "the table of ratings"
    else:
        table, where = TOOLS.get("annotate")(given) if _is_project(Path(given)) else read_ratings(given), str(given)
    if missing := [name for name in ("tuple", "side", "z") if name not in table.columns]:
        raise UserError(f"{where} has no column '{missing[0]}': ratings are a table of tuple, side and z.")
    if strange := set(table["side"].unique()) - set(SIDES):
        raise UserError(f"{where}: side is '{sorted(map(str, strange))[0]}' where original or perturbed is expected.")
    return table, where


def rated(attacks: pl.DataFrame, ratings: pl.DataFrame, where: str, goal: Goal) -> pl.DataFrame:
    """The rated eligible perturbations, with humans' and the metric's degradation, and the gap between them.

    Degradation is original less perturbed: humans' in standardised ratings, the metric's in f̂. Where the goal is that
    scores rise, it is the rise.
    """
    means = _numbered(ratings, where).drop_nulls("z").group_by("tuple", "side").agg(pl.col("z").mean())
    wide = means.pivot("side", on_columns=SIDES, index="tuple", values="z").drop_nulls()
    if wide.is_empty():
        raise UserError(f"{where} rates one side only: every tuple needs a rating of original and of perturbed.")
    wide = wide.rename({"original": "human", "perturbed": "human_perturbed"})
    joined = attacks.filter("success").join(wide, on="tuple", how="inner", maintain_order="left")
    if joined.is_empty():
        raise UserError(f"{where} rates none of this run's perturbations: the names in its column 'tuple' are others.")
    return with_drops(joined, goal).with_columns(gap=pl.col("metric_drop") - pl.col("human_drop"))


def with_drops(table: pl.DataFrame, goal: Goal) -> pl.DataFrame:
    """Rated perturbations with the degradation that people saw and that of the metric."""
    return table.with_columns(
        human_drop=pl.Series(map(goal.gain, table["human"], table["human_perturbed"]), dtype=pl.Float64),
        metric_drop=pl.Series(map(goal.gain, table["score"], table["score_perturbed"]), dtype=pl.Float64),
    )


def _numbered(ratings: pl.DataFrame, where: str) -> pl.DataFrame:
    """Ratings as numbers, null where the cell is empty; what is neither is named."""
    said = pl.col("z").cast(pl.String).str.strip_chars().replace("", None)
    table = ratings.with_columns(said=said, z=said.cast(pl.Float64, strict=False))
    wrong = table.filter(pl.col("said").is_not_null() & ~pl.col("z").is_finite().fill_null(False))
    if wrong.height:
        first = wrong.row(0, named=True)
        more = f" (and {wrong.height - 1} more)" if wrong.height > 1 else ""
        raise UserError(f"{where}: z of {first['tuple']}, {first['side']}, is '{first['said']}', not a number{more}.")
    return table


def coverage(attacks: pl.DataFrame, ratings: pl.DataFrame, compared: pl.DataFrame) -> str:
    """How many of the perturbations people rated, and what ratings there are besides."""
    found = attacks.filter("success")["tuple"]
    names = ratings["tuple"].unique()
    strange = len(names) - int(names.is_in(found.to_list()).sum())
    half = len(names) - strange - compared["tuple"].n_unique()
    said = f"{NOTE} {compared.height} of {len(found)} eligible perturbations are rated on both sides"
    besides = ((half, "rated on one side only"), (strange, "that this run did not find"))
    left_out = ", ".join(f"{count} {what}" for count, what in besides if count)
    return f"{said}; left out: {left_out}." if left_out else f"{said}."


def drops(compared: pl.DataFrame, by: str | None) -> pl.DataFrame:
    """Ratings and degradations tuple by tuple, with the cell that each belongs to: the distributions of Figure 5."""
    columns = ("tuple", "victim", "recipe", "human", "human_perturbed", "human_drop", "metric_drop")
    return pl.concat(cell.select(*columns, group=pl.lit(group, pl.String)) for _, _, group, cell in cells(compared, by))


def human_measures(table: pl.DataFrame, by: str | None, seed: int, resamples: int = RESAMPLES) -> Iterator[Measure]:
    """Per victim × recipe × value of `by`: correlations before and after, degradations, one-sided test, spread.

    Figure 2: Pearson with standard errors from 10,000 resamples of tuples. Figure 5: is the metric's degradation
    larger than humans' (one-sided rank-sum), and is it spread wider or less wide (Brown & Forsythe)? At the end,
    how many cells are significant of those that are large enough to be.
    """
    tests: list[float] = []
    for victim, recipe, group, cell in cells(table, by):
        about: dict[str, Any] = {"scorer": victim, "perturbation": recipe, "group": group, "n": cell.height}
        columns = {name: cell[name].to_numpy() for name in cell.columns if cell[name].dtype.is_float()}
        for kind, human, metric in (
            (kinds.PEARSON_ORIGINAL, "human", "score"),
            (kinds.PEARSON_PERTURBED, "human_perturbed", "score_perturbed"),
        ):
            if cell.height >= FEWEST:
                drawn = bootstrap_agreement(
                    "pearson", columns[human], columns[metric], "none", resamples=resamples, seed=seed
                )
                yield Measure(kind, drawn.value, sd=drawn.estimate().sd, **about)
        own, theirs = columns["metric_drop"], columns["human_drop"]
        yield Measure(kinds.DEGRADATION, float(np.median(own)), sd=_sd(own), **about)
        yield Measure(kinds.DEGRADATION_HUMAN, float(np.median(theirs)), sd=_sd(theirs), **about)
        test, testable = rank_sum(own, theirs, "greater"), can_separate(len(own), len(theirs))
        if testable:
            tests.append(test.p)
        difference = float(np.median(own) - np.median(theirs))
        yield Measure(kinds.OVERPENALISED, difference, p=test.p, testable=testable, family=("human",), **about)
        if (spread := _sd(theirs)) and len(own) > 1:
            ratio, wider = float(np.std(own, ddof=1)) / spread, spread_difference(own, theirs)
            yield Measure(kinds.SPREAD, ratio, p=wider, testable=testable, family=("human", "spread"), **about)
    significant = sum(p < ALPHA for p in tests)
    yield Measure(kinds.CELLS_OVERPENALISED, float(significant) if tests else None, n=len(tests), changed=significant)


def read_ratings(path: str | Path) -> pl.DataFrame:
    """Ratings from a table with a header: columns `tuple`, `side`, `z`; TSV, or CSV or Parquet by its ending."""
    request = Request(str(path))
    if request.what.endswith(".parquet"):
        return parquet_frame(request)
    csv = bool(re.search(r"\.csv(\.(gz|xz|bz2))?$", request.what))
    table = csv_table(request, header=True) if csv else tsv_table(request, header=True)
    return pl.DataFrame({name: list(values) for name, values in table.columns.items()})


def _is_project(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _sd(values: NDArray[np.float64]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
