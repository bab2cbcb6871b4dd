"""All recipes against all victims: one victim after another, so that one model at a time is in memory."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from babelquake.attacks.attack import Check
from babelquake.attacks.constraints import Constraint, QualityRise
from babelquake.attacks.goal import Goal
from babelquake.attacks.recipes import Recipe, Tools, recipe
from babelquake.attacks.requests import AttackModels
from babelquake.attacks.victim import Scale
from babelquake.engine import Engine
from babelquake.errors import UserError, setting
from babelquake.languages import sides
from babelquake.runs.journal import Journal
from babelquake.runs.table_parts import FOLDER
from babelquake.scorers import Scorer, scorer
from babelquake.spec import Spec
from babelquake.studies.attack.languages import stop_words, tags
from babelquake.studies.attack.models import Models
from babelquake.studies.attack.searching import SCHEMA, Plan, attacked
from babelquake.studies.attack.universal import attaching, halves, search
from babelquake.studies.session import Session
from babelquake.systems import System
from babelquake.text import digest

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
    check: Check
    max_queries: int | None
    pool: int
    time_limit: float | None
    seed: int

    def run(
        self,
        session: Session,
        targets: Sequence[Target],
        recipes: Sequence[Spec],
        segments: pl.DataFrame,
        scales: Mapping[str, Scale],
    ) -> pl.DataFrame:
        """One row per sentence, victim and recipe."""
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
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
            if plan.recipe.universal is not None:
                chosen, part = self._for_all(session, target, plan.recipe, part, scale)
                plan = replace(plan, recipe=chosen)
            found = attacked(
                session.engine,
                plan,
                part.to_dicts(),
                journal,
                label=f"{spec.name} against {target.name.partition('[')[0]}",
                width=self.pool,
                deadline=deadline,
            )
            parts.append(part.rename(of_data).join(found, on="row", how="inner", maintain_order="left"))
        cell = pl.concat(parts).with_columns(
            victim=pl.lit(target.name), recipe=pl.lit(str(spec)), goal=pl.lit(self.goal.name)
        )
        named = pl.concat_str("id", "system", "victim", "recipe", separator="|", ignore_nulls=True)
        return cell.select(named.alias("tuple"), pl.all())

    def _for_all(
        self, session: Session, target: Target, found: Recipe, segments: pl.DataFrame, scale: Scale | None
    ) -> tuple[Recipe, pl.DataFrame]:
        """The recipe with the one text that it found on half of the segments, and the other half."""
        if found.universal is None or target.scorer is None or scale is None:
            raise UserError(f"{found.name} raises scores. Use it with {setting('goal', 'inflate')} and a scorer.")
        searched, held_out = halves(segments, self.seed)
        trigger = search(session.engine, target.scorer, scale, searched, found.universal, self.seed)
        rise = f"{trigger.rise:+.2f} standard deviations"
        said = f"“{trigger.text}” ({rise})" if trigger.rise > 0 else f"nothing better than “{trigger.text}” ({rise})"
        session.say(
            f"{found.name} against {target.name} found {said} with {trigger.queries} questions on "
            f"{trigger.sentences} sentences; measured on {held_out.height} others."
        )
        return attaching(found, trigger), held_out

    def _plan(self, target: Target, spec: Spec, pair: str | None, scale: Scale | None) -> Plan:
        source, translated = sides(pair)
        language = source if self.goal.on_system else translated
        models = self.models
        tools = Tools(models.neighbours, tags(language), self.seed, models.strict)
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
            check=self.check,
            max_queries=self.max_queries,
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
