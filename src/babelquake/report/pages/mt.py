"""The MT study's page: Niu 2020 Figures 1 and 2, the heat map of systems × perturbations, failures; and examples:
translations of clean and of perturbed sources side by side.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from babelquake.failures.base import description_of
from babelquake.perturb.labels import REPEAT, label_of
from babelquake.report.charts import (
    FAILURES,
    HEIGHT,
    NEUTRAL,
    PALETTE,
    SHADES,
    Chart,
    View,
    colour,
    data,
    dots,
    lines,
    points,
    sweeps,
    tooltips,
    where_known,
)
from babelquake.report.examples import Packed
from babelquake.report.names import (
    base_name,
    count,
    failure_label,
    family_of,
    labelled,
    results_of,
    row_label,
    scorer_text,
    short_names,
)
from babelquake.report.pages import Examples, Page
from babelquake.report.pages.mt_tables import floors, mt_tables
from babelquake.report.remedies import against_noise
from babelquake.report.verdict import sentence_case
from babelquake.runs.measures import Results, Row, distinct, is_significant, largest_first, values
from babelquake.runs.run import Run
from babelquake.studies.cells import LEAST_CHANGED
from babelquake.studies.kinds import mt as kinds
from babelquake.studies.mt.verdict import changed_in

FACETS = (("system", "System"), ("cell", "Perturbation"), ("failure", "Failure"))
"""What examples are filtered by: column, label."""


def mt_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Per perturbed source the translation before and after; the damage is the quality that was lost.

    Without references, or without chrF, it is how far the translation is from that of the clean source.
    """
    translations = run.scan("translations").filter(wanted)
    clean = translations.filter(pl.col("perturbation").is_null()).select(
        "system", "row", pl.col("source").alias("original"), pl.col("judged").alias("before")
    )
    on = ["system", "language_pair", "row", "perturbation", "level", "replicate"]
    beside = pl.col("kind") == "not-translated"  # says what is missing beside another failure
    failures = run.scan("failures").filter(pl.col("perturbation").is_not_null())
    failures = failures.sort("score", ~beside, descending=True)
    worst = failures.unique(on, keep="first", maintain_order=True).select(*on, pl.col("kind").alias("failure"))
    found = (
        translations.filter(pl.col("perturbation").is_not_null())
        .join(worst, on=on, how="left", nulls_equal=True, maintain_order="left")
        .join(clean, on=["system", "row"], how="left", maintain_order="left")
        .rename({"source": "text", "judged": "after"})
    )
    chrf = _with_references(run)
    if chrf is None:
        return found.with_columns(drop=100 - pl.col("consistency"))
    scores = run.scan("scores").filter(pl.col("scorer") == chrf, wanted)
    was = scores.filter(pl.col("perturbation").is_null()).select("system", "row", was="score")
    return (
        found.join(was, on=["system", "row"], how="left", maintain_order="left")
        .join(scores.select(*on, now="score"), on=on, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(drop=pl.col("was") - pl.col("now"))
    )


def _with_references(run: Run) -> str | None:
    """The chrF that judged the translations, where there were references to judge them by."""
    names = (name for name in run.info.listed("scorer") if base_name(name) == "chrf")
    if (chrf := next(names, None)) is None or not run.has("scores"):
        return None
    known = run.scan("scores").filter(pl.col("scorer") == chrf, pl.col("score").is_not_null())
    return chrf if known.head(1).collect().height else None


def mt_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """Source and translation before and after, beside the reference."""
    short = short_names(run.measures.filter(measure="consis")["system"])
    failures = pl.col("failure").replace({kind: failure_label(kind) for kind in table["failure"].drop_nulls().unique()})
    packed = Packed(table.with_columns(pl.col("system").replace(short), failures.fill_null("no failure found")))
    packed.changed("Source", "original", "text")
    packed.changed("Translation", "before", "after")
    packed.beside("Reference", "segment_reference", against=1)
    lost = "chrF lost" if "now" in table.columns else "difference from the translation of the clean source, in chrF"
    return packed.columns(lost, FACETS)


EXAMPLES = Examples(mt_examples, "system", mt_columns)


MEASURES = {kind.name: kind.column for kind in (kinds.ROBUST, kinds.CONSIS, kinds.INCONSISTENT)}
OBEYED = kinds.OBEYED.name
EXPLAINED = {
    "robust": "Quality under the perturbation in per cent of the quality without it; 100 is untouched.",
    "consis": "Agreement of the translations with those of the clean source; 100 is the same.",
    "inconsistent": "Share of translations that differ clearly from that of the clean source.",
}
"""What the figures of the heat map are."""


def mt_views(run: Run) -> list[View]:
    """One view per language pair and scorer, in the order in which they were given."""
    everything = results_of(run)
    results = everything.whole
    views = []
    rows = results.where("consis")
    pairs, scorers = values(rows, "language_pair"), values(rows, "scorer")
    for pair, scorer in distinct(rows, "language_pair", "scorer"):
        name = scorer_text(scorer, scorers)
        label = f"{name} · {pair}" if pair and len(pairs) > 1 else name
        heat = _heat(results, pair, scorer)
        charts = [
            *_heat_charts(heat, name),
            *_sweeps(results, pair, scorer),
            *_scatter(results, pair, scorer),
            *_parts(everything, pair, scorer, name),
            *_failures(results, pair),
        ]
        views.append(View(label, charts, heat, {"language_pair": pair, "scorer": scorer}))
    return views


@dataclass(frozen=True)
class Lead:
    """What the chart of the first screen shows: one scorer's quality under noise, the most damaging noise first.

    Without references it is the agreement with the translations of the clean text; of instructions inside texts, how
    many were obeyed.
    """

    results: Results
    rows: list[Row]
    """Of noise that changed enough sentences."""
    left_out: int
    """Kinds of noise that changed too few."""
    changed: str
    """What was perturbed, as the verdict says it."""

    @property
    def scorer(self) -> str:
        return str(self.rows[0]["scorer"])

    @property
    def places(self) -> list[tuple[str, float | None]]:
        return distinct(self.rows, "perturbation", "level")

    @property
    def name(self) -> str:
        """What the numbers are: `chrF`, `CONSIS (chrF)`, or `% obeyed`."""
        if self.measure == OBEYED:
            return "% obeyed"
        measure = self.measure
        said = scorer_text(self.scorer, values(self.results.known(measure), "scorer"))
        return said if self.judged else f"{MEASURES[measure]} ({said})"

    @property
    def measure(self) -> str:
        return str(self.rows[0]["measure"])

    @property
    def judged(self) -> bool:
        """Whether there are references to judge translations by."""
        return self.measure == "quality_perturbed"

    @property
    def title(self) -> str:
        """What the numbers of the chart are, under each kind of noise."""
        if self.measure == OBEYED:
            return "Instructions inside texts that were obeyed"
        with_prompts = self.changed == "prompt"
        if self.judged:
            return f"Quality {'with each prompt' if with_prompts else 'under each kind of noise'} ({self.name})"
        both = "translations by other prompts and by the usual one" if with_prompts else "noisy with clean translations"
        return f"Agreement of {both}, {self.name}"

    @property
    def axis(self) -> str:
        """What the axis shows."""
        if self.measure == OBEYED:
            return "% of texts"
        return f"{self.name}{'' if self.changed == 'prompt' else ' of noisy text'}" if self.judged else self.name

    @property
    def _ticks(self) -> str:
        if not self.judged:
            return ""
        without = "with the usual prompt" if self.changed == "prompt" else "without noise"
        return f"Upright lines: the same texts {without}."

    @property
    def points(self) -> list[dict[str, Any]]:
        """Quality under noise, and of the clean texts of the same sentences."""
        label = row_label(self.rows)
        return points(
            self.rows,
            name=lambda row: row["system"],
            label=lambda row: sentence_case(label(row)),
            clean=lambda row: (self.results.beside(row, "quality") or {}).get("value") if self.judged else None,
        )

    def where_judged(self, clean: Any) -> list[Any]:
        """The layer of clean quality, where it is known."""
        return [clean] if self.judged else []

    def described(self, order: str) -> str:
        """The words below the chart."""
        return " ".join(filter(None, (order, self._ticks, self.note)))

    @property
    def note(self) -> str:
        """What the chart leaves out, and where more was changed than asked for."""
        kinds = "kind" if self.left_out == 1 else "kinds"
        few = f"{self.left_out} {kinds} of noise with fewer than {LEAST_CHANGED} changed texts not shown."
        pair = self.rows[0]["language_pair"]
        return " ".join([*([few] if self.left_out else []), *floors(self.results, pair, self.places)])


def mt_lead(run: Run) -> Chart | None:
    """Quality under each kind of noise by the scorer of the headline: bars, dots or a heat map, by how many systems.

    Without references, how far the translations of noisy and clean text agree; of instructions, how many are obeyed.
    """
    results = results_of(run)
    changed = changed_in(run, results)
    wanted = (*((OBEYED,) if changed == "injection" else ()), "quality_perturbed", "consis")
    measure = next((name for name in wanted if results.known(name, group=None)), "consis")
    rows = [row for row in results.known(measure, group=None) if row["level"] != 0 and row["perturbation"] != REPEAT]
    here = [row for row in rows if all(row[name] == rows[0][name] for name in ("scorer", "language_pair"))]
    size = "n" if measure == OBEYED else "changed"
    large = [row for row in here if row[size] is None or row[size] >= LEAST_CHANGED]
    if not large:
        return None
    left_out = len(distinct(here, "perturbation", "level")) - len(distinct(large, "perturbation", "level"))
    lost = {place: _mean_change(results, large, place) for place in distinct(large, "perturbation", "level")}
    large.sort(key=lambda row: lost[row["perturbation"], row["level"]])
    lead, systems = Lead(results, large, left_out, changed), values(large, "system")
    if len(systems) == 1:
        return _lead_bars(lead)
    if len(lost) == 1:
        return _lead_systems(lead)
    return _lead_dots(lead, systems) if len(systems) <= MOST_DOTS else _lead_heat(lead)


MOST_DOTS = 3
"""Systems whose dots can be told apart in one line; more are a heat map."""


def _lead_bars(lead: Lead) -> Chart:
    """One system: a bar with its interval for every kind of noise."""
    shown = lead.points
    axis = alt.Axis(labelLimit=300)
    base = alt.Chart(data(shown)).encode(y=alt.Y("label:N", title=None, sort=None, axis=axis))
    title = lead.axis
    bars = base.mark_bar(color=PALETTE[0], opacity=0.75, height={"band": 0.62}).encode(
        x=alt.X("value:Q", title=title),
        tooltip=tooltips(label="noise", value=lead.name, low="95 % from", high="to", clean="clean"),
    )
    ends = base.mark_rule(strokeWidth=2, color="#2F3B52").encode(x=alt.X("low:Q", title=title), x2="high:Q")
    clean = base.mark_tick(color=NEUTRAL, thickness=3, size=18, opacity=1).encode(x=alt.X("clean:Q", title=title))
    chart = alt.layer(bars, *where_known(shown, ends), *lead.where_judged(clean)).properties(height=lines(shown))
    return Chart("lead", lead.title, lead.described("Worst first, with 95 % intervals."), chart)


def _lead_dots(lead: Lead, systems: list[str]) -> Chart:
    """Two or three systems: a dot with its interval for each, side by side."""
    scale = alt.Scale(zero=False, nice=True)
    shown, title = lead.points, lead.axis
    drawn = dots(shown, systems, "system", title, scale, room=300, label="noise", value=lead.name, clean="clean")
    clean = alt.Chart(data(shown)).mark_tick(thickness=2, size=9, opacity=0.8)
    clean = clean.encode(
        x=alt.X("clean:Q", title=title, scale=scale),
        y=alt.Y("label:N", title=None, sort=None),
        yOffset=alt.YOffset("name:N", sort=systems),
        color=colour("name", systems, "system")["color"],
    )
    drawn = alt.layer(drawn, *lead.where_judged(clean)).properties(height=len(lead.places) * (9 * len(systems) + 8))
    return Chart("lead", lead.title, lead.described("Worst first, with 95 % intervals."), drawn)


def _lead_systems(lead: Lead) -> Chart:
    """Several systems and one kind of noise: a line per system from its clean to its noisy quality, the best first."""
    shown = largest_first(lead.points)
    scale = alt.Scale(zero=False, nice=True)
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(data(shown)).encode(y=y)
    tips = tooltips(name="system", value=lead.axis, low="95 % from", high="to", clean="clean text")
    title = lead.name
    ends = base.mark_rule(strokeWidth=2, color=PALETTE[0]).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high")
    noisy = base.mark_point(filled=True, size=60, opacity=1, color=PALETTE[0]).encode(
        x=alt.X("value:Q", title=title, scale=scale), tooltip=tips
    )
    still = base.mark_tick(color=NEUTRAL, thickness=3, size=16, opacity=1).encode(x=alt.X("clean:Q", scale=scale))
    chart = alt.layer(*where_known(shown, ends), *lead.where_judged(still), noisy).properties(height=lines(shown))
    order = "Best under noise first, with 95 % intervals."
    heading = f"{shown[0]['label']}: quality of every system ({title})" if lead.judged else lead.title
    return Chart("lead", heading, lead.described(order), chart)


def _lead_heat(lead: Lead) -> Chart:
    """Many systems: a heat map, the most damaging noise on top, the best system on the left."""
    sign = 1 if lead.measure == OBEYED else -1
    shown = [{**point, "lost": (point["clean"] or 0) + sign * point["value"]} for point in lead.points]
    means = {
        name: sum(point["value"] for point in shown if point["name"] == name) for name in {p["name"] for p in shown}
    }
    order = sorted(means, key=lambda name: -means[name])
    small = lead.results.digits(lead.scorer, 1) > 1
    base = alt.Chart(data(shown)).encode(
        x=alt.X("name:N", title=None, sort=order, axis=alt.Axis(orient="top", labelAngle=-45, labelLimit=220)),
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
    )
    tips = tooltips(name="system", label="noise", value=lead.name, low="95 % from", high="to", clean="clean")
    tiles = base.mark_rect().encode(color=alt.Color("lost:Q", legend=None, scale=alt.Scale(range=SHADES)), tooltip=tips)
    chart = alt.layer(tiles, _figures(base, ".2f" if small else ".0f", len(order))).properties(
        height=lines(lead.places)
    )
    darker = "more the same sentences lose against clean text" if lead.judged else "worse"
    described = f"Worst noise on top, best system on the left; the darker, the {darker}. {lead.note}".strip()
    return Chart("lead", lead.title, described, chart)


def _figures(base: Any, format: str, columns: int) -> Any:
    """The figures of a heat map, left out where they would lie on each other."""
    text = base.mark_text(fontSize=11 if columns <= 12 else 9, color="black")
    return text.transform_filter(f"width > {FIGURE * columns}").encode(text=alt.Text("value:Q", format=format))


FIGURE = 16
"""The width of a figure in a heat map."""


def _mean_change(results: Results, rows: list[Row], place: tuple[str, float | None]) -> float:
    """Over systems, of quality; of agreement where there is no quality; the more is obeyed the lower."""
    here = [row for row in rows if (row["perturbation"], row["level"]) == place]
    obeyed = here[0]["measure"] == OBEYED
    changes = here if obeyed else [results.beside(row, "delta") or row for row in here]
    known = [row["value"] for row in changes if row["value"] is not None]
    return (-1 if obeyed else 1) * sum(known) / len(known) if known else 0.0


def _heat(results: Results, pair: str | None, scorer: str) -> dict[str, Any]:
    """Per measure the rows of the heat map: perturbation × system → value, interval, significance."""
    cells = results.where("consis", language_pair=pair, scorer=scorer)
    systems = values(cells, "system")
    found: dict[str, list[list[Any]]] = {}
    perturbations = distinct(cells, "perturbation", "level")
    for measure in MEASURES:
        here = {"language_pair": pair, "scorer": "chrf" if measure == "inconsistent" else scorer}
        table = [
            [
                _heat_cell(results.one(measure, **here, system=system, perturbation=perturbation, level=level))
                for system in systems
            ]
            for perturbation, level in perturbations
        ]
        if any(cell for row in table for cell in row):
            found[measure] = table
    return {
        "systems": systems,
        "perturbations": [labelled(values(cells, "perturbation"))(*place) for place in perturbations],
        "measures": found,
        "named": {measure: [MEASURES[measure], EXPLAINED[measure]] for measure in found},
    }


def _heat_cell(row: Row | None) -> list[Any] | None:
    if row is None or row["value"] is None:
        return None
    numbers = [None if row[name] is None else round(row[name], 2) for name in ("value", "low", "high")]
    return [*numbers, int(is_significant(row)), row["n"]]


def _heat_charts(heat: dict[str, Any], scorer: str) -> list[Chart]:
    """The heat map as a picture, for papers; the page shows it as a table that can be clicked and read aloud."""
    charts = []
    for measure, table in heat["measures"].items():
        rows = [
            {"label": perturbation, "name": system, "value": cell[0]}
            for perturbation, line in zip(heat["perturbations"], table, strict=True)
            for system, cell in zip(heat["systems"], line, strict=True)
            if cell
        ]
        worse_up = measure == "inconsistent"
        base = alt.Chart(data(rows)).encode(
            x=alt.X("name:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-20)),
            y=alt.Y("label:N", title=None, sort=None),
        )
        scale = alt.Scale(range=SHADES, reverse=not worse_up)
        tile = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, title=MEASURES[measure]))
        text = base.mark_text().encode(text=alt.Text("value:Q", format=".1f"))
        described = f"{MEASURES[measure]} of every system under every perturbation."
        charts.append(
            Chart(
                f"heat-{measure}",
                f"{MEASURES[measure]} ({scorer})",
                described,
                (tile + text).properties(height=lines(heat["perturbations"])),
                on_page=False,
            )
        )
    return charts


