"""The attack study: which small edits does a metric punish far too hard, or judge inconsistently? (Huang 2023)

Every victim is normalised over all of the data (§2.2); then every recipe searches perturbations of the sample, sentence
by sentence, under the goal's constraints. What is found is judged by the other victims too (transfer), and compared
with human ratings where there are any. With a system in place of a scorer, its sources are attacked.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.attacks.constraints import (
    Constraint,
    NewFailures,
    PerplexityRise,
    QualityRise,
    SelfSimilarity,
    constraint,
)
from babelquake.attacks.goal import Goal
from babelquake.attacks.goal import goal as goal_of
from babelquake.attacks.recipes import recipe_spec, universal
from babelquake.attacks.victim import Scale
from babelquake.data import Dataset, require
from babelquake.errors import UserError, setting
from babelquake.files import store_text
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import CANNOT_BE_TESTED, Measure, Results, Row, largest_first, values
from babelquake.runs.run import Run
from babelquake.scorers import Scorer, scorer
from babelquake.scorers.scores import Scores
from babelquake.spec import Spec, expand
from babelquake.studies.attack import AttackOptions
from babelquake.studies.attack.campaign import (
    RENDERINGS,
    Campaign,
    Target,
    attackable,
    column_of,
    most_questions,
    of_data,
    renderings,
    sampled,
)
from babelquake.studies.attack.measures import (
    JUDGE,
    NOTE,
    RATED,
    coverage,
    drops,
    human_measures,
    length_measures,
    placed,
    rated,
    ratings_table,
    stored_cells,
    success_measures,
    transfer_measures,
    transfer_table,
)
from babelquake.studies.attack.models import PAPER, Models, language_notes, pairs_of, taggers
from babelquake.studies.attack.searching import scales, scores_of, transfer_scores
from babelquake.studies.card import Session, Study
from babelquake.studies.judging import questions_about
from babelquake.studies.kinds import attack as kinds
from babelquake.studies.options import listed, takes
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import AnyScorer, AnySystem, references_each, scorers_of, several, systems_of
from babelquake.text import digest

FILE = "augmentation.jsonl"
KEPT = [
    "tuple",
    "id",
    "language_pair",
    "system",
    "source",
    "references",
    "original",
    "perturbed",
    "victim",
    "recipe",
    "goal",
    "score",
    "score_perturbed",
    "gain",
]
HUMAN = ("human", "human_perturbed")


def write_augmentation(folder: Path, attacks: pl.DataFrame, rated: pl.DataFrame | None = None) -> None:
    """Every eligible perturbation with its segment, its edits, its scores and constraint values.

    Where people rated it, their ratings of both sides too: what a learned metric should have said.
    """
    human = {} if rated is None else {name: both for name, *both in rated.select("tuple", *HUMAN).iter_rows()}
    lines = []
    for row in attacks.filter("success").iter_rows(named=True):
        line = {name: row[name] for name in KEPT}
        line |= dict(zip(HUMAN, human.get(row["tuple"], ()), strict=False))
        line["edits"], line["constraints"] = json.loads(row["edits"]), json.loads(row["constraints"])
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    store_text("".join(lines), folder / FILE)


def attack_findings(run: Run) -> list[Finding]:
    """Per victim the recipe that works best; then transfer, and what people say."""
    results = Results.of(run)
    rows = results.known("success", group=None)
    victims = [
        _victim(run, results, [row for row in rows if row["scorer"] == victim]) for victim in values(rows, "scorer")
    ]
    return [*victims, *_transfer(results), *_people(results)]


def _victim(run: Run, results: Results, rows: list[Row]) -> Finding:
    """How often the best recipe meets the goal; a victim that withstood all did so within the questions asked."""
    best = max(rows, key=lambda row: float(row["value"]))
    words = results.one("words_changed", scorer=best["scorer"], perturbation=best["perturbation"])
    numbers = [best, *(row for row in rows if row is not best)]
    numbers += [words] if words and words["value"] is not None else []
    facts: dict[str, float | str] = {"goal": str(run.info.config.get("goal", ""))}
    if (most := run.info.number("max_queries", 0)) > 0:
        facts["questions"] = most
    facts["errors"] = float(best["scorer"] in run.info.facts.lower_is_better)
    return Finding.on("fooled" if best["changed"] else "withstood", *numbers, weight="answer", facts=facts)


def _transfer(results: Results) -> Iterator[Finding]:
    """What fools one metric and another one too: where most, and where least."""
    rows = [row for row in results.known("transfer", perturbation=None) if row["other"] != row["scorer"] and row["n"]]
    if rows:
        rows = largest_first(rows)
        ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
        yield Finding.on("transfer", *ends)


def _people(results: Results) -> Iterator[Finding]:
    """In how many cells metrics go further than people, of those that can be tested."""
    for cells in results.where("cells_overpenalised"):
        few = sum(row["verdict"] == CANNOT_BE_TESTED for row in results.where("overpenalised"))
        yield Finding(what="further_than_people", numbers=(Number.of(cells),), facts={"untested": few})


ATTACK = Study(
    "attack",
    AttackOptions,
    question="Which small edits does this metric punish far too hard?",
    inputs=("source|translation",),
    measures=tuple(kinds),
    gated=("success",),
    alike=("goal",),
    cells=stored_cells,
    placed=placed,
    findings=attack_findings,
    plan=lambda options: plan(options),
)


@dataclass(frozen=True)
class AttackPlan(Plan):
    """What the attack study will do: every recipe searches every sentence of the sample against every target."""

    goal: Goal = field(default_factory=lambda: goal_of("overpenalise"))
    limits: tuple[Constraint, ...] = ()
    targets: Sequence[Target] = ()
    recipes: Sequence[Spec] = ()


def plan(options: AttackOptions) -> AttackPlan:
    """Judge all texts as they are, then attack the sample (Huang 2023 §2.2)."""
    data, goal = options.dataset(), goal_of(options.goal)
    limits = _constraints(options.constraints, goal)
    likened = any(limit.name == SelfSimilarity.name for limit in limits)
    scorers, targets = _victims(goal, options.victims, options.systems, data, likened)
    needed = set() if goal.on_system else {need for victim in scorers for need in victim.needs}
    data = attackable(data, "source" if goal.on_system else "translation", needed)
    limits = _quality_kept(limits, options.constraints is None, goal, scorers, data)
    recipes = [*dict.fromkeys(recipe_spec(spec) for text in listed(options.recipes) for spec in expand(text))]
    if not recipes:
        raise UserError(f"No recipe given. Use {setting('recipes', metavar='RECIPE')}, such as input-reduction.")
    for spec in recipes:
        if universal(spec) and not goal.keeps_quality:
            raise UserError(f"{spec} raises scores. Use it with {setting('goal', 'inflate')}.")
    sentences = len(data) if options.sample is None else min(options.sample, len(data))
    return AttackPlan(
        ATTACK.name,
        options,
        data,
        scorers,
        beside=lambda: [] if goal.on_system else [questions_about(data)],
        searches=sentences * len(recipes) * len(targets),
        shared_questions=_for_all(recipes, data, sentences) * len(targets),
        notes=data.notes,
        goal=goal,
        limits=limits,
        targets=targets,
        recipes=recipes,
    )


def _for_all(recipes: Sequence[Spec], data: Dataset, sentences: int) -> int:
    """What the searches for one text for all sentences ask a victim at most, each language pair separately."""
    pairs = data.segments["language_pair"].n_unique()
    searched = [found for spec in recipes if (found := universal(spec)) is not None]
    return pairs * sum(most_questions(found, sentences) for found in searched)


@takes(AttackOptions)
def attack(options: AttackOptions) -> Run:
    """Search perturbations that meet a goal, for every recipe and victim; shares, costs, lengths, transfer, humans.

    `constraints` replaces the goal's own (`perplexity[rise=10]` for overpenalise, `quality[scorer=chrf]` for inflate;
    "none" for none at all). Results do not depend on `pool`; `check` is explained in `attacks.attack`.
    """
    planned = plan(options)
    material, wanted, limits, specs = planned.data, planned.goal, planned.limits, planned.recipes
    scorers, targets = [*planned.scorers], planned.targets
    sample, max_queries, seconds = options.sample, options.max_queries, options.seconds
    said = None if options.ratings is None else ratings_table(options.ratings)
    split = "year" if options.by is None and "year" in material.segments.columns else options.by
    if split is not None:
        column_of(split, material.segments, "by")
    wished = [name.strip() for some in listed(options.stratify) for name in some.split(",") if name.strip()]
    strata = [*dict.fromkeys(column_of(name, material.segments, "stratify") for name in wished)]
    if strata and sample is None:
        raise UserError(
            f"{setting('stratify', ','.join(strata))} balances a sample. Give its size with {setting('sample')}."
        )
    models = Models(options, specs, limits, wanted.strict)
    with ATTACK.session(
        planned,
        recipes=[str(spec) for spec in specs],
        goal=wanted.signature,
        systems=[next(iter(target.systems.values())).identity for target in targets if target.systems],
        constraints=[limit.signature for limit in limits] or "none",
        **dict.fromkeys(PAPER) | models.options,
        stratify=",".join(strata),
        by=split,
    ) as session:
        session.attach(references_each(material.segments) if material.has("references") else 1)
        attacked = [(pair, one) for target in targets for pair, one in target.systems.items()]
        session.note_systems({(pair, one.name): one.signature for pair, one in attacked})
        made_with: dict[str, Any] = models.signatures | taggers(models, wanted, material)
        session.run.same_signatures(made_with)
        if session.finished and said is None:
            return session.run
        session.say(*material.notes, *_notes(models, limits, wanted), *language_notes(models, wanted, material))
        segments = material.segments.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
        if wanted.on_system:
            segments = segments.unique(["language_pair", "source"], keep="first", maintain_order=True)
        chosen = session.once("segments", lambda: sampled(segments, sample, strata, options.seed))
        known = {}
        if not wanted.on_system:
            scores = session.once("scores", lambda: scores_of(session.engine, scorers, segments))
            known = scales(scorers, scores)
        campaign = Campaign(wanted, limits, models, options, seconds)
        attacks = session.once("attacks", lambda: campaign.run(session, targets, specs, chosen, known))
        if ended := int(attacks["spent"].sum()):
            session.say(f"{setting('max_queries', max_queries)} ended {ended} of {attacks.height} searches early.")
        if wanted.on_system:
            session.once(RENDERINGS, lambda: renderings(session.engine, targets, attacks))
        column = split and of_data(split)
        compared = None if said is None else _compared(session, attacks, *said, wanted, column)
        write_augmentation(session.run.folder, attacks, compared)
        session.run.keep(FILE)
        measures = [*_measures(session, attacks, scorers, known, wanted, column, compared)]
        return session.finish(
            measures,
            extra_signatures={target.name: target.signature for target in targets if target.systems},
            goal=wanted.signature,
            constraint="+".join(limit.signature for limit in limits) or "none",
            **made_with,
            sample=sample,
            stratify="+".join(strata) or None,
            max_queries=max_queries,
        )


def _measures(
    session: Session,
    attacks: pl.DataFrame,
    scorers: Sequence[Scorer],
    known: dict[str, Scale],
    goal: Goal,
    by: str | None,
    compared: pl.DataFrame | None,
) -> Iterator[Measure]:
    yield from success_measures(attacks, by, goal.keeps_quality)
    if compared is not None:
        yield from human_measures(compared, by, session.seed, session.resamples)
    yield from length_measures(attacks, by, compared, session.seed)
    if len(scorers) > 1 and known and attacks["success"].any():
        found = attacks.filter("success")
        scored = session.once(
            "transfers",
            lambda: transfer_table(attacks, transfer_scores(session.engine, scorers, found, known, goal), goal),
        )
        yield from transfer_measures(scored)


def _compared(
    session: Session, attacks: pl.DataFrame, table: pl.DataFrame, where: str, goal: Goal, by: str | None
) -> pl.DataFrame:
    """What was found beside what people say of it, in place of ratings that joined before."""
    found = rated(attacks, table, where, goal)
    run = session.run
    run.info.notes = [note for note in run.info.notes if not note.startswith(NOTE)]
    run.info.signatures["ratings"] = f"{table.height} rows, {digest([table.write_csv()])}"
    session.say(coverage(attacks, table, found))
    run.path(RATED).unlink(missing_ok=True)
    session.once(RATED, lambda: drops(found, by))
    return found


def _victims(
    goal: Goal,
    victims: AnyScorer | Sequence[AnyScorer],
    systems: AnySystem | Sequence[AnySystem],
    data: Dataset,
    likened: bool,
) -> tuple[list[Scorer], list[Target]]:
    """The scorers of the run, and who is attacked; `likened`: whether victims tell how alike two texts are."""
    named: list[AnySystem] = several(systems)
    if goal.on_system:
        if not named:
            raise UserError(
                f"the goal collapse attacks translation systems. Use {setting('systems', metavar='SYSTEM')}."
            )
        judges: list[AnyScorer] = several(victims)
        if judges not in ([], [JUDGE]):
            raise UserError(f"the goal collapse attacks systems, which {JUDGE} judges. Leave {setting('victims')} out.")
        require(data, "source")
        made = systems_of(named, pairs_of(data))
        of_each = [dict(zip(made, group, strict=True)) for group in zip(*made.values(), strict=True)]
        return [scorer(JUDGE)], [Target(next(iter(each.values())).name, None, each) for each in of_each]
    if named:
        raise UserError(
            f"the goal {goal.name} attacks scorers. Use {setting('systems')} only with {setting('goal', 'collapse')}."
        )
    scorers = scorers_of(victims)
    for victim in scorers:
        require(data, "translation", *(sorted(victim.needs)))
        if isinstance(victim, Scores):
            raise UserError(f"{victim.name} are ready-made scores: they cannot judge the texts that a search makes.")
        if goal.name == "inconsistent" and "reference" not in victim.needs:
            raise UserError(
                f"{victim.name} does not compare with a reference, so it cannot be inconsistent. Use overpenalise."
            )
        if likened and "reference" not in victim.needs:
            raise UserError(
                f"{victim.name} does not compare with a reference, so {SelfSimilarity.name} cannot be measured."
            )
    return scorers, [Target(victim.name, victim, {}) for victim in scorers]


def _constraints(given: str | Sequence[str] | None, goal: Goal) -> tuple[Constraint, ...]:
    if given is None:
        return (PerplexityRise(),) if goal.fluent else ()
    named = [given] if isinstance(given, str) else [*given]
    limits = [text for text in named if text != "none"]
    if limits and limits != named:
        raise UserError(f"{setting('constraints')}: none and {limits[0]} exclude each other.")
    found = tuple(constraint(text) for text in limits)
    if any(limit.name == SelfSimilarity.name for limit in found) and (goal.on_system or goal.name == "inconsistent"):
        why = "has no metric to measure it with" if goal.on_system else "brings its own"
        raise UserError(f"{setting('constraints', SelfSimilarity.name)}: the goal {goal.name} {why}.")
    if goal.on_system and any(isinstance(limit, NewFailures) for limit in found):
        named_so = setting("constraints", NewFailures.name)
        raise UserError(f"{named_so}: the goal {goal.name} changes sources, not translations.")
    return found


def _quality_kept(
    limits: tuple[Constraint, ...], unsaid: bool, goal: Goal, scorers: Sequence[Scorer], data: Dataset
) -> tuple[Constraint, ...]:
    """With a goal that wants it and no constraint named: a string metric that is no victim must not rise.

    A metric that is named to keep the quality and is itself attacked would forbid every success.
    """
    victims = {victim.name for victim in scorers}
    for limit in limits:
        if isinstance(limit, QualityRise):
            if limit.scorer in victims:
                said = setting("constraints", limit.signature)
                raise UserError(f"{said}: {limit.scorer} is a victim. Use another metric.")
            require(data, *sorted(scorer(limit.scorer).needs))
        if isinstance(limit, NewFailures):
            require(data, "source")
    others = [name for name in ("chrf", "bleu", "ter") if name not in victims]
    if not (unsaid and goal.keeps_quality and others and data.has("references")):
        return limits
    return (*limits, QualityRise(others[0]))


def _notes(models: Models, limits: Sequence[Constraint], goal: Goal) -> list[str]:
    named = ", ".join(f"{which.partition('_')[0]} {name}" for which, name in models.options.items())
    limited = ", ".join(limit.signature for limit in limits) or "none beyond the recipes' own"
    notes = [f"Goal {goal.signature}; constraints: {limited}."]
    unused = [f"No recipe and no constraint of this run asks {name}." for name in models.unused]
    return [*notes, *([f"Models: {named}."] if named else []), *unused]
