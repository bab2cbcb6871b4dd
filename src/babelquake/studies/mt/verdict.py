"""What an MT run found: who is best under noise, what costs most, what could not be tested.

Quality comes first. Of a system that is no better than copying the source, or than one sentence for everything, nothing
is said but that: such a system loses nothing under noise because it has nothing to lose.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from babelquake.languages import sides
from babelquake.perturb.labels import REPEAT, changed_by, known_card
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import Results, Row, apart, distinct, largest_first, values
from babelquake.runs.run import Run
from babelquake.studies.cells import LEAST_CHANGED


def _obeys(results: Results, pair: str | None) -> Iterator[Finding]:
    """The form of instruction that a system obeys most, the others after it, with what it translated all the same."""
    for _, rows in apart(results.known("obeyed", language_pair=pair), "system"):
        mine = largest_first(rows)
        yield _on("obeys", *mine, results.beside(mine[0], "translated"), weight="answer")


def _prompts_matter(results: Results, pair: str | None) -> Iterator[Finding]:
    """Whether scores vary more with the prompt or with the source; decided where the intervals do not meet."""
    for _, rows in apart(results.known("sd_prompts", language_pair=pair), "system"):
        prompts = rows[0]
        sources = results.beside(prompts, "sd_sources")
        if sources is None:
            continue
        one, other = Number.of(prompts), Number.of(sources)
        known = None not in (one.low, one.high, other.low, other.high)
        more = "undecided"
        if known and (one.high or 0) < (other.low or 0):
            more = "source"
        elif known and (one.low or 0) > (other.high or 0):
            more = "prompt"
        yield _on("prompts_matter", prompts, sources, weight="answer", facts={"more": more})


def _agrees_with_itself(results: Results, pair: str | None) -> Iterator[Finding]:
    """How far a system asked again says the same, and under which perturbations it says less of it."""
    rows = results.known("self_agreement", language_pair=pair)
    for system, scorer in distinct(rows, "system", "scorer")[: len(values(rows, "system"))]:
        own = next(row for row in rows if (row["system"], row["scorer"]) == (system, scorer))
        below = results.known("consis_beyond_noise", language_pair=pair, system=system, scorer=scorer)
        yield _on("agrees_with_itself", own, *sorted(below, key=lambda row: float(row["value"])), weight="answer")


def changed_in(run: Run, results: Results) -> str:
    """What a run perturbs, in its perturbations' words or, of a prompt, in its own."""
    if run.info.options.get("side") == "prompt":
        return "prompt"
    return changed_by(label for label in values(results.where("consis", "delta"), "perturbation") if label)


NEAR = 0.05
"""A system is near a baseline where it has come no farther than this share of the way from there to 100."""
RIGHT = 95.0
"""Where a copy scores as high as this, copying is right, and nobody can be far above it."""
MOSTLY = 50.0
"""Per cent of translations from which a system that gives back the source, or always the same, does not translate."""
MOST = 3
"""Perturbations whose damage is reported, the worst first."""
BASELINES = ("baseline_copy", "baseline_constant")
Key = dict[str, Any]
OVERALL = ("overall_quality_perturbed", "overall_quality", "overall_robust")
NOWHERE: Key = {"perturbation": None, "level": None}
"""Of a finding about several perturbations."""


def mt_findings(run: Run) -> list[Finding]:
    """Per language pair: systems that do not translate, the best under noise, losses, what cannot be told."""
    everything = Results.of(run).whole
    defended = set(values(everything.where("clean_change", "gain"), "system"))
    results = Results(row for row in everything.rows if row["system"] not in defended)
    found: list[Finding] = []
    for pair in values(results.where("consis", "delta"), "language_pair"):
        alarms = [*_near_baselines(results, pair), *_always_same(results, pair)]
        useless = {str(finding.who) for finding in alarms}
        changed = changed_in(run, results)
        found += [*alarms, *_about(results, pair, useless, changed), *_obeys(results, pair)]
        found += [*_prompts_matter(results, pair), *_agrees_with_itself(results, pair)]
        found += _inconsistency(results, pair, useless, run.info.number("threshold", 75))
        found += _failures(results, pair, useless)
        found += _defences(everything, pair, run.info.number("margin", 0.2))
    return found