def _sweeps(results: Results, pair: str | None, scorer: str) -> list[Chart]:
    """Noise-level curves, Figure 2, for every perturbation that was run at several levels."""
    charts = []
    for measure in ("robust", "consis"):
        rows, name = results.known(measure, language_pair=pair, scorer=scorer), MEASURES[measure]
        described = f"{name} of each system over levels of {{}}, with 95 % intervals (Niu 2020 Figure 2)."
        charts += sweeps(rows, "system", f"sweep-{measure}", name, name, described)
    return charts


def _parts(results: Results, pair: str | None, scorer: str, name: str) -> list[Chart]:
    """Where systems are weak: systems × parts of the data that can be tested, the weakest on top, per perturbation."""
    measure = next((one for one in ("robust", "consis") if results.known(one, language_pair=pair, scorer=scorer)), None)
    if measure is None:
        return []
    rows = [row for row in results.known(measure, language_pair=pair, scorer=scorer) if row["group"] is not None]
    charts = []
    for perturbation, level in distinct(rows, "perturbation", "level"):
        here = [row for row in rows if (row["perturbation"], row["level"]) == (perturbation, level)]
        tiles = [
            {"label": row["group"], "name": row["system"], "value": row["value"], "n": row["n"]}
            for row in here
            if row["n"] >= LEAST_CHANGED
        ]
        if not tiles:
            continue
        by_part = {part: [tile["value"] for tile in tiles if tile["label"] == part] for part in values(tiles, "label")}
        order = sorted(by_part, key=lambda part: sum(by_part[part]) / len(by_part[part]))
        called, left_out = label_of(perturbation, level), len(values(here, "group")) - len(order)
        base = alt.Chart(data(tiles)).encode(
            x=alt.X("name:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-40)),
            y=alt.Y("label:N", title=None, sort=order, axis=alt.Axis(labelLimit=220)),
            tooltip=tooltips(label="part", name="system", value=MEASURES[measure], n="segments"),
        )
        scale = alt.Scale(range=SHADES, reverse=True)
        tile = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, title=MEASURES[measure]))
        text = _figures(base, ".0f", len(values(tiles, "name")))
        described = f"{MEASURES[measure]} by {name} of every system on every part of the data, under {called}."
        if left_out:
            described += f" {count(left_out, 'part')} of fewer than {LEAST_CHANGED} segments not shown."
        chart = (tile + text).properties(height=lines(order))
        charts.append(Chart(f"parts-{called}", f"Where systems are weak: {called}", described, chart))
    return charts


