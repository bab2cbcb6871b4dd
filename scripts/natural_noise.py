"""The tables and the chart of docs/results/wmt24-natural-noise.md, from the runs of scripts/natural_noise.sh.

python scripts/natural_noise.py OUT docs/images/natural-noise.svg
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from scipy.stats import spearmanr

from babelquake import Run
from babelquake.report.names import row_label

Row = dict[str, Any]
LEAST = 30
"""Segments that a phenomenon needs to have a line."""
KIND_OF = dict.fromkeys(
    ("Claude-3.5", "GPT-4", "Llama3-70B", "CommandR-plus", "Aya23", "Unbabel-Tower70B"), "large language model"
)
"""Systems that go by the name of a published large language model."""
POOR = 30.0
"""Clean chrF below which a system's ratios say little: such systems have no cluster and no point."""
KINDS = {"large language model": "#C2410C", "online service": "#0369A1", "other": "#52525B"}
LABELS = {
    "ONLINE-G": ("right", -9, -6),
    "ONLINE-B": ("right", -6, -14),
    "ONLINE-A": ("left", 9, -9),
    "ONLINE-W": ("right", -10, 9),
    "TranssionMT": ("left", 10, 13),
    "NVIDIA-NeMo": ("right", -9, 6),
    "SCIR-MT": ("left", -2, 19),
    "Aya23": ("left", 9, -6),
    "IKUN": ("left", 9, 10),
    "GPT-4": ("right", -11, 0),
    "Llama3-70B": ("right", -9, 9),
    "Claude-3.5": ("left", 11, -6),
    "IOL-Research": ("right", -11, -7),
    "CommandR-plus": ("left", 9, 12),
    "CUNI-MH": ("left", 11, -8),
    "Unbabel-Tower70B": ("right", -11, -8),
    "IKUN-C": ("right", -9, -8),
    "CUNI-Transformer": ("left", 9, 12),
}
"""Where names stand so that none lies on another: alignment, and how far from the point."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def measures(run: Run, perturbation: str = "raw") -> pl.DataFrame:
    """What chrF says of one perturbation."""
    return run.measures.filter(pl.col("scorer") == "chrf", pl.col("perturbation") == perturbation)


def by_system(rows: pl.DataFrame, measure: str, group: str | None = None) -> dict[str, Row]:
    """A measure's rows by system."""
    here = rows.filter(
        pl.col("measure") == measure, pl.col("other").is_null(), pl.col("group").eq_missing(pl.lit(group))
    )
    return {row["system"]: row for row in here.iter_rows(named=True)}


def clusters(rows: pl.DataFrame, measure: str) -> dict[str, int]:
    """Systems in clusters, 1 the highest: everybody above a border differs significantly from everybody below it."""
    values, clean = by_system(rows, measure), by_system(rows, "quality")
    values = {name: row for name, row in values.items() if name not in clean or clean[name]["value"] >= POOR}
    order = sorted(values, key=lambda name: -values[name]["value"])
    compared = rows.filter(pl.col("measure") == f"{measure}_difference", pl.col("group").is_null())
    sure = {
        frozenset((row["system"], row["other"]))
        for row in compared.iter_rows(named=True)
        if row["p_corrected"] is not None and row["p_corrected"] < 0.05
    }
    found, number = {}, 1
    for place, name in enumerate(order):
        above, below = order[:place], order[place:]
        if place and all(frozenset((one, other)) in sure for one in above for other in below):
            number += 1
        found[name] = number
    return found


def told(row: Row | None, interval: bool = True) -> str:
    """A value with its interval, where there are enough comments for one."""
    if row is None or row["value"] is None:
        return ""
    known = interval and row["low"] is not None
    return f"{row['value']:.1f} [{row['low']:.1f}, {row['high']:.1f}]" if known else f"{row['value']:.1f}"


def comments(run: Run) -> None:
    """All systems on raw comments."""
    rows = measures(run)
    known = [name for name in ("quality", "quality_perturbed", "robust", "consis") if by_system(rows, name)]
    first = "quality_perturbed" if "quality_perturbed" in known else "consis"
    values = {name: by_system(rows, name) for name in (*known, "inconsistent")}
    of = {name: clusters(rows, name) for name in ("robust", "consis") if name in known}
    heads = {"quality": "clean", "quality_perturbed": "raw", "robust": "ROBUST", "consis": "CONSIS"}
    order = sorted(values[first], key=lambda name: -values[first][name]["value"])
    lines = []
    for system in order:
        line: list[str] = [system]
        for name in known:
            line.append(told(values[name].get(system)))
            if name in of:
                line.append(str(of[name].get(system, "–")))
        lines.append([*line, told(values["inconsistent"].get(system), False)])
    head = ["system", *(part for name in known for part in ([heads[name], "cluster"] if name in of else [heads[name]]))]
    table([*head, "% inc."], lines)
    if "robust" in known:
        both = [name for name in order if values["quality"][name]["value"] >= POOR]
        pairs = [[values[name][system]["value"] for name in ("robust", "consis")] for system in both]
        rho = spearmanr(*zip(*pairs, strict=True))
        print(f"Spearman's correlation of ROBUST and CONSIS over {len(both)} systems: {rho.statistic:.2f}.\n")


