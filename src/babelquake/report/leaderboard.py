"""Scorers side by side: agreement with people, harmless and harmful changes, attacks – from one run or several."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt

from babelquake.errors import UserError
from babelquake.files import deliver, require_ending
from babelquake.report.charts import NEUTRAL, PALETTE, Chart, data, tooltips, where_known
from babelquake.report.images import write_image
from babelquake.report.latex import table_latex
from babelquake.report.markdown import table_markdown
from babelquake.report.names import base_name, scorer_text, statistic_text
from babelquake.report.table import Table, number
from babelquake.runs.measures import NOT_SIGNIFICANT, SIGNIFICANT, STATISTICS, Results, Row, is_significant, values
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.scorers import SCORERS
from babelquake.stats.intervals import wilson

FORMATS = (".tex", ".md", ".png", ".svg")
TESTED = (SIGNIFICANT, NOT_SIGNIFICANT)
OWN = "★"
"""Before the user's own scorers."""
MINE, OTHERS = PALETTE[0], NEUTRAL


class Figure(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Question:
    """A column of the board."""

    title: str
    better: str
    digits: int
    find: Callable[[Run, str], Figure | None]


def leaderboard(runs: AnyRun | Sequence[AnyRun], mine: Iterable[str] = ()) -> Table:
    """One line per scorer, one column per question that the runs answer; the scorer that agrees best comes first.

    `mine` are the scorers to mark; without any, those that do not ship with babelquake are.
    """
    board = _board(opened(runs), tuple(mine))
    lines = tuple(
        (name, *(_cell(figures[place], question.digits) for place, question in enumerate(board.questions)))
        for name, figures in board.lines.items()
    )
    better = tuple((question.title, question.better) for question in board.questions)
    statistic = next((name for run in opened(runs) if (name := _statistic(run)) is not None), None)
    note = f"{f'Agreement: {statistic_text(statistic)}. ' if statistic else ''}{NOTE}"
    return Table(
        "Scorers side by side", ("scorer", *(one.title for one in board.questions)), lines, note, better=better
    )


NOTE = (
    "95 % intervals in brackets. Unmoved: % of harmless changes after which the score does not move significantly. "
    f"Noticed: % of harmful changes that lower it. Fooled: % of sentences, by the best attack. {OWN} your own scorer."
)


@dataclass(frozen=True)
class Board:
    """The questions that are answered, and every scorer's figures."""

    questions: tuple[Question, ...]
    lines: dict[str, tuple[Figure | None, ...]]


def _board(runs: Sequence[Run], mine: Sequence[str]) -> Board:
    scorers = list(
        dict.fromkeys(name for run in runs for name in run.info.listed("scorer") + run.info.listed("victim"))
    )
    if not scorers:
        raise UserError("a leaderboard compares scorers. Use runs of metric, qe, attack or correlate.")
    found = {
        scorer: [next((figure for run in runs if (figure := one.find(run, scorer))), None) for one in QUESTIONS]
        for scorer in scorers
    }
    asked = [place for place in range(len(QUESTIONS)) if any(figures[place] for figures in found.values())]
    if not asked:
        raise UserError("these runs contain no figures to compare scorers by.")
    first = asked[0]
    sign = 1 if QUESTIONS[first].better == "down" else -1
    order = sorted(scorers, key=lambda name: _rank(found[name][first], sign))
    return Board(
        tuple(QUESTIONS[place] for place in asked),
        {_marked(name, scorers, mine): tuple(found[name][place] for place in asked) for name in order},
    )


def _rank(figure: Figure | None, sign: int) -> tuple[bool, float]:
    return (figure is None, sign * figure.value if figure else 0.0)


def _marked(scorer: str, among: Sequence[str], mine: Sequence[str]) -> str:
    own = scorer in mine if mine else base_name(scorer) not in SCORERS.names() or base_name(scorer) == "scores"
    return f"{OWN} {scorer_text(scorer, among)}" if own else scorer_text(scorer, among)


def _cell(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return ""
    if figure.low is None or figure.high is None:
        return number(figure.value, digits)
    return f"{number(figure.value, digits)} [{number(figure.low, digits)}, {number(figure.high, digits)}]"


def _agreement(run: Run, scorer: str) -> Figure | None:
    """With people, on texts that nothing was done to; over all language pairs where there are several."""
    measure = _statistic(run)
    if measure is None:
        return None
    rows = Results.of(run).whole.known(measure, scorer=scorer)
    rows = [row for row in rows if not row["level"] and row["other"] is None]
    pairs = values(rows, "language_pair")
    rows = [row for row in rows if row["language_pair"] == ("average" if "average" in pairs else pairs[0])]
    return _figure(rows[0]) if rows else None


def _statistic(run: Run) -> str | None:
    """The kind of agreement that a run speaks of first."""
    return next((name for name in STATISTICS if Results.of(run).known(name)), None)


def _moves(meaning: str, moved: bool) -> Callable[[Run, str], Figure | None]:
    """The share of changes of one meaning under which a score moves significantly, or does not."""

    def find(run: Run, scorer: str) -> Figure | None:
        meanings = run.info.facts.meaning
        rows = [row for row in Results.of(run).whole.known("delta", scorer=scorer) if row["system"] is None]
        rows = [row for row in rows if meanings.get(row["perturbation"]) == meaning and row["verdict"] in TESTED]
        if not rows:
            return None
        fell = sum(is_significant(row) and (meaning == "preserving" or row["value"] < 0) for row in rows)
        hits = fell if moved else len(rows) - fell
        low, high = wilson(hits, len(rows))
        return Figure(100 * hits / len(rows), 100 * low, 100 * high)

    return find


def _noticed(run: Run, scorer: str) -> Figure | None:
    """Of a challenge set the share of errors that the score notices; otherwise the share of harmful changes."""
    overall = [
        row for row in Results.of(run).whole.known("detection_accuracy", scorer=scorer) if not row["perturbation"]
    ]
    return _figure(overall[0]) if overall else _moves("altering", moved=True)(run, scorer)


def _fooled(run: Run, scorer: str) -> Figure | None:
    rows = Results.of(run).known("success", scorer=scorer, group=None)
    return _figure(max(rows, key=lambda row: float(row["value"]))) if rows else None


def _figure(row: Row) -> Figure:
    return Figure(float(row["value"]), row["low"], row["high"])


QUESTIONS = (
    Question("agrees with people", "up", 3, _agreement),
    Question("unmoved by harmless changes (%)", "up", 0, _moves("preserving", moved=False)),
    Question("notices harmful changes (%)", "up", 0, _noticed),
    Question("fooled by attacks (%)", "down", 0, _fooled),
)


def leaderboard_chart(runs: AnyRun | Sequence[AnyRun], mine: Iterable[str] = ()) -> Chart:
    """One panel per question, one line per scorer; the user's own in another colour and shape."""
    board = _board(opened(runs), tuple(mine))
    names = list(board.lines)
    panels = [_panel(board, place, names) for place in range(len(board.questions))]
    described = f"Each dot is a scorer, with its 95 % interval; {OWN} is your own."
    return Chart("leaderboard", "Scorers side by side", described, alt.hconcat(*panels, spacing=24))


def _panel(board: Board, place: int, names: list[str]) -> Any:
    question = board.questions[place]
    rows: list[dict[str, Any]] = []
    for name, figures in board.lines.items():
        if (figure := figures[place]) is not None:
            rows.append({"name": name, "own": name.startswith(OWN), **figure._asdict()})
    axis = alt.Axis(labelLimit=320) if place == 0 else None
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("name:N", title=None, sort=names, scale=alt.Scale(domain=names), axis=axis)
    )
    colour = alt.condition("datum.own", alt.value(MINE), alt.value(OTHERS))
    domain = alt.Scale(zero=False, nice=True, padding=8) if question.digits else alt.Scale(domain=[0, 100])
    arrow = "→ better" if question.better == "up" else "← better"
    title = [question.title, arrow]
    x = alt.X("value:Q", title=title, scale=domain)
    ends = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=domain, title=title), x2="high:Q", color=colour)
    tips = tooltips(name="scorer", value=question.title, low="95 % from", high="to")
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, color=colour, tooltip=tips)
    return alt.layer(*where_known(rows, ends), marks).properties(width=220, height=max(60, 26 * len(names)))


def write_leaderboard(runs: AnyRun | Sequence[AnyRun], path: Path | str, mine: Iterable[str] = ()) -> Path:
    """Write scorers side by side as LaTeX, Markdown, PNG or SVG, by the file's ending."""
    path = Path(path)
    require_ending(path, FORMATS, "leaderboard")
    chosen = tuple(mine)
    if path.suffix == ".tex":
        deliver(table_latex(leaderboard(runs, chosen), "leaderboard") + "\n", path)
    elif path.suffix == ".md":
        deliver(table_markdown(leaderboard(runs, chosen)), path)
    else:
        chart = leaderboard_chart(runs, chosen)
        spec = {name: value for name, value in chart.spec().items() if name != "width"}
        write_image({**spec, "title": chart.title}, path)
    return path
