"""All recipes against all victims: one victim after another, so that one model at a time is in memory.

A universal trigger (Wallace 2019) is one text that raises the score of most translations: searched on one half of the
sentences, measured on the other. Words are added greedily: in every round each word of a pool is tried behind (or
before) the text found so far, on the same sentences, and the one with the highest mean rise stays. The best text of all
rounds counts, also where it lowers scores: what is measured is what the search came to. A sentence that the victim does
not score with the text has risen by nothing, as in every attack: otherwise a text that makes a judge refuse all but a
few sentences could seem the best.
"""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from babelquake.attacks.attack import Check
from babelquake.attacks.constraints import Constraint, QualityRise
from babelquake.attacks.goal import Goal
from babelquake.attacks.moves import Attach
from babelquake.attacks.recipes import Tools, Universal, recipe
from babelquake.attacks.requests import AttackModels
from babelquake.attacks.search import once
from babelquake.attacks.victim import Scale
from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.languages import sides
from babelquake.randomness import Stream
from babelquake.runs.tables import FOLDER, Journal
from babelquake.scorers import Scorer, scorer
from babelquake.spec import Spec
from babelquake.studies.attack import AttackOptions
from babelquake.studies.attack.models import Models, stop_words, tags
from babelquake.studies.attack.searching import SCHEMA, Plan, attacked, judged
from babelquake.studies.card import Session
from babelquake.studies.cells import grouped
from babelquake.systems import System
from babelquake.text import TOKEN, digest

FIXED = ("Translation complete.", "(verified)", "!", ".", '"', "**", "Yes.", "accurate", "correct", "score: 100")
"""What is tried beside the words of the data."""


@dataclass(frozen=True)
class Trigger:
    """What was found."""

    text: str
    rise: float
    """Mean rise on the sentences it was searched on, in standard deviations."""
    queries: int
    sentences: int


