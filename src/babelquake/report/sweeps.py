"""Curves over noise levels, for every perturbation that was run at several."""

from collections.abc import Sequence

from babelquake.perturb.labels import known_card
from babelquake.report.charts import Chart, curves, points
from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text
from babelquake.runs.results import Row, values


def sweeps(rows: Sequence[Row], who: str, label: str, title: str, y: str, described: str) -> list[Chart]:
    """A chart per perturbation, a line per system, scorer or tokenizer; `described` has a gap for the perturbation."""
    charts = []
    among = values(rows, who)
    shown = {name: name if who == "system" else scorer_text(name, among) for name in among}
    named = labelled(values(rows, "perturbation"))
    for perturbation in values(rows, "perturbation"):
        here = [row for row in rows if row["perturbation"] == perturbation and row["level"] is not None]
        if len({row["level"] for row in here}) < 2:
            continue
        card, called = known_card(perturbation), named(perturbation, None)
        drawn = points(here, name=lambda row: shown[row[who]], level=lambda row: row["level"])
        chart = curves(drawn, list(shown.values()), who, card.unit if card and card.unit else "level", y)
        charts.append(Chart(f"{label}-{perturbation}", f"{title}: {called}", described.format(called), chart))
    return charts
