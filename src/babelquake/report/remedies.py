"""What to do about it: what is known to help against what a run found, and what of it was measured."""

from collections.abc import Collection
from typing import NamedTuple

from babelquake.perturb.labels import known_card
from babelquake.report.names import KINDS, listed, results_of, scorer_text
from babelquake.report.pages import Advice
from babelquake.report.table import number
from babelquake.report.verdict import Names, percent, sentence_case
from babelquake.runs.measures import Results, Row, is_significant, values
from babelquake.runs.run import Run
from babelquake.studies.card import findings_of

MOST = 3
WORTH_NAMING = 0.1
"""The share of a loss that a defence must win back to be named as one that helps."""
BEHIND = " + "
"""Between a system and the defence it stands behind, in the name of the defended system."""


class Remedy(NamedTuple):
    """What helps against a family of perturbations, as its page in the documentation says."""

    title: str
    advice: str
    defence: str | None


REMEDIES = {
    "case": Remedy("Capitals", "restore the usual case before translating", "truecase"),
    "spelling": Remedy("Typos", "correct the spelling before translating, or train with noise", "spell"),
    "shape": Remedy("Unicode and spacing", "fold look-alike letters, odd spaces and marks before translating", "fold"),
    "punctuation": Remedy("Punctuation", "add a missing final mark and take it away afterwards", "final-mark"),
    "markup": Remedy("Markup", "put lost tags and placeholders back after translating", "repair"),
    "characters": Remedy("Broken words", "correct the spelling before translating", "spell"),
    "register": Remedy("Informal writing", "train on text written like that, or use a larger model", None),
    "injection": Remedy("Prompt injection", "check the output before it is used", None),
}
"""By the family on a perturbation's card; `docs/weaknesses/FAMILY.md` has the whole of it."""
BEFORE_SCORING = {
    "case": "score lower-cased text as well, and say which of the two you report",
    "shape": "normalise letters and spaces of translation and reference before scoring",
    "punctuation": "compare systems that end their sentences alike, or normalise the marks first",
    "spelling": "compare systems on text of the same kind: a typo costs more than it should",
    "characters": "compare systems on text of the same kind: a typo costs more than it should",
}
"""What helps a score that moves for a harmless change of a family."""


def against_noise(run: Run) -> list[Advice]:
    """The families whose loss is significant, the costliest first."""
    results = results_of(run)
    rows = [row for row in results.known("delta", group=None) if known_card(row["perturbation"] or "")]
    rows = [row for row in rows if row["system"] is not None]
    if not rows:
        return []
    scorer, pair = rows[0]["scorer"], rows[0]["language_pair"]
    here = [row for row in rows if row["scorer"] == scorer and row["language_pair"] == pair]
    plain = [row for row in here if BEHIND not in row["system"]] or here
    lost: dict[str, Row] = {}
    for row in sorted(plain, key=lambda row: row["value"]):
        card = known_card(row["perturbation"])
        if row["value"] < 0 and is_significant(row) and card is not None and card.family in REMEDIES:
            lost.setdefault(card.family, row)
    recommended = {finding.facts["chain"] for finding in findings_of(run) if finding.what == "defence_helps"}
    return [_advice(family, row, here, results, recommended) for family, row in list(lost.items())[:MOST]]


def _advice(family: str, row: Row, rows: list[Row], results: Results, recommended: Collection[object]) -> Advice:
    """The defence that the run recommends where it helps, else the one that won back most."""
    remedy = REMEDIES[family]
    loss = f"−{number(-row['value'], 1 if results.digits(row['scorer'], 1) == 1 else 3)} {scorer_text(row['scorer'])}"
    found = sorted(_won_back(row, rows), reverse=True)
    found.sort(key=lambda one: one[0] < WORTH_NAMING or one[1] not in recommended)
    share, best = found[0] if found else (0.0, "")
    helped = share >= WORTH_NAMING
    measured = f"--defence {best} won back {percent(100 * share)}" if helped else ""
    if found and not helped:
        measured = f"Measured: {', '.join(chain for _, chain in found)} did not help."
    tried = {part.partition("[")[0] for _, chain in found for part in chain.split("+")}
    untried = f"--defence {remedy.defence}" if remedy.defence and remedy.defence not in tried and not helped else ""
    page = f"docs/weaknesses/{family}.md"
    return Advice(remedy.title, loss, sentence_case(remedy.advice), measured, helped, untried, page)


def _won_back(row: Row, rows: list[Row]) -> list[tuple[float, str]]:
    """What share of the loss each defence of the same system undid."""
    cell = [other for other in rows if (other["perturbation"], other["level"]) == (row["perturbation"], row["level"])]
    defended = {name: name.partition(BEHIND) for name in values(cell, "system") if BEHIND in name}
    by_name = {other["system"]: other["value"] for other in cell}
    return [
        (1 - by_name[name] / row["value"], chain)
        for name, (system, _, chain) in defended.items()
        if system == row["system"] and chain != "none"
    ]


