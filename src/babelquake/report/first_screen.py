"""What a reader sees first: the answer as a headline, one chart, the three worst examples in full words."""

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import polars as pl

from babelquake.report.charts import HARM, Chart
from babelquake.report.examples import EVERY, with_texts
from babelquake.report.names import failure_label, labelled, scorer_text, short_names
from babelquake.report.pages import page_of, views
from babelquake.report.verdict import Sentence, score, sentence_case, sentences
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES, findings_of

SHOWN = 3
CANDIDATES = 10
"""Most damaged variants of each perturbation and system that the shown ones are chosen from: no two of one segment."""
MOST_CHARACTERS = 220
"""Of a text on the first screen; the examples below have all of it."""


class Headline(NamedTuple):
    """A sentence in two sizes: what it says first, and the rest of it."""

    first: str
    rest: str
    alarm: bool

    @classmethod
    def of(cls, sentence: Sentence) -> "Headline":
        """Split where the sentence goes on after its first statement."""
        first, mark, rest = sentence.text.replace(" %", "\u00a0%").partition("; ")
        return cls(first, mark + rest, sentence.weight == "alarm")


def lead_chart(run: Run) -> Chart | None:
    """The one chart of the first screen: the study's own choice, or the first that it has."""
    page = page_of(run)
    if page.lead is not None:
        return page.lead(run)
    return next((chart for view in views(run)[:1] for chart in view.charts if chart.on_page), None)


class Words(NamedTuple):
    """A run's verdict as the first screen arranges it."""

    headline: Headline
    beside: list[Sentence]
    """What a reader must know beside the headline: the worst weakness, and what helps."""
    rest: list[Sentence]


def first_words(run: Run) -> Words:
    """The answer, the worst weakness and the remedy; everything else comes later."""
    said = sentences(run)
    kinds = [finding.what for finding in findings_of(run)] or [""]
    beside = [place for place, what in enumerate(kinds) if what in REMEDY and place]
    shown = [said[place] for place in beside]
    if (worst := kinds.index(WEAKNESS) if WEAKNESS in kinds else 0) > 0:
        weakness, more, _ = said[worst].text.partition("; ")
        shown.insert(0, said[worst]._replace(text=f"Worst weakness – {weakness.rstrip('.')}."))
        beside += [] if more else [worst]
    return Words(Headline.of(said[0]), shown, [one for place, one in enumerate(said) if place and place not in beside])


WEAKNESS, REMEDY = "loss", ("defence_helps", "no_defence_recommended")
"""Findings that stand beside the headline."""


def worst_examples(run: Run) -> list[dict[str, Any]]:
    """What went most wrong, one example of each kind: what was changed, and what became of it."""
    shape = page_of(run).examples
    if shape is None:
        return []
    lost = pl.col("drop")
    if shape.who == "scorer" and not shape.one_scale:
        lost = lost / lost.std().over("scorer")
    order = shape.rows(run, EVERY).with_columns(wrong=_wrong(run, lost)).filter(pl.col("wrong") > 0)
    order = order.with_columns(often=pl.len().over(shape.kind) if shape.commonest else pl.lit(0))
    by = ["often", "wrong"]
    order = (
        order.sort(by, descending=True, maintain_order=True)
        .group_by(shape.kind, shape.who, maintain_order=True)
        .head(CANDIDATES)
    )
    candidates = order.collect().sort(by, descending=True, maintain_order=True)
    chosen: list[dict[str, Any]] = []
    for differ in ((shape.kind, "row"), (shape.who, "row")):  # where there are few kinds, others of whom they befell
        for row in candidates.iter_rows(named=True):
            if len(chosen) < SHOWN and not any(row[name] == other[name] for name in differ for other in chosen):
                chosen.append(row)
    if not chosen:
        return []
    table = with_texts(run, pl.DataFrame(chosen, schema=candidates.schema))
    named, among = labelled(run.measures["perturbation"]), table[shape.who].unique().to_list()
    short = short_names(among) if shape.who == "system" else {name: scorer_text(name, among) for name in among}
    meanings = _meanings(run)
    return [
        {
            "label": shape.titled(row[shape.kind]) if shape.titled else _title(row, named),
            "sides": shape.sides,
            "who": short[row[shape.who]],
            "kind": failure_label(row["failure"]) if row.get("failure") else _harm(meanings.get(row["perturbation"])),
            "source": marked(row.get("original"), cut(row.get("text"))),
            "before": cut(row.get("before")),
            "after": cut(row.get("after")),
        }
        for row in table.iter_rows(named=True)
    ]


def _harm(meaning: str | None) -> str:
    return HARM[meaning] if meaning in ("preserving", "altering") else ""


def _title(row: dict[str, Any], named: Callable[[str | None, float | None], str]) -> str:
    """A perturbation in plain words with a capital."""
    return sentence_case(named(row["perturbation"], row["level"]))


def worst_title(run: Run) -> str:
    """What the examples of the first screen are examples of."""
    shape = page_of(run).examples
    return "Worst misjudgements" if _meanings(run) else shape.title if shape else ""


def _meanings(run: Run) -> dict[str, str]:
    facts = run.info.facts
    if STUDIES.get(run.info.study).subject == "system":
        return {}
    return facts.meaning | {name: probe.meaning for name, probe in facts.probes.items()}


def _wrong(run: Run, lost: pl.Expr) -> pl.Expr:
    """A scorer is wrong to take off points for a harmless change, and to add some for a harmful one.

    Where the suite says what is expected, that counts.
    """
    expected, change = run.info.facts.expectations, pl.col("perturbation")
    if expected:
        rule = change.replace_strict({name: one.rule for name, one in expected.items()}, default=None)
        moved = pl.when(rule == "same").then(lost.abs()).when(rule == "not below").then(lost)
        return moved.when(rule.is_not_null()).then(-lost)
    harmful = [name for name, meaning in _meanings(run).items() if meaning == "altering"]
    return pl.when(change.is_in(harmful)).then(-lost).otherwise(lost) if harmful else lost


class Marked(NamedTuple):
    """A changed text: its words, which of them were changed, and what they were."""

    parts: list[tuple[str, bool]]
    was: str

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)


def marked(original: Any, text: str) -> Marked:
    """The text with its changed words marked, where these are few; `was Mieten` or `left out: not` behind it."""
    if not isinstance(original, str) or not text or original == text:
        return Marked([(text, False)], "")
    old, new = original.split(), text.split()
    steps = [step for step in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if step[0] != "equal"]
    words = {place for _, _, _, start, end in steps for place in range(start, end)}
    if len(words) > MOST_MARKED or sum(end - start for _, start, end, _, _ in steps) > MOST_MARKED:
        return Marked([(text, False)], "")
    parts: list[tuple[str, bool]] = []
    for place, word in enumerate(new):
        parts += [(" ", False)] if place else []
        parts.append((word, place in words))
    was = [" ".join(old[start:end]) for kind, start, end, _, _ in steps if kind == "replace"]
    out = [" ".join(old[start:end]) for kind, start, end, _, _ in steps if kind == "delete"]
    remarks = [f"was {', '.join(was)}" if was else "", f"left out: {', '.join(out)}" if out else ""]
    return Marked(parts, "; ".join(filter(None, remarks)))


MOST_MARKED = 3
"""Words that are marked in an example; where more were changed the text speaks for itself."""


def cut(text: Any) -> str:
    """A text as the first screen shows it: no longer than it has room for."""
    if not isinstance(text, str):
        return "" if text is None else score(text) if isinstance(text, float) else str(text)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rstrip() + " …"
