"""How a run shows itself in a notebook. Runs know nothing of reports: who draws one is looked up by name."""

from typing import TYPE_CHECKING, Any, Protocol

from babelquake.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from babelquake.runs.findings import Finding
    from babelquake.runs.run import Run


class Display(Protocol):
    """Draws a run."""

    def text(self, run: "Run") -> str:
        """What it found, in a few lines."""
        ...

    def html(self, run: "Run") -> str:
        """Verdict, tables and charts for a notebook."""
        ...

    def verdict(self, run: "Run") -> list[str]:
        """What it found, in sentences."""
        ...

    def findings(self, run: "Run") -> "list[Finding]":
        """What it found, as data."""
        ...

    def plot(self, run: "Run", kind: str | None) -> Any:
        """One of its charts."""
        ...

    def examples(self, run: "Run", worst: int) -> "pl.DataFrame":
        """The texts behind its numbers."""
        ...

    def report(self, run: "Run", path: "Path") -> "Path":
        """Write its report."""
        ...

    def latex(self, run: "Run") -> str:
        """Its tables for a paper."""
        ...

    def words(self, findings: "Sequence[Finding]") -> list[str]:
        """Findings in sentences."""
        ...


DISPLAYS: Registry[Any] = Registry(
    "display", "babelquake.displays", {"notebook": "babelquake.report.notebook:Notebook"}
)


def display() -> Display:
    """Who draws runs; loaded when the first run is drawn."""
    found: Display = DISPLAYS.get("notebook")()
    return found
