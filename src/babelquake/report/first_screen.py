"""What a reader sees first: the answer as a headline, one chart, the three worst examples in full words."""

from collections.abc import Callable
from typing import Any, NamedTuple

import polars as pl

from babelquake.perturb.labels import known_card
from babelquake.report.charts import Chart
from babelquake.report.examples import EVERY, with_texts
from babelquake.report.page import page_of, views
from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text, short_names
from babelquake.report.verdict import Sentence, sentence_case
from babelquake.runs.run import Run

SHOWN = 3
CANDIDATES = 10
"""Most damaged variants of each perturbation that the shown ones are chosen from: no two of one segment."""
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


def worst_examples(run: Run) -> list[dict[str, Any]]:
    """The variants that cost most: what was changed, and the text before and after."""
    shape = page_of(run).examples
    if shape is None:
        return []
    order = shape.rows(run, _harmless(run)).filter(pl.col("drop") > 0)
    order = order.sort("drop", descending=True, maintain_order=True)
    order = order.group_by("perturbation", maintain_order=True).head(CANDIDATES).select(order.collect_schema().names())
    order = order.sort("drop", descending=True, maintain_order=True)
    chosen: dict[Any, dict[str, Any]] = {}
    rows: set[int] = set()
    for row in order.collect().iter_rows(named=True):
        if row["perturbation"] not in chosen and row["row"] not in rows and len(chosen) < SHOWN:
            chosen[row["perturbation"]] = row
            rows.add(row["row"])
    if not chosen:
        return []
    table = with_texts(run, pl.DataFrame(list(chosen.values()), infer_schema_length=None))
    named, among = labelled(run.measures["perturbation"]), table[shape.who].unique().to_list()
    short = short_names(among) if shape.who == "system" else {name: scorer_text(name, among) for name in among}
    return [
        {
            "label": _title(row, shape.titled_by, named),
            "sides": shape.sides,
            "who": short[row[shape.who]],
            "kind": row.get("failure") or "",
            "source": cut(row.get("text")),
            "before": cut(row.get("before")),
            "after": cut(row.get("after")),
        }
        for row in table.iter_rows(named=True)
    ]


def _title(row: dict[str, Any], column: str | None, named: Callable[[str | None, float | None], str]) -> str:
    """A perturbation in plain words with a capital; recipes of attacks are names and stay as they are."""
    if column is not None:
        return str(row[column])
    label = named(row["perturbation"], row["level"])
    return sentence_case(label) if known_card(row["perturbation"] or "") else label


def worst_title(run: Run) -> str:
    """What the examples of the first screen are examples of."""
    return "Costliest harmless changes" if _meanings(run) else "Worst breaks"


def _meanings(run: Run) -> dict[str, str]:
    facts = run.info.facts
    return facts.meaning | {name: probe.meaning for name, probe in facts.probes.items()}


def _harmless(run: Run) -> pl.Expr:
    """Of a scorer's examples those whose change preserves the meaning: that the others cost is right."""
    meanings = _meanings(run)
    harmful = [name for name, meaning in meanings.items() if meaning != "preserving"]
    return pl.col("perturbation").is_null() | ~pl.col("perturbation").is_in(harmful) if meanings else EVERY


def cut(text: Any) -> str:
    """A text as the first screen shows it: no longer than it has room for."""
    if not isinstance(text, str):
        return "" if text is None else f"{text:.3g}" if isinstance(text, float) else str(text)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rstrip() + " …"