def about_scorers(run: Run) -> list[Advice]:
    """For whoever relies on these scores: the harmless changes that move them, the harmful ones they do not see."""
    findings = findings_of(run)
    names = Names(findings)
    found: dict[str, Advice] = {}
    for finding in findings:
        who = names.who(finding.who)
        if finding.what == "harmless_moves" and finding.test is not None and finding.test.significant:
            card = known_card(finding.test.perturbation or "")
            if card is not None and card.family in BEFORE_SCORING:
                label = sentence_case(names.label(finding.test))
                found.setdefault(card.family, Advice(label, "", sentence_case(BEFORE_SCORING[card.family])))
        elif finding.what == "rewards_harmful":
            label = names.label(finding)
            found.setdefault("rewards", Advice(f"{who} alone is not enough", "", f"{SECOND}: it rewards {label}"))
        elif finding.what == "warnings":
            found.setdefault("blind", Advice(f"{who} alone is not enough", "", f"{SECOND}; flags are listed below"))
        elif finding.what == "pitfalls" and finding.numbers:
            worst = finding.numbers[0]
            key, advice = _pitfall(run, worst.perturbation or "")
            found.setdefault(key, Advice(sentence_case(names.label(worst)), f"fails: {who}", sentence_case(advice)))
    return list(found.values())[:MOST]


def _pitfall(run: Run, change: str) -> tuple[str, str]:
    """What kind of pitfall it is, and what helps: a harmless change, length alone, or one that harms."""
    expected, card = run.info.facts.expectations.get(change), known_card(change)
    rule = expected.rule if expected else ""
    if rule == "same":
        family = card.family if card is not None and card.family in BEFORE_SCORING else "shape"
        return family, BEFORE_SCORING[family]
    return rule, PITFALLS.get(rule, CHECK)


CHECK = "look for failures too with babelquake check, or use a scorer that passes"
PITFALLS = {"not below": "score sentence by sentence, or compare texts of like length"}
"""What helps by what is expected of an ideal scorer."""


SECOND = "Look for failures too with babelquake check, or use a second scorer"
ONE_SCORE = ("Do not decide by single sentences", "", "Average over many: an edit moves one score, hardly a mean")
REWARD = (
    "Do not optimise for it alone",
    "",
    "Reranking and training find such texts too; metric --best-of shows how soon",
)
READ_FIRST = (
    "Read the edits first",
    "",
    "Some change the meaning and deserve the lower score; people decide: babelquake annotate prepare --from RUN",
)


def against_attacks(run: Run) -> list[Advice]:
    """For whoever relies on a metric that small edits fool."""
    findings = findings_of(run)
    names = Names(findings)
    victims = [finding for finding in findings if finding.what == "fooled"]
    if not victims:
        return []
    goal = str(victims[0].facts["goal"]).partition("[")[0]
    if goal == "collapse":
        found = [Advice("Typos", "", "Correct the spelling before translating, or train with noise: see defences")]
    else:
        found = [Advice(*(REWARD if goal == "inflate" else ONE_SCORE))]
    if goal == "overpenalise" and run.info.options.get("ratings") is None:
        found.insert(0, Advice(*READ_FIRST))
    for finding in findings:
        if finding.what == "transfer" and (least := finding.numbers[-1]).value is not None:
            share = f"{percent(least.known)} of what fools {names.who(least.scorer)} fools {names.who(least.other)}"
            found.append(Advice("Look at a second metric", "", share))
    if (run.folder / "augmentation.jsonl").is_file():
        found.append(
            Advice("Train against it", "", "augmentation.jsonl in the run folder has the edits as training data")
        )
    return found


def about_failures(run: Run) -> list[Advice]:
    """For the commonest kinds of failure what is known to help."""
    found: dict[str, Advice] = {}
    for finding in findings_of(run):
        for key, count in finding.facts.items():
            kind = KINDS.get(key.removeprefix("kind:"))
            if key.startswith("kind:") and kind is not None:
                title, often = sentence_case(kind.label), f"{int(count):,} translations"
                found.setdefault(title, Advice(title, often, sentence_case(kind.remedy)))
    return list(found.values())[:MOST]


def about_agreement(run: Run) -> list[Advice]:
    """Which scorer to use, where that could be decided."""
    findings = findings_of(run)
    names = Names(findings)
    found = []
    for finding in findings:
        if finding.what == "agrees_best" and finding.numbers[1:]:
            first, second = (names.who(one.scorer) for one in finding.numbers[:2])
            if finding.outcome == "significant":
                found.append(Advice(f"Use {first}", "", "For texts and systems like these it follows people best"))
            else:
                more = "More rated translations may separate them; robustness may decide: babelquake metric"
                found.append(Advice(f"{first} or {second}", "", more))
    worse = [names.who(finding.who) for finding in findings if finding.what == "agrees_less"]
    if worse:
        found.append(
            Advice(f"Do not rank by {listed(worse, 3)}", "", "People and these scores differ significantly more")
        )
    return found[:MOST]