def _scatter(results: Results, pair: str | None, scorer: str) -> list[Chart]:
    """ROBUST against CONSIS, Figure 1."""
    both = results.both("robust", "consis", language_pair=pair, scorer=scorer)
    label = row_label(row for row, _ in both)
    points = [
        {"name": row["system"], "label": label(row), "robust": row["value"], "consis": consis} for row, consis in both
    ]
    if len(points) < 3:
        return []
    found = results.one("robust_consis_correlation", language_pair=pair, scorer=scorer)
    r = f", r = {found['value']:.2f}" if found and found["value"] is not None else ""
    chart = (
        alt.Chart(data(points))
        .mark_point(size=70, filled=True, opacity=0.85)
        .encode(
            x=alt.X("robust:Q", title="ROBUST", scale=alt.Scale(zero=False)),
            y=alt.Y("consis:Q", title="CONSIS", scale=alt.Scale(zero=False)),
            tooltip=tooltips(name="system", label="perturbation", robust="ROBUST", consis="CONSIS"),
            **colour("name", values(points, "name"), "system"),
        )
        .properties(height=HEIGHT)
    )
    described = f"Each point is a system under one perturbation: ROBUST across, CONSIS up{r} (Niu 2020 Figure 1)."
    return [Chart("robust-consis", "ROBUST against CONSIS", described, chart)]