def _defences(results: Results, pair: str | None, margin: float) -> Iterator[Finding]:
    """Per system the defence to recommend: the largest significant gain of those that cost clean text nothing."""
    rows = results.known("overall_gain", language_pair=pair)
    for scorer, bare in distinct(rows, "scorer", "other")[: len(values(rows, "other"))]:
        gains = largest_first(row for row in rows if (row["scorer"], row["other"]) == (scorer, bare))
        helping = [
            row
            for row in gains
            if row["value"] > 0
            and Number.of(row).significant
            and (left := results.beside(row, "clean_margin")) is not None
            and Number.of(left).significant
        ]
        best = (helping or gains)[0]
        told = ("overall_gain", "overall_recovered", "clean_change", "clean_margin")
        facts: dict[str, str | float] = {
            "margin": margin,
            "system": str(bare),
            "chain": str(best["system"]).removeprefix(f"{bare} + "),
        }
        if best is not gains[0]:
            stronger = str(gains[0]["system"]).removeprefix(f"{bare} + ")
            facts |= {"stronger": stronger, "stronger_gain": float(gains[0]["value"])}
        what = "defence_helps" if helping else "no_defence_recommended"
        yield _on(what, *_known(results, [best], told), test=best, weight="answer", facts=facts)


def _near_baselines(results: Results, pair: str | None) -> Iterator[Finding]:
    """Systems whose clean quality, by chrF, is about that of a copy or of one sentence for everything.

    Of a handful of segments nothing is said: there one reference is a good translation of much of the data.
    """
    key: Key = {"language_pair": pair, "scorer": "chrf"}
    others = results.known(*BASELINES, **key)
    for row in results.known("baseline_system", **key):
        if row["n"] < LEAST_CHANGED:
            continue
        known = [other for other in others if other["value"] < RIGHT]
        reached = [one for one in known if row["value"] <= one["value"] + NEAR * (100 - one["value"])]
        if reached:
            highest = max(reached, key=lambda other: float(other["value"]))
            yield _on("near_baseline", row, highest, *(one for one in others if one is not highest), weight="alarm")


def _always_same(results: Results, pair: str | None) -> Iterator[Finding]:
    """Where no references tell quality: systems most of whose translations are the source, or one and the same."""
    source, target = sides(pair)
    for row in results.known("source_again", "always_same", language_pair=pair):
        rewrites = source is not None and source == target
        if row["value"] >= MOSTLY and row["n"] >= LEAST_CHANGED and not rewrites:
            yield _on("no_translation", row, weight="alarm")


def _about(results: Results, pair: str | None, useless: set[str], changed: str) -> list[Finding]:
    """`changed` is what was perturbed: the source, the prompt, or the source by instructions inside it."""
    measure = next((name for name in ("delta", "consis") if results.known(name, language_pair=pair)), None)
    if measure is None:
        return []
    scorer = values(results.known(measure, language_pair=pair), "scorer")[0]
    rows = [
        row
        for row in results.known(measure, language_pair=pair, scorer=scorer, group=None)
        if row["system"] not in useless and row["level"] != 0 and row["perturbation"] != REPEAT
    ]
    key: Key = {"language_pair": pair, "scorer": scorer}
    found = [*_best(results, key, useless, changed)]
    if measure == "delta":
        found += _losses(results, rows, key)
    return found


def _best(results: Results, key: Key, useless: set[str], changed: str) -> Iterator[Finding]:
    """The system with the highest quality under the suite, or where no references are, the most consistent."""
    name = "overall_quality_perturbed"
    if not (rows := results.known(name, **key)):
        yield from _most_consistent(results, key, useless, changed)
        return
    first, *others = largest_first(rows)
    if first["system"] in useless:
        return
    ordered = [first, *(row for row in others if row["system"] not in useless)]
    test = None
    if len(ordered) > 1:
        test = results.between(name, "system", first["system"], ordered[1]["system"], **key)
    what = "best_under_noise" if len(ordered) > 1 else "under_noise"
    yield _on(what, *_known(results, ordered, OVERALL), test=test, weight="answer", facts={"changed": changed})


def _most_consistent(results: Results, key: Key, useless: set[str], changed: str) -> Iterator[Finding]:
    rows = largest_first(row for row in results.known("overall_consis", **key) if row["system"] not in useless)
    if rows:
        ends = [row["system"] for row in rows[:2]]
        test = results.between("overall_consis", "system", *ends, **key) if len(ends) > 1 else None
        yield _on("most_consistent", *rows, test=test, weight="answer", facts={"changed": changed})


def _on(what: str, *rows: Row | None, **more: Any) -> Finding:
    """A finding about the system of the first row."""
    return Finding.on(what, *rows, of="system", **more)


def _known(results: Results, rows: Iterable[Row], measures: Iterable[str]) -> list[Row]:
    """What is known of these measures, row by row."""
    beside = (results.beside(row, measure) for row in rows for measure in measures)
    return [row for row in beside if row is not None and row["value"] is not None]


