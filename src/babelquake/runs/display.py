"""How a run shows itself in a notebook. Runs know nothing of reports: who can draw one says so here."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
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


class Plain:
    """What a run can say of itself without a report."""

    def text(self, run: "Run") -> str:
        """Where it is and how it was made."""
        state = "finished" if run.info.finished else "unfinished"
        return f"{run.info.study} run in {run.folder}, {state}"

    def html(self, run: "Run") -> str:
        """The same as preformatted text."""
        from html import escape

        return f"<pre>{escape(self.text(run))}</pre>"

    def verdict(self, run: "Run") -> list[str]:
        """No words without a report."""
        return [self.text(run)]

    def findings(self, run: "Run") -> "list[Finding]":
        """Those that were stored when it was finished."""
        return run.info.findings or []


_display: Display = Plain()


def shown_by(display: Display) -> None:
    """Have runs drawn by this from now on."""
    global _display
    _display = display


def display() -> Display:
    """Who draws runs."""
    return _display