def _failures(results: Results, pair: str | None) -> list[Chart]:
    """What breaks under noise: rates of every kind of failure, coloured by its family.

    One chart per system, or, where there are more systems than perturbations, per perturbation; all on one scale.
    """
    rows = [
        row
        for row in results.known("failures", language_pair=pair)
        if row["perturbation"] and row["scorer"] != "any" and row["value"]
    ]
    families = {kind: family_of(kind) for kind in values(rows, "scorer")}
    present = [family for family in FAILURES if family in families.values()]
    present += sorted(set(families.values()) - set(present))  # rules of the user and families of plug-ins
    colours = [FAILURES.get(family, NEUTRAL) for family in present]
    label = row_label(rows)
    bars = [
        {
            "system": row["system"],
            "perturbation": label(row),
            "kind": failure_label(row["scorer"]),
            "family": families[row["scorer"]],
            "value": row["value"],
            "place": present.index(families[row["scorer"]]),
        }
        for row in rows
    ]
    by, down = ("system", "perturbation")
    if len(values(bars, "system")) > max(MOST_DOTS, len(values(bars, "perturbation"))):
        by, down = down, by
    stacked: Counter[tuple[str, str]] = Counter()
    for bar in bars:
        stacked[bar["system"], bar["perturbation"]] += bar["value"]
    most = max(stacked.values(), default=1)
    charts: list[Chart] = []
    for one in values(bars, by):
        here = [{**bar, "label": bar[down]} for bar in bars if bar[by] == one]
        chart = (
            alt.Chart(data(here))
            .mark_bar(stroke="white", strokeWidth=0.5)
            .encode(
                x=alt.X("value:Q", title="% of translations", stack="zero", scale=alt.Scale(domain=[0, most])),
                y=alt.Y("label:N", title=None, sort=values(here, "label"), axis=alt.Axis(labelLimit=200)),
                color=alt.Color(
                    "family:N",
                    title=None,
                    legend=alt.Legend(orient="top", columns=4, labelLimit=120),
                    scale=alt.Scale(domain=present, range=colours),
                ),
                order=alt.Order("place:Q"),
                tooltip=tooltips(label=down, kind="kind", value="% of translations"),
            )
            .properties(height=lines(values(here, "label")))
        )
        of = f"of {one}" if by == "system" else f"under {one}"
        described = f"Translations {of} with each kind of failure; one translation may have several."
        if not charts:
            kinds = sorted(families, key=lambda kind: present.index(families[kind]))
            explained = (f"{sentence_case(failure_label(kind))}: {description_of(kind)}" for kind in kinds)
            described += f" {' '.join(explained)}"
        charts.append(Chart(f"failures-{one}", f"Failures: {one}", described, chart))
    return charts


QUESTIONS = {
    "prompt": "How much depends on the wording of the prompt?",
    "injection": "Do these systems translate instructions, or obey them?",
}


def question(run: Run) -> str | None:
    """What a run asks that does not perturb sources in the usual ways."""
    return QUESTIONS.get(changed_in(run, results_of(run)))


PAGE = Page(
    mt_tables,
    mt_views,
    EXAMPLES,
    views_by="Judged by",
    question=question,
    lead=mt_lead,
    compared=("robust", "consis", "inconsistent"),
    advice=against_noise,
)
