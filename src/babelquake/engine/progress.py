"""Progress on anything over two seconds: a bar in a terminal, and elsewhere a line every half minute."""

import sys
import time
from types import TracebackType

PATIENCE = 2.0
EVERY = 30.0
"""Seconds between two lines where there is no terminal: in CI logs and notebooks."""
WIDE = 110
"""Columns of a terminal that has room for everything."""


class Progress:
    """Counts finished items; shows itself once the work has lasted longer than people like to wait."""

    def __init__(self, label: str, total: int, unit: str = "segments", quiet: bool = False) -> None:
        self.label, self.total, self.unit = label, total, unit
        self.done = 0
        self._started = time.monotonic()
        self._quiet, self._terminal = quiet, sys.stderr.isatty()
        self._said = self._started
        self._bar: object | None = None

    def advance(self, items: int, label: str | None = None) -> None:
        """Report that further items are done, under another label if one is given."""
        self.done += items
        self.label = label or self.label
        if self._quiet:
            return
        if not self._terminal:
            self._say_line()
            return
        if self._bar is None and time.monotonic() - self._started > PATIENCE:
            self._start_bar()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=self.label)  # type: ignore[attr-defined]

    def _say_line(self) -> None:
        """`scoring with comet: 42 % (420 of 1,000 segments), about 6 min left`."""
        now = time.monotonic()
        if now - self._said < EVERY or not self.done:
            return
        self._said = now
        left = (now - self._started) * max(self.total - self.done, 0) / self.done
        share = 100 * self.done / self.total if self.total else 100
        counted = f"{self.done:,} of {self.total:,} {self.unit}"
        print(f"{self.label}: {share:.0f} % ({counted}), about {duration(left)} left", file=sys.stderr, flush=True)

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column
        from rich.text import Text

        unit, console = self.unit, Console(stderr=True)
        wide = console.width >= WIDE

        class Speed(ProgressColumn):
            def render(self, task: Task) -> Text:
                speed = task.speed or 0
                return Text(f"{speed:,.0f} {unit}/s" if speed >= 1 else f"{60 * speed:,.0f} {unit}/min", style="dim")

        bar = Bar(
            TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(40 if wide else 10),
            MofNCompleteColumn(),
            *([Speed()] if wide else []),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        bar.start()
        self._task = bar.add_task(self.label, total=self.total, completed=self.done)
        self._bar = bar

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]


def duration(seconds: float) -> str:
    """`40 s`, `6 min`, `1.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
