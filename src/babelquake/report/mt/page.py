"""The MT study's page: who loses how much to what, who is sturdier, and whether that is more than chance."""

from babelquake.report.mt.charts import mt_views
from babelquake.report.mt.examples import EXAMPLES
from babelquake.report.mt.tables import mt_tables
from babelquake.report.page import Page
from babelquake.report.phrases import in_words, listed, of_pair, p_text, than_chance, usual_level, with_level
from babelquake.report.results import Results, Row, base_name, distinct, is_significant, scorer_text, values
from babelquake.runs.measures import CANNOT_BE_TESTED
from babelquake.runs.run import Run

RARE = 0.1
"""Perturbations that change a smaller share of the texts are not praised for doing no harm."""
MOST = 3
"""Perturbations that get a sentence of their own, the most damaging first."""


def mt_verdict(run: Run) -> list[str]:
    """Per language pair: the worst perturbations with the systems compared, who ranks first, what does no harm."""
    results = Results.of(run)
    pairs = values(results.where("consis"), "language_pair")
    sentences = []
    for pair in pairs:
        said = of_pair(pair, pairs)
        sentences += [said + sentence for sentence in _about(results, pair, run.info.number("threshold", 75))]
    return sentences


def _about(results: Results, pair: str | None, threshold: float) -> list[str]:
    measured = "robust" if results.where("robust", language_pair=pair) else "consis"
    rows = results.known(measured, language_pair=pair)
    scorers = values(rows, "scorer")
    if not scorers:
        return []
    scorer = next((name for name in scorers if base_name(name) == "bleu"), scorers[0])
    rows = [row for row in rows if row["scorer"] == scorer]
    spoken = [_at_usual_level(rows, perturbation) for perturbation in values(rows, "perturbation")]
    spoken.sort(key=lambda cells: min(row["value"] for row in cells))
    name = scorer_text(scorer, scorers)
    tell = _loss if measured == "robust" else _consistency
    harmful = [cells for cells in spoken if measured == "consis" or any(_loses(row) for row in cells)]
    sentences = _overall(results, pair, scorer, name) + [tell(results, cells, name) for cells in harmful[:MOST]]
    quiet = [cells[0] for cells in spoken if cells not in harmful]
    harmless = [row for row in quiet if not _rarely_changes(row)]
    if harmless:
        names = [in_words(row["perturbation"], row["level"]) for row in harmless]
        sentences.append(f"No loss of {name} beyond chance to {listed(names)}.")
    rare = [f"{row['perturbation']} ({row['changed']} of {row['n']} texts)" for row in quiet if _rarely_changes(row)]
    if rare:
        sentences.append(f"Too little was changed to say anything of {listed(rare)}.")
    return sentences + _ranking(results, pair, scorer) + _inconsistency(results, pair, threshold)


def _overall(results: Results, pair: str | None, scorer: str, name: str) -> list[str]:
    """Which system is sturdier, all in all?"""
    for measure, said in (
        ("overall_robust", f"keeps {{:.0f}} % of its {name}"),
        ("overall_consis", "agrees by {:.0f} %"),
    ):
        rows = results.known(measure, language_pair=pair, scorer=scorer)
        if len(rows) < 2:
            continue
        best, *others = sorted(rows, key=lambda row: -row["value"])
        ends = best["system"], others[0]["system"]
        sure = than_chance(results.between(measure, "system", *ends, language_pair=pair, scorer=scorer))
        rest = "; ".join(f"{row['system']} {row['value']:.0f} %" for row in others)
        if best["value"] == others[0]["value"]:
            return [f"All in all no system is the sturdiest: {best['system']} {said.format(best['value'])}; {rest}."]
        return [f"All in all {best['system']} is the sturdiest: it {said.format(best['value'])}; {rest}{sure}."]
    return []


def _rarely_changes(row: Row) -> bool:
    """Whether a perturbation left most texts as they were, so that its figures say little."""
    return bool(row["changed"] is not None and row["n"] and row["changed"] < RARE * row["n"])


