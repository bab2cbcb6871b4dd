"""What to do about it: for the families of noise that cost most, what is known to help and what was measured."""

from typing import NamedTuple

from babelquake.perturb.labels import known_card
from babelquake.report.results import results_of, scorer_text
from babelquake.report.table import number
from babelquake.report.verdict import percent, sentence_case
from babelquake.runs.results import Results, Row, is_significant, values
from babelquake.runs.run import Run

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


class Advice(NamedTuple):
    """One line of what to do."""

    title: str
    loss: str
    advice: str
    measured: str
    """What the best of the defences that were run won back; empty where none was."""
    helped: bool
    """Whether that is worth naming."""
    untried: str
    """The option that would measure the usual remedy; empty where it was measured or something else helped."""
    page: str


def what_to_do(run: Run) -> list[Advice]:
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
    return [_advice(family, row, here, results) for family, row in list(lost.items())[:MOST]]


def _advice(family: str, row: Row, rows: list[Row], results: Results) -> Advice:
    remedy = REMEDIES[family]
    loss = f"−{number(-row['value'], 1 if results.digits(row['scorer'], 1) == 1 else 3)} {scorer_text(row['scorer'])}"
    found = sorted(_won_back(row, rows), reverse=True)
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