def _losses(results: Results, rows: list[Row], key: Key) -> Iterator[Finding]:
    """The most damaging perturbations; those without a significant loss; those that could not be tested."""
    cells = [_at_usual_level(rows, name) for name in values(rows, "perturbation")]
    few = [some for some in cells if any(_too_few(row) for row in some)]
    told = [some for some in cells if some not in few]
    lossy = [some for some in told if any(_loses(row) for row in some)]
    lossy.sort(key=lambda some: min(float(row["value"]) for row in some))
    for some in lossy[:MOST]:
        yield _loss(results, some, key, [row for row in rows if row["perturbation"] == some[0]["perturbation"]])
    if quiet := [some for some in told if some not in lossy]:
        yield _on("no_significant_loss", *(row for some in quiet for row in some), **NOWHERE)
    if few:
        yield _on("too_few", *(row for some in few for row in some), **NOWHERE)


def _loss(results: Results, rows: Sequence[Row], key: Key, levels: Sequence[Row]) -> Finding:
    """Of one perturbation: what each system loses, the worst first, and whether the worst and the best differ.

    Of all `levels` that were tried, the one that costs the first system more is named beside the usual one.
    """
    ordered = sorted(rows, key=lambda row: float(row["value"]))
    worst, best = ordered[0], ordered[-1]
    numbers = _known(results, ordered, ("delta", "robust", "quality", "quality_perturbed"))
    place = {name: worst[name] for name in ("perturbation", "level")}
    numbers += results.known("achieved_words", language_pair=worst["language_pair"], **place, group=None)
    test: Row | None = worst
    if len(ordered) > 1:
        here = place | key
        measure = "robust" if results.beside(worst, "robust") is not None else "delta"
        test = results.between(measure, "system", worst["system"], best["system"], **here)
    return _on("loss", *numbers, test=test, facts=_deeper(results, worst, levels))


def _deeper(results: Results, row: Row, levels: Sequence[Row]) -> dict[str, float | str]:
    """The level at which a system loses most, where that is more than at the one spoken of, and what it loses there."""
    mine = [one for one in levels if one["system"] == row["system"] and _loses(one) and not _too_few(one)]
    deepest = min(mine, key=lambda one: float(one["value"]), default=row)
    if deepest["value"] >= row["value"]:
        return {}
    share = results.beside(deepest, "robust")
    known = share is not None and share["value"] is not None
    lost = 100 - float(share["value"]) if share is not None and known else -float(deepest["value"])
    return {"deeper_level": float(deepest["level"]), "deeper_lost": lost}


def _at_usual_level(rows: Sequence[Row], perturbation: str) -> list[Row]:
    """The rows of a perturbation at the level nearest to its paper's, or the middle one."""
    here = [row for row in rows if row["perturbation"] == perturbation]
    levels = sorted({row["level"] for row in here if row["level"] is not None})
    if not levels:
        return here
    card = known_card(perturbation)
    usual = levels[len(levels) // 2] if card is None or card.level is None else card.level
    level = min(levels, key=lambda level: abs(level - usual))
    return [row for row in here if row["level"] == level]


def _too_few(row: Row) -> bool:
    """Whether a cell is too small to be spoken of: no test could decide, or too few segments were changed."""
    number = Number.of(row)
    return not number.tested or (number.changed is not None and number.changed < LEAST_CHANGED)


def _loses(row: Row) -> bool:
    return bool(row["value"] < 0 and Number.of(row).significant)


def _inconsistency(results: Results, pair: str | None, useless: set[str], threshold: float) -> Iterator[Finding]:
    rows = [
        row
        for row in results.known("inconsistent", language_pair=pair)
        if row["value"]
        and row["level"] != 0
        and row["system"] not in useless
        and (row["n"] or 0) >= LEAST_CHANGED
        and row["perturbation"] != REPEAT
    ]
    if rows:
        yield _on("least_consistent", max(rows, key=lambda row: float(row["value"])), facts={"threshold": threshold})


def _failures(results: Results, pair: str | None, useless: set[str]) -> Iterator[Finding]:
    """The kind of failure that a perturbation makes most frequent, where the rise is significant."""
    rows = [
        row
        for row in results.known("failures_delta", language_pair=pair)
        if row["scorer"] != "any" and row["value"] > 0 and row["system"] not in useless and Number.of(row).significant
    ]
    if rows:
        worst = max(rows, key=lambda row: float(row["value"]))
        noisy = results.beside(worst, "failures")
        key = {name: worst[name] for name in ("language_pair", "system", "scorer")}
        clean = results.one("failures", **key, perturbation=None)
        facts = {"kind": worst["scorer"], "kinds": len({row["scorer"] for row in rows})}
        yield _on("failures_rise", worst, clean, noisy, test=worst, scorer=None, facts=facts)