def _at_usual_level(rows: list[Row], perturbation: str) -> list[Row]:
    here = [row for row in rows if row["perturbation"] == perturbation]
    level = usual_level(perturbation, [row["level"] for row in here])
    return [row for row in here if row["level"] == level]


def _loses(row: Row) -> bool:
    """A loss that resampling does not undo: significant, or with an interval that leaves 100 out."""
    return row["value"] < 100 and (is_significant(row) or (row["high"] is not None and row["high"] < 100))


def _loss(results: Results, cells: list[Row], scorer: str) -> str:
    """'de-en-bpe loses 16 % of its BLEU to one typo in ten words; bpe-dropout 9 %; the difference is significant.'"""
    worst_first = sorted(cells, key=lambda row: row["value"])
    first, *others = worst_first
    noise = in_words(first["perturbation"], first["level"])
    sentence = f"{first['system']} loses {_percent(100 - first['value'])} of its {scorer} to {noise}"
    sentence += "".join(f"; {row['system']} {_percent(100 - row['value'])}" for row in others)
    if len(cells) == 1 and first["p"] is not None:
        sentence += f"; the loss {_tested(first)}"
    return sentence + _compared(results, worst_first, "robust") + "."


def _consistency(results: Results, cells: list[Row], scorer: str) -> str:
    worst_first = sorted(cells, key=lambda row: row["value"])
    first, *others = worst_first
    noise = in_words(first["perturbation"], first["level"])
    sentence = (
        f"Under {noise}, {first['system']}'s translations agree with the clean ones by {first['value']:.0f} {scorer}"
    )
    sentence += "".join(f"; {row['system']}'s by {row['value']:.0f}" for row in others)
    return sentence + _compared(results, worst_first, "consis") + "."


def _compared(results: Results, worst_first: list[Row], measure: str) -> str:
    """Whether the frailest and the sturdiest system differ by more than chance."""
    worst, best = worst_first[0], worst_first[-1]
    key = {name: worst[name] for name in ("language_pair", "scorer", "perturbation", "level")}
    found = results.between(measure, "system", worst["system"], best["system"], **key)
    if found is None or worst is best:
        return ""
    between = "" if len(worst_first) == 2 else f" between {worst['system']} and {best['system']}"
    return f"; the difference{between} {_tested(found)}"


def _tested(row: Row) -> str:
    if row["verdict"] == CANNOT_BE_TESTED:
        return "cannot be tested"
    return f"is {'' if is_significant(row) else 'not '}significant{p_text(row)}"


def _ranking(results: Results, pair: str | None, scorer: str) -> list[str]:
    """Who is first most often; where several share the first place, nobody is."""
    ranks = results.where("rank", language_pair=pair, scorer=scorer)
    cells = distinct(ranks, "perturbation", "level")
    leading = [row for row in ranks if row["value"] == 1]
    places = [(row["perturbation"], row["level"]) for row in leading]
    firsts = [row["system"] for row, place in zip(leading, places, strict=True) if places.count(place) == 1]
    if len(cells) < 2 or not firsts:
        return []
    best = max(dict.fromkeys(firsts), key=firsts.count)
    return [f"{best} is the sturdiest system under {firsts.count(best)} of {len(cells)} perturbations and levels."]


def _inconsistency(results: Results, pair: str | None, threshold: float) -> list[str]:
    rows = [row for row in results.where("inconsistent", language_pair=pair) if row["value"]]
    if not rows:
        return []
    worst = max(rows, key=lambda row: row["value"])
    noise = with_level(worst["perturbation"], worst["level"])
    return [
        f"Least consistent: {worst['system']} under {noise}, where {_percent(worst['value'])} of translations differ "
        f"clearly from the clean one's (sentence chrF below {threshold:g})."
    ]


def _percent(value: float) -> str:
    """Small shares keep a digit: 0.4 % is not nothing."""
    return f"{value:.0f} %" if abs(value) >= 2 else f"{value:.1f} %".replace("-", "−")


PAGE = Page(
    mt_tables, mt_verdict, mt_views, EXAMPLES, views_by="Judged by", compared=("robust", "consis", "inconsistent")
)