def halves(segments: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sentences to search on and sentences to measure on; translations of one source are all on one side."""
    named = segments.select(pl.coalesce("source", "id"))["source"].to_list()
    searched = pl.Series([Stream(seed, "universal", name).chance(0.5) for name in named], dtype=pl.Boolean)
    first, second = segments.filter(searched), segments.filter(~searched)
    if first.is_empty() or second.is_empty():
        raise UserError("universal-suffix and universal-prefix need sentences of several sources: one half each.")
    return first, second


def search(
    engine: Engine, victim: Scorer, scale: Scale, segments: pl.DataFrame, wanted: Universal, seed: int
) -> Trigger:
    """The text that raises the mean score of some sentences most."""
    order = Stream(seed, "universal", victim.name).shuffled(range(segments.height))
    some = segments[order[: wanted.sentences]]
    texts = some["translation"].to_list()
    pool = _pool(segments, wanted.pool)
    before = judged(engine, victim, some, texts)
    scored = np.isfinite(before)

    def rise(trigger: str) -> float:
        """The mean over the sentences that have a score, in standard deviations."""
        after = judged(engine, victim, some, [joined(text, trigger, wanted.at_start) for text in texts])
        return float(np.nan_to_num((after - before) / scale.sd)[scored].sum() / max(scored.sum(), 1))

    queries = len(texts)
    best, chosen, found = -float("inf"), "", ""
    for _ in range(wanted.words):
        longer = [joined(found, word, wanted.at_start).strip() for word in pool]
        tried = {trigger: rise(trigger) for trigger in longer}
        queries += len(tried) * len(texts)
        found = max(tried, key=lambda trigger: tried[trigger])
        if tried[found] > best:
            best, chosen = tried[found], found
    return Trigger(chosen, best, queries, len(texts))


def most_questions(wanted: Universal, sentences: int) -> int:
    """What the search asks at most; half of the sentences are drawn for it, more or less."""
    return min(wanted.sentences, sentences) * (1 + wanted.words * wanted.pool)


def joined(text: str, trigger: str, at_start: bool) -> str:
    """A text with the trigger."""
    return text if not trigger else f"{trigger} {text}" if at_start else f"{text} {trigger}"


def _pool(segments: pl.DataFrame, size: int) -> Sequence[str]:
    """The commonest words of translations and references, and what is tried always."""
    texts = segments["translation"].to_list()
    if "references" in segments.columns:
        texts += [text for some in segments["references"].to_list() for text in some or ()]
    counted = Counter(found.group() for text in texts for found in TOKEN.finditer(text or ""))
    common = [word for word, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]
    return [*dict.fromkeys((*FIXED, *common))][: max(size, 1)]


def attackable(data: Dataset, text: str, needed: Collection[str]) -> Dataset:
    """The data without segments whose `text` is blank, and without those that lack what a victim needs; counted."""
    lacking = pl.col(text).fill_null("").str.strip_chars() == ""
    for name in needed:
        column = pl.col("references" if name == "reference" else name)
        lacking |= column.is_null() if name != "reference" else column.list.drop_nulls().list.len().fill_null(0) == 0
    gone = data.segments.filter(lacking)
    if gone.is_empty():
        return data
    what = " or ".join(dict.fromkeys([text, *sorted(needed)]))
    said = f"{gone.height} of {len(data)} segments have no {what}"
    if gone.height == len(data):
        raise UserError(f"{data.name}: {said}: there is nothing to attack.")
    notes = (*data.notes, f"{data.name}: {said} and are left out, the first {gone['id'][0]}.")
    return replace(data, segments=data.segments.filter(~lacking), preferences=None, uncut=None, notes=notes)


def sampled(segments: pl.DataFrame, size: int | None, stratify: Sequence[str], seed: int) -> pl.DataFrame:
    """`size` segments, as evenly as possible over the values of the given columns together; all where size is None.

    The smallest strata give what they have and the others share the rest; where there are more strata than segments
    wanted, those that give one are drawn. Which segments are drawn depends on the segments and the seed alone, not on
    their order in the file. They keep that order.
    """
    if size is None or size >= segments.height:
        return segments
    if size < 1:
        raise UserError(f"{setting('sample', size)}: at least one sentence must be attacked.")
    keys = segments.select(stratify).rows() if stratify else [()] * segments.height
    strata = grouped(range(segments.height), lambda row: keys[row])
    sizes = {key: len(rows) for key, rows in strata.items()}
    shares = _shares(sizes, size) if size >= len(sizes) else _few(sizes, size, seed)
    drawn: list[int] = []
    for key, rows in strata.items():
        names = segments[rows].select("id", "system", "translation", "source").rows()
        order = sorted(range(len(rows)), key=lambda place: Stream(seed, "sample", *names[place]).random())
        drawn += [rows[place] for place in order[: shares[key]]]
    return segments[sorted(drawn)]


def column_of(name: str, segments: pl.DataFrame, option: str) -> str:
    """A column by whose values segments are told apart, or what is wrong with its name."""
    known = [column for column in segments.columns if not segments[column].dtype.is_nested()]
    if name not in known:
        raise UserError(f"{setting(option, name)}: the data have no such column. {did_you_mean(name, known)}")
    return name


def _shares(sizes: dict[tuple[object, ...], int], wanted: int) -> dict[tuple[object, ...], int]:
    """How many each stratum gives: the smallest first, each an equal part of what is still wanted."""
    shares = {}
    order = sorted(sizes, key=lambda key: (sizes[key], str(key)))
    for done, key in enumerate(order):
        shares[key] = min(sizes[key], wanted // (len(order) - done))
        wanted -= shares[key]
    return shares


def _few(sizes: dict[tuple[object, ...], int], wanted: int, seed: int) -> dict[tuple[object, ...], int]:
    """One each of as many strata as are wanted, drawn so that no name comes first."""
    order = sorted(sizes, key=lambda key: Stream(seed, "strata", *map(str, key)).random())
    return {key: int(place < wanted) for place, key in enumerate(order)}


OWN = frozenset({*SCHEMA, "tuple", "victim", "recipe", "goal"} - {"row"})
"""Columns of the table of attacks; a column of the data with such a name, like the human `score`, becomes `data_…`."""


def of_data(column: str) -> str:
    """What a column of the data is called in the table of attacks."""
    return f"data_{column}" if column in OWN else column


@dataclass(frozen=True)
class Target:
    """Who is attacked: a scorer, or a system for each language pair."""

    name: str
    scorer: Scorer | None
    systems: Mapping[str | None, System]

    @property
    def signature(self) -> str:
        """How the systems translate, each pair's where they differ."""
        return "+".join(dict.fromkeys(system.signature for system in self.systems.values()))


@dataclass(frozen=True)
class Campaign:
    """Everything that all attacks of a run share."""

    goal: Goal
    constraints: tuple[Constraint, ...]
    models: Models
    options: AttackOptions
    seconds: float | None
    """How long it may take."""

    def run(
        self,
        session: Session,
        targets: Sequence[Target],
        recipes: Sequence[Spec],
        segments: pl.DataFrame,
        scales: Mapping[str, Scale],
    ) -> pl.DataFrame:
        """One row per sentence, victim and recipe."""
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        parts = []
        for target in targets:
            scale = scales.get(target.name)
            parts += [self._cell(session, target, spec, segments, scale, deadline) for spec in recipes]
            if len(targets) > 1 and target.scorer:
                target.scorer.close()
        return pl.concat(parts)

    def _cell(
        self,
        session: Session,
        target: Target,
        spec: Spec,
        segments: pl.DataFrame,
        scale: Scale | None,
        deadline: float | None,
    ) -> pl.DataFrame:
        name = digest([target.name, str(spec)])
        journal = Journal(session.run.folder / FOLDER / "attacks" / f"{name}.jsonl")
        parts = []
        for (pair,), part in segments.group_by("language_pair", maintain_order=True):
            plan = self._plan(target, spec, None if pair is None else str(pair), scale)
            made, wanted = plan.recipe, plan.recipe.universal
            if wanted is not None and target.scorer is not None and scale is not None:
                attach, part = self._for_all(session, target.scorer, scale, made.name, wanted, part)
                plan = replace(plan, recipe=replace(made, moves=(attach,), search=once))
            found = attacked(
                session.engine,
                plan,
                part.to_dicts(),
                journal,
                label=f"{spec.name} against {target.name.partition('[')[0]}",
                width=self.options.pool,
                deadline=deadline,
            )
            parts.append(part.rename(of_data).join(found, on="row", how="inner", maintain_order="left"))
        cell = pl.concat(parts).with_columns(
            victim=pl.lit(target.name), recipe=pl.lit(str(spec)), goal=pl.lit(self.goal.name)
        )
        named = pl.concat_str("id", "system", "victim", "recipe", separator="|", ignore_nulls=True)
        return cell.select(named.alias("tuple"), pl.all())

    def _for_all(
        self, session: Session, victim: Scorer, scale: Scale, name: str, wanted: Universal, segments: pl.DataFrame
    ) -> tuple[Attach, pl.DataFrame]:
        """Attaching the one text that was found on half of the segments, and the other half."""
        searched, held_out = halves(segments, self.options.seed)
        trigger = search(session.engine, victim, scale, searched, wanted, self.options.seed)
        rise = f"{trigger.rise:+.2f} standard deviations".replace("-", "−")
        said = f"“{trigger.text}” ({rise})" if trigger.rise > 0 else f"nothing better than “{trigger.text}” ({rise})"
        session.say(
            f"{name} against {victim.name} found {said} with {trigger.queries} questions on "
            f"{trigger.sentences} sentences; measured on {held_out.height} others."
        )
        return Attach(trigger.text, wanted.at_start), held_out

    def _order(self, target: Target, pair: str | None) -> Check:
        """When costly constraints are looked at: before questions that cost money, else after."""
        if self.options.check != "auto":
            return self.options.check
        victim = target.scorer or target.systems.get(pair)
        return "before" if getattr(victim, "remote", False) else "after"

    def _plan(self, target: Target, spec: Spec, pair: str | None, scale: Scale | None) -> Plan:
        source, translated = sides(pair)
        language = source if self.goal.on_system else translated
        models = self.models
        tools = Tools(models.neighbours, tags(language), self.options.seed, models.strict)
        others = [scorer(limit.scorer) for limit in self.constraints if isinstance(limit, QualityRise)]
        if len(others) > 1:
            raise UserError(f"{setting('constraints', 'quality')}: name one metric that must not rise.")
        asked = AttackModels(
            causal=models.fluency,
            masked=models.masked,
            encoder=models.similarity,
            system=target.systems.get(pair),
            chrf=scorer("chrf") if self.goal.on_system else None,
            judge=others[0] if others else None,
        )
        return Plan(
            goal=self.goal,
            recipe=recipe(spec, tools),
            constraints=tuple(
                replace(limit, sign=others[0].sign) if isinstance(limit, QualityRise) else limit
                for limit in self.constraints
            ),
            stop_words=stop_words(language),
            models=asked,
            scorer=target.scorer,
            scale=scale,
            check=self._order(target, pair),
            max_queries=self.options.max_queries,
        )


RENDERINGS = "renderings"
"""The table of what attacked systems make of the sources that were found."""
RENDERING_COLUMNS = {"tuple": pl.String, "rendering": pl.String, "rendering_perturbed": pl.String}


def renderings(engine: Engine, targets: Sequence[Target], attacks: pl.DataFrame) -> pl.DataFrame:
    """Of every eligible perturbation the translations of the original and of the perturbed source."""
    parts = [pl.DataFrame(schema=RENDERING_COLUMNS)]
    for target in targets:
        for pair, system in target.systems.items():
            mine = attacks.filter("success", victim=target.name).filter(
                pl.col("language_pair").eq_missing(pl.lit(pair))
            )
            both = engine.translate(system, [*mine["original"], *mine["perturbed"]])
            parts.append(
                mine.select("tuple").with_columns(
                    rendering=pl.Series(both[: mine.height], dtype=pl.String),
                    rendering_perturbed=pl.Series(both[mine.height :], dtype=pl.String),
                )
            )
    return pl.concat(parts)
