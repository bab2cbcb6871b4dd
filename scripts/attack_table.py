"""The tables of docs/results/attacks.md: every recipe against every victim, and what they say as Markdown.

Every cell is a run of its own (`OUT/GOAL/VICTIM/RECIPE`), several side by side, so that one GPU serves many processes.
A cell that is finished is not made again; one that was stopped goes on.

Usage: python scripts/attack_table.py run --data de-en.tuples.tsv.gz --out OUT [--sample 600] [--processes 8]
       python scripts/attack_table.py table OUT
"""

import argparse
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babelquake.runs.run import Run

RECIPES = ("input-reduction", "deepwordbug", "faster-genetic", "clare")
VICTIMS = ("chrf", "bertscore[model=minilm-en]", "cross-encoder[model=judge-en]")
GOALS = ("overpenalise", "inconsistent")


def folder(out: Path, goal: str, victim: str, recipe: str) -> Path:
    """Where a cell's run is."""
    return out / goal / victim.partition("[")[0] / recipe.partition("[")[0]


def command(cell: tuple[str, str, str], arguments: argparse.Namespace, more: list[str]) -> list[str]:
    """The command line of a cell."""
    goal, victim, recipe = cell
    words = ["attack", "--recipe", recipe, "--victim", victim, "--goal", goal, "--data", arguments.data, "--offline"]
    words += ["--sample", str(arguments.sample), "--stratify", "year", "--quiet", *more]
    return [sys.executable, "-m", "babelquake", *words, "--out", str(folder(arguments.out, *cell))]


def run(arguments: argparse.Namespace, more: list[str]) -> None:
    """Every cell, `--processes` at a time, in the order of the options; how long each took on standard output."""
    cells = deque(
        (goal, victim, recipe)
        for goal in arguments.goal or GOALS
        for recipe in arguments.recipe or RECIPES
        for victim in arguments.victim or VICTIMS
    )
    started = time.perf_counter()
    under_way: dict[tuple[str, str, str], tuple[subprocess.Popen[bytes], float]] = {}
    while cells or under_way:
        while cells and len(under_way) < arguments.processes:
            cell = cells.popleft()
            place = folder(arguments.out, *cell)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.with_suffix(".log").open("ab") as log:
                process = subprocess.Popen(command(cell, arguments, more), stdout=log, stderr=log)
            under_way[cell] = process, time.perf_counter()
        time.sleep(0.2)
        for cell, (process, begun) in list(under_way.items()):
            if (status := process.poll()) is not None:
                del under_way[cell]
                now = time.perf_counter()
                print(
                    f"{now - started:7.1f} s: {' × '.join(cell)} took {now - begun:.1f} s, status {status}", flush=True
                )


def table(arguments: argparse.Namespace) -> None:
    """Per goal one table: recipes down, victims and years across, as Huang 2023 Table 1."""
    from babelquake.runs.run import Run

    for goal in arguments.goal or GOALS:
        runs = {
            (victim, recipe): Run.open(place)
            for victim in arguments.victim or VICTIMS
            for recipe in arguments.recipe or RECIPES
            if ((place := folder(arguments.out, goal, victim, recipe)) / "measures.parquet").exists()
        }
        print(f"\n### {goal}\n")
        print("\n".join(_lines(runs)))


def _lines(runs: "dict[tuple[str, str], Run]") -> Iterator[str]:
    groups: list[str | None] = []
    for run_ in runs.values():
        groups = [*run_.measures.filter(measure="success")["group"].drop_nulls().unique(maintain_order=True), None]
    heads = [group or "all" for group in groups]
    yield f"| victim | recipe | {' | '.join(heads)} | 95 % | queries | words | gain |"
    yield "|" + " --- |" * (len(heads) + 6)
    for (victim, recipe), run_ in runs.items():
        rows = {(row["measure"], row["group"]): row for row in run_.measures.iter_rows(named=True)}
        cells = []
        for group in groups:
            row = rows["success", group]
            cells.append(f"{row['value']:.1f} % ({row['changed']} of {row['n']})")
        whole = rows["success", None]
        cells.append(f"[{whole['low']:.0f}, {whole['high']:.0f}]")
        for measure, places in (("queries", 0), ("words_changed", 1), ("gain", 2)):
            value = rows[measure, None]["value"]
            cells.append("" if value is None else f"{value:.{places}f}")
        yield f"| {victim} | {recipe} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running, showing = commands.add_parser("run"), commands.add_parser("table")
    running.set_defaults(do=run)
    running.add_argument("--data", required=True)
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--sample", type=int, default=600)
    running.add_argument("--processes", type=int, default=4)
    showing.set_defaults(do=lambda given, more: table(given))
    showing.add_argument("out", type=Path)
    for one in (running, showing):
        one.add_argument("--goal", action="append")
        one.add_argument("--victim", action="append")
        one.add_argument("--recipe", action="append")
    arguments, more = parser.parse_known_args()
    arguments.do(arguments, more)


if __name__ == "__main__":
    main()