def phenomena(run: Run) -> None:
    """ROBUST by phenomenon: mean over systems, the lowest and the highest one."""
    rows = measures(run)
    lines = []
    for group in rows["group"].drop_nulls().unique(maintain_order=True):
        values = by_system(rows, "robust", group)
        some = [row for row in values.values() if row["value"] is not None]
        if not some or some[0]["n"] < LEAST:
            continue
        low, high = (pick(some, key=lambda row: float(row["value"])) for pick in (min, max))
        lost = sum(row["p_corrected"] is not None and row["p_corrected"] < 0.05 and row["value"] < 100 for row in some)
        mean = sum(row["value"] for row in some) / len(some)
        ends = [f"{row['system']} {told(row)}" for row in (low, high)]
        lines.append((mean, [group, some[0]["n"], f"{mean:.1f}", *ends, f"{lost} of {len(some)}"]))
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    table(["phenomenon", "n", "mean ROBUST", "lowest", "highest", "significant loss"], ordered)


def made_and_given(run: Run) -> None:
    """One system under natural and under synthetic noise on the same sentences."""
    rows = run.measures.filter(pl.col("measure").is_in(["consis", "inconsistent"]), pl.col("scorer") == "chrf")
    found = rows.filter(pl.col("group").is_null(), pl.col("perturbation").is_not_null()).to_dicts()
    label = row_label(found)
    by_variant: dict[str, dict[str, Row]] = {}
    for row in found:
        by_variant.setdefault(label(row), {})[row["measure"]] = row
    lines = [
        [variant, told(values.get("consis")), told(values.get("inconsistent"))]
        for variant, values in sorted(by_variant.items(), key=lambda item: item[1]["consis"]["value"])
    ]
    table(["variants", "CONSIS", "% inconsistent"], lines)


def chart(run: Run, file: Path) -> None:
    """ROBUST across, CONSIS up, the size of a point its quality on raw comments."""
    rows = measures(run)
    values = {name: by_system(rows, name) for name in ("quality", "quality_perturbed", "robust", "consis")}
    points = []
    for system in values["robust"]:
        if values["quality"][system]["value"] < POOR or system == "CUNI-GA":  # whose outputs are CUNI-Transformer's
            continue
        kind = KIND_OF.get(system, "online service" if system.startswith("ONLINE") else "other")
        found: Row = {"system": system, "kind": kind, "raw": values["quality_perturbed"][system]["value"]}
        for name in ("robust", "consis"):
            found |= {f"{name}{end}": values[name][system][end or "value"] for end in ("", "low", "high")}
        points.append(found)
    base = alt.Chart(alt.Data(values=points))
    across, up = alt.Scale(domain=[75, 98], nice=False), alt.Scale(domain=[46, 90], nice=False)
    x = alt.X("robust:Q", title="ROBUST: % of clean chrF kept on raw comments", scale=across)
    y = alt.Y("consis:Q", title="CONSIS: agreement of the translations of both versions", scale=up)
    kinds = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    colour = alt.Color(
        "kind:N", title=None, scale=kinds, legend=alt.Legend(orient="top", labelLimit=240, columnPadding=24)
    )
    size = alt.Scale(range=[25, 260], zero=False)
    layers = [
        base.mark_rule(opacity=0.5).encode(x=alt.X("robustlow:Q", scale=across), x2="robusthigh:Q", y=y, color=colour),
        base.mark_rule(opacity=0.5).encode(y=alt.Y("consislow:Q", scale=up), y2="consishigh:Q", x=x, color=colour),
        base.mark_circle(opacity=0.95).encode(
            x=x,
            y=y,
            color=colour,
            size=alt.Size("raw:Q", title="chrF on raw comments", scale=size, legend=alt.Legend(orient="bottom-left")),
        ),
    ]
    for system in (one["system"] for one in points):
        align, dx, dy = LABELS.get(system, ("left", 9, -7))
        mark = base.transform_filter(alt.datum.system == system).mark_text(align=align, dx=dx, dy=dy, fontSize=12)
        layers.append(mark.encode(x=x, y=y, text="system:N", color=colour))
    title = "High ROBUST does not mean high CONSIS: WMT24 English–Czech systems on raw comments"
    drawn = alt.layer(*layers).properties(width=760, height=560, title=title)
    drawn.configure_view(stroke=None).configure_axis(gridColor="#E4E4E7", titleFontSize=12).save(str(file))


def main(out: Path, image: Path) -> None:
    """Print everything, draw the chart."""
    runs = {
        name: Run.open(out / name)
        for name in ("en-cs", "en-es", "rocs-en-cs", "rocs-en-de", "speech-en-es", "apertium")
    }
    for name in ("en-cs", "en-es"):
        print(f"## {name}\n")
        comments(runs[name])
    for name in ("rocs-en-cs", "rocs-en-de"):
        print(f"## {name}\n")
        comments(runs[name])
        phenomena(runs[name])
    print("## speech\n")
    spoken = measures(runs["speech-en-es"], "transcript")
    figures = [("clean", "quality"), ("transcript", "quality_perturbed"), ("ROBUST", "robust"), ("CONSIS", "consis")]
    table([said for said, _ in figures], [[told(next(iter(by_system(spoken, name).values()))) for _, name in figures]])
    print("## made and given\n")
    made_and_given(runs["apertium"])
    chart(runs["en-cs"], image)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
